"""Under which licence each corpus came that trains what ships, for the model cards."""

import json
from pathlib import Path

_LICENCES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_SLOTS: dict[str, str] = _LICENCES["slots"]
NLI_LICENCES: dict[str, str] = _LICENCES["nli"]
DOCUMENT_SOURCES = ("CUAD (CC BY 4.0)", "InLegalNER (Apache-2.0)")


def licence_of(name: str) -> str:
    """The licence of the file of slots or claims ``name``.

    Raises:
        KeyError: nobody wrote it down, so it may not train what ships.
    """
    return _SLOTS[name.split("_", maxsplit=1)[0]]
