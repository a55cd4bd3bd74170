"""The version of the rules: part of the revision of every scorer and detector that uses them."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from types import MappingProxyType

RULES_VERSION = "11"
"""Raise it by one whenever the same question may get another answer. An answer depends on:

- the comparators and the language that they assume (`safepassage.scoring_worker.comparison`)
- what a pair is read for, the features made of it and the stack that weighs them
- reading: its windows, tokens and arithmetic; calibration; the rules of the default scorer
- the wording of a hypothesis (`safepassage.schemas.hypothesis`)
- which words of a claim count (`safepassage.passages.words`, `safepassage.passages.function_words`)
- packs, and the graphs of HalluGraph

Weights, thresholds and prompts have digests of their own. ``tests/golden`` holds answers of the
version; ``python -m tests.golden`` writes those of a new one."""

LIBRARIES = (
    "anyascii", "babel", "cleanco", "phonenumbers", "pint", "py3langid", "rapidfuzz", "regex",
    "snowballstemmer", "unicode-rbnf",
)  # fmt: skip
"""Libraries whose data or code moves an answer: months, units, languages, forms of companies."""

_HEX_DIGITS = 8


def rules_revision(packs: Iterable[str] = ()) -> str:
    """``rules1-8e1826d0``: `RULES_VERSION`, then hex digits that change with it, with the version
    of a library of `LIBRARIES`, and with the active ``packs``, by name in any order."""
    said = [f"rules={RULES_VERSION}"]
    said += [f"{name}={installed}" for name, installed in library_versions().items()]
    said.append(f"packs={','.join(sorted(set(packs)))}")
    digest = hashlib.sha256(";".join(said).encode()).hexdigest()
    return f"rules{RULES_VERSION}-{digest[:_HEX_DIGITS]}"


@cache
def library_versions() -> Mapping[str, str]:
    """The installed version of each of `LIBRARIES`."""
    return MappingProxyType({name: version(name) for name in LIBRARIES})
