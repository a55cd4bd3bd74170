"""What a sentence of an answer says of its subject: without citation marks, markdown and lead-ins.

Blanks take their places, so that every place in what is left is the same place in the sentence.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

_SOURCE = (
    r"documents?|docs?\.?|sources?|passages?|contexts?|texts?|excerpts?|references?|refs?\.?|chunks?"
    r"|sections?|sec\.?|pages?|pp?\.|dokumente?|quellen?|abschnitte?|kontext|seiten?|fuentes?"
    r"|documentos?|secci[oó]n|p[aá]ginas?|fontes?|fonti|documenti?|sezione|pagina|bron(?:nen)?"
)
"""How answers call what they cite, in the languages of `_LEAD_INS`."""
_NUMBERS = r"#?\^?\d{1,3}[a-z]?(?:\s*[,;–-]\s*#?\^?\d{1,3}[a-z]?)*"
_CITED = (
    rf"\[(?:[^\W\d_]{{1,12}}\.?\s*)?{_NUMBERS}\]:?",  # [1], [^1], [Document 2]
    rf"[(【](?:(?:see|cf\.?|siehe|vgl\.?|voir|v[eé]ase|ver|vedi|zie)\s+)?"
    rf"(?:{_SOURCE})\s*{_NUMBERS}[^()【】\d]{{0,12}}[)】]",  # (see section 2)
    r"【\d{1,3}[^【】]{0,20}】",
    r"(?<=\w)[¹²³⁰⁴-⁹]+(?=\s|$)(?<!m[²³])",
)
_CITATION = re.compile("|".join(_CITED), re.IGNORECASE)
_LINK = re.compile(r"(!?\[)([^\[\]\n]{1,300})(\]\((?:[^()\s]|\([^()\s]*\)){0,500}\))")
_LINE_MARK = re.compile(
    r"(?m)^[ \t]*(?:>[ \t]?)*"
    r"(?:#{1,6}[ \t]+|[-*•+–][ \t]+|\(?\d{1,3}[.)][ \t]+(?![^\W\d_]{3,9}[ \t]+\d{4}))"
)
"""Of a heading, an entry of a list, a quotation; "3. Mai 2021" is a date."""
_RULE = re.compile(r"(?m)^[ \t|:=*_-]+$")
_EMPHASIS = re.compile(r"\*{2,3}|(?<!\w)(?:\*|_{1,3})(?=\S)|(?<=\S)(?:\*|_{1,3})(?!\w)|~~|`+")
_PIPE = re.compile(r"\|")

_GIVEN = r"(?:(?:provided|given|above|retrieved|following|supplied|available)\s+)?"
_TEXTS = (
    r"(?:contexts?|passages?|documents?|texts?|sources?|excerpts?|information|materials?|snippets?)"
)
_LEAD_INS = (
    rf"(?:based\s+on|according\s+to|as\s+(?:stated|mentioned|described|noted)\s+in|as\s+per|per|from)"
    rf"\s+(?:(?:the|this|these|your)\s+)?{_GIVEN}{_TEXTS}(?:\s+(?:provided|given|above|supplied))?\s*[,:]",
    r"(?:laut|gemäß|nach|basierend\s+auf|auf\s+(?:der\s+)?(?:grundlage|basis))\s+(?:de[mrs]\s+)?"
    r"(?:(?:bereitgestellten|gegebenen|obigen|vorliegenden)\s+)?"
    r"(?:kontexts?|textes|text|dokuments?|passage|quelle|informationen)\b\s*[,:]?",
    r"(?:selon|d['’]après|sur\s+la\s+base\s+d[ue])\s*(?:les?|la|l['’]|ce)?\s*"
    r"(?:contexte|texte|document|passage|extrait|source)(?:\s+fournie?)?\s*[,:]",
    r"(?:según|de\s+acuerdo\s+con|basándome\s+en)\s+(?:el|la)\s+"
    r"(?:contexto|texto|documento|pasaje|fragmento|fuente)(?:\s+proporcionad[oa])?\s*[,:]",
    r"(?:secondo|in\s+base\s+al?)\s*(?:il|la|lo)?\s*"
    r"(?:contesto|testo|documento|brano|passaggio|fonte)(?:\s+fornit[oa])?\s*[,:]",
    r"(?:segundo|de\s+acordo\s+com|com\s+base\s+n[oa])\s*(?:o|a)?\s*"
    r"(?:contexto|texto|documento|trecho|fonte)(?:\s+fornecid[oa])?\s*[,:]",
    r"(?:volgens|op\s+basis\s+van)\s+(?:de|het)\s+"
    r"(?:(?:gegeven|verstrekte)\s+)?(?:context|tekst|document|passage|bron)\b\s*[,:]?",
)
_LEAD_IN = re.compile(rf"^\W*(?:{'|'.join(_LEAD_INS)})", re.IGNORECASE)
_WORD = re.compile(r"\w")
MAX_CLAIM = 20_000
"""Code points of a claim that are looked at; the rest stays as it is."""


@lru_cache(maxsize=1024)
def content_of(claim: str) -> str:
    """``claim`` with blanks for what is no content, as long as ``claim``; a claim of nothing else
    as it is. Linear in the claim."""
    head, rest = claim[:MAX_CLAIM], claim[MAX_CLAIM:]
    characters = list(head)
    for start, end in _marks(head):
        characters[start:end] = " " * (end - start)
    head = _LEAD_IN.sub(lambda found: " " * len(found[0]), "".join(characters))
    return head + rest if _WORD.search(head) else claim


def _marks(text: str) -> Iterator[tuple[int, int]]:
    for found in _LINK.finditer(text):
        yield found.span(1)
        yield found.span(3)
    for pattern in (_CITATION, _LINE_MARK, _RULE, _EMPHASIS, _PIPE):
        yield from (found.span() for found in pattern.finditer(text))
