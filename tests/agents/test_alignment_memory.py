"""Time and memory stay bounded on the largest document and context that are accepted."""

import subprocess
import sys

import pytest

PROGRAM = """
import random, resource, sys
from safepassage.agents.alignment import DocumentIndex, align

rng = random.Random(1)
letters = "etaoinshrdlu   etaoin"
text = "".join(rng.choice(letters) for _ in range(500_000))
kind = sys.argv[1]
if kind == "foreign":
    context = "".join(rng.choice(letters) for _ in range(5_000))
elif kind == "scattered":
    context = "".join(text[start : start + 500] for start in range(100_000, 120_000, 2_000))
else:
    context = "".join("#" if rng.random() < 0.05 else c for c in text[300_000:305_000])
align("warm it up", "so that what is loaded once is not counted")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = DocumentIndex(text).align(context, exact=len(sys.argv) > 2)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(found.route, found.found, grown // 1024)
"""


def measured(*arguments):
    """Route, whether found, and how many MB the process grew by, in a process of its own."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return words[0], words[1] == "True", int(words[2])


@pytest.mark.parametrize(
    ("kind", "route", "found"), [("edited", "window", True), ("foreign", "bound", False)]
)
def test_memory_of_the_largest_alignment(kind, route, found):
    """500,000 against 5,000 characters take less than 200 MB above the text."""
    got_route, got_found, grown = measured(kind)
    assert (got_route, got_found) == (route, found)
    assert grown < 200


@pytest.mark.long
@pytest.mark.parametrize("kind", ["edited", "foreign", "scattered"])
def test_memory_of_the_largest_exact_alignment(kind):
    """Also where the whole document has to be swept, and a path is traced through long gaps."""
    assert measured(kind, "exact")[2] < 200
