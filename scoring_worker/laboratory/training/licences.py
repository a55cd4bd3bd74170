"""Under which licence each corpus came that trains what ships, for the model cards."""

from __future__ import annotations

from types import MappingProxyType

_SLOTS = MappingProxyType(
    {
        "sgd": "CC BY-SA 4.0",
        "qamr": "MIT",
        "wikitables": "CC BY-SA 4.0",
        "qasrl": "MIT",
        "qanom": "MIT",
        "snips": "CC0",
        "xquad": "CC BY-SA 4.0",
        "e2e": "CC BY-SA 4.0",
        "templates": "written for this project",
        "slurp": "CC BY 4.0",
        "materials": "MIT",
        "tatqa": "CC BY 4.0",
        "kpi": "MIT",
        "qed": "CC BY-SA 3.0",
        "recognizers": "MIT",
        "fm2": "Apache-2.0, text CC BY-SA",
        "begin": "CC BY 4.0",
        "dialogue": "Apache-2.0, data MIT",
        "summedits": "Apache-2.0",
        "scone": "CC0",
        "negation": "MIT",
        "condaqa": "Apache-2.0",
        "uds": "MIT, text CC BY-SA 4.0",
        "halueval": "MIT, text CC BY-SA",
    }
)
NLI_LICENCES = MappingProxyType(
    {
        "SNLI": "CC BY-SA 4.0",
        "MultiNLI": "permissive, by genre",
        "InfoTabS": "Apache-2.0",
        "HANS": "MIT",
        "SciTail": "counted as permissive with the data, no licence named",
        "RTE": "counted as permissive with the data, no licence named",
    }
)
DOCUMENT_SOURCES = ("CUAD (CC BY 4.0)", "InLegalNER (Apache-2.0)")


def licence_of(name: str) -> str:
    """The licence of the file of slots or claims ``name``.

    Raises:
        KeyError: nobody wrote it down, so it may not train what ships.
    """
    return _SLOTS[name.split("_", maxsplit=1)[0]]
