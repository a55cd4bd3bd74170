"""Writes the names of months that the comparators of small words know, as babel's CLDR has them.

python -m tools.month_words
"""

import json
from pathlib import Path

from safepassage.scoring_worker.comparison.dates import cldr

PATH = Path(cldr.__file__).with_name("month_words.json")


def text() -> str:
    """The file: the words of each language, with blanks between."""
    words = {code: cldr.month_words_of_cldr(code) for code in sorted(cldr.WIDELY_READ)}
    said = {code: " ".join(sorted(names)) for code, names in words.items() if names}
    return json.dumps(said, ensure_ascii=False, indent=0) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), "utf-8")
    print(f"wrote {PATH}")  # noqa: T201 (a command for people)
