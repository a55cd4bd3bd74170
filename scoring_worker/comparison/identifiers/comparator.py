"""Whether a quote holds an identifier: whole, regardless of what separates its groups.

An identifier cannot be paraphrased: one character more, fewer or other is another identifier. So a
number that is not there is *different*, but where the quote hides digits ("****1234") or the
number is beside the quote.
"""

import re
from dataclasses import dataclass
from functools import lru_cache, partial

from rapidfuzz.distance import Levenshtein

from safepassage.schemas import Finding
from safepassage.scoring_worker.text.closed_classes import word_list

from ..contract import Comparison, Passage, different, undecided
from ..names.types import type_words
from .addresses import address_of, addresses, is_part
from .character_rows import candidates, key_of, literal, rows_of
from .check_digits import check_of, isbn_13
from .phones import compare_phones, is_phone

_different, _undecided = partial(different, "identifier"), partial(undecided, "identifier")
_LONGEST = 128
_ASKS = word_list("asks_identifier")
_URLS = word_list("asks_url")
_NUMBER = frozenset({"number", "no", "nr", "num", "nº", "n°"})
_COUNTS = frozenset({"of", "von", "de", "di", "count", "amount"})
_ENDINGS = ("nummer", "kennzeichen", "zeichen", "番号", "编号", "号码", "번호")
_SHAPE = re.compile(
    r"[A-Z]{1,6}[-/._ ]?[0-9][A-Z0-9./_ -]*|[0-9]+[-/._][A-Z0-9./_-]*[A-Z][A-Z0-9./_-]*"
)
# Groups of letters and digits, but no words, figures with decimals or amounts.
_CODE = re.compile(
    r"(?!\d+[.,]\d+ ?[^\W\d_]{0,5}\Z)[#№]?[^\W_]+(?:[-–‐/_.:() ]{1,3}[^\W_]+){0,15}\)?"
)
_MASKED = re.compile(r"[*•●▪#]{2,}|[xX]{3,}")


@dataclass(frozen=True, slots=True)
class Identifier:
    """``form``: "email", "url", "ip", "phone", "code", or the standard that it falls under
    ("iban"). ``key``: what is compared, without separators and in capitals. ``check``: whether
    its check digits are right, None where no standard has any."""

    form: str
    key: str
    check: bool | None = None


def identifier_of(value: str, entity_type: str) -> Identifier | None:
    """The identifier that ``value`` is, by its type's words or by its shape; None for any other
    text, for a count ("Number of Pages") and for a bare number whose type does not ask for one."""
    bare = value.strip()
    if not bare or (len(bare) > _LONGEST and not bare.startswith("http")):
        return None
    words = frozenset(type_words(entity_type))
    address = address_of(bare, url=not words.isdisjoint(_URLS))
    if address:
        return Identifier(address.form, address.key)
    if is_phone(bare, words):
        return Identifier("phone", key_of(bare))
    return _code(bare, words, entity_type)


def _code(bare: str, words: frozenset[str], entity_type: str) -> Identifier | None:
    key = key_of(bare)
    if len(key) < 2 or not any(map(str.isdigit, key)) or not _CODE.fullmatch(bare):
        return None
    checked = check_of(key, words)
    if checked and (checked[1] or not words.isdisjoint({checked[0], *_ASKS})):
        return Identifier(checked[0], key, checked[1])
    if asks_for_identifier(entity_type):
        return Identifier("code", key)
    digits = sum(map(str.isdigit, key))
    mixed = digits >= 3 and len(key) >= 5 and not key.isdigit() and " " not in bare
    return Identifier("code", key) if mixed and _SHAPE.fullmatch(bare.upper()) else None


@lru_cache(maxsize=4_096)
def asks_for_identifier(entity_type: str) -> bool:
    """Whether a type asks for an identifier and not for a count."""
    words = type_words(entity_type)
    if not _ASKS.isdisjoint(words) or any(w.endswith(_ENDINGS) for w in (*words, "".join(words))):
        return True
    return any(
        word in _NUMBER and (number + 1 == len(words) or words[number + 1] not in _COUNTS)
        for number, word in enumerate(words)
        if number or len(words) == 1
    )


def compare_identifiers(value: str, passage: Passage, entity_type: str = "") -> Comparison:
    """Compare the identifier ``value`` with those in the quote, as whole tokens.

    *Same*: it is there, separators and case aside. *Different*: it is not there, with the nearest
    other as a rival and ``identifier_differs`` or ``identifier_longer``. A wrong check digit is a
    finding (``check_digit``) and never an answer. Never raises; linear in the quote.
    """
    known = identifier_of(value, entity_type)
    if known is None:
        if len(value) > _LONGEST:
            return _undecided("identifier_long", f"longer than {_LONGEST} characters")
        known = Identifier("code", key_of(value))
    if not known.key:
        return Comparison("not_comparable", "identifier")
    words = frozenset(type_words(entity_type))
    if known.form in {"email", "url", "ip"}:
        answer = _addresses(known, passage.quote)
    elif known.form == "phone":
        answer = compare_phones(value, passage.quote)
    else:
        answer = _codes(known, value, passage.quote, words)
    findings = answer.findings
    if known.check is False:
        detail = f"wrong for a number of the form {known.form}"
        findings = (*findings, Finding(code="check_digit", detail=detail))
    settled = answer.answer
    if settled != "same" and _outside(known, passage, words):
        findings = (*findings, Finding(code="outside_quote", detail="is beside the quote"))
        settled = settled if answer.rivals else "not_comparable"
    return Comparison(settled, "identifier", answer.places, answer.rivals, findings)


def _codes(known: Identifier, value: str, quote: str, words: frozenset[str]) -> Comparison:
    keys = {known.key}
    if known.form == "isbn" and len(known.key) == 10:
        keys.add(isbn_13(known.key))
    elif known.form == "isbn" and known.key.startswith("978"):
        tens = (c.key for c in candidates(quote) if len(c.key) == 10 and c.key[:9].isdigit())
        keys |= {ten for ten in tens if isbn_13(ten) == known.key}
    rows = [row for key in sorted(keys) for row in rows_of(key, quote, words)]
    whole = tuple(row.place for row in rows if row.whole) or literal(value.strip(), quote)
    if whole:
        return Comparison("same", "identifier", whole[:16])
    if _MASKED.search(quote) or _MASKED.search(value):
        return _undecided("identifier_masked", "digits are hidden")
    if rows:
        place = rows[0].place
        if rows[0].loosely:
            return _undecided("identifier_part", "more digits are behind a blank", (place,))
        return _different("identifier_longer", "it is a part of a longer one", (place,))
    others = candidates(quote)
    rival = min(others, key=lambda c: Levenshtein.distance(known.key, c.key), default=None)
    if rival:
        detail = f"the quote has {quote[rival.place.start : rival.place.end][:80]}"
        return _different("identifier_differs", detail, (rival.place,))
    return _different("identifier_absent", "not in the quote")


def _addresses(known: Identifier, quote: str) -> Comparison:
    there = [address for address in addresses(quote) if address.form == known.form]
    same = tuple(address.place for address in there if address.key == known.key)
    if same:
        return Comparison("same", "identifier", same)
    parts = tuple(a.place for a in there if is_part(known.key, a.key) or is_part(a.key, known.key))
    if parts:
        return _undecided("identifier_part", "the quote has more or less of the path", parts)
    rivals = tuple(address.place for address in there[:16])
    if not rivals:
        return _different("identifier_absent", "not in the quote")
    return _different("identifier_differs", f"the quote has {there[0].key[:80]}", rivals)


def _outside(known: Identifier, passage: Passage, words: frozenset[str]) -> bool:
    around = (passage.before, passage.after, passage.heading)
    return any(row.whole for text in around if text for row in rows_of(known.key, text, words))
