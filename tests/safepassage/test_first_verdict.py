"""What the first verdict of a process need not load, and what it need not keep."""

from __future__ import annotations

import subprocess
import sys

import pytest

FIRST = """
import sys
from safepassage import Extraction, Verifier
text = "The Tenant shall pay a monthly rent of £1,250 on the first day of each month."
with Verifier("default") as verifier:
    result = verifier.verify(text, [Extraction("Rent", "£1,250", quote="a monthly rent of £1,250")])
assert len(result.accepted) == 1
print(*sorted(sys.modules))
print("held", sum("/int8/" in line for line in open("/proc/self/maps")))
"""
UNNEEDED = {"pint", "transformers", "scipy", "sklearn", "openai", "faust", "matplotlib", "lxml"}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_first_verdict_brings_no_library_that_it_has_no_use_for():
    for _ in range(2):  # the second finds the int8 layers in the cache, and lets go of the file
        command = [sys.executable, "-c", FIRST]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        loaded, held = ended.stdout.strip().splitlines()[-2:]
        assert UNNEEDED.isdisjoint(loaded.split())
        assert held == "held 0"
