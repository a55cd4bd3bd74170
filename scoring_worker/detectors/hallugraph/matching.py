"""match(v, w) and align(e, e'): is it the same entity, and may the other edge say the same?

Figures, dates and identifiers agree exactly, by the comparators' readers. Names are compared in
both directions: a part of a name represents the whole, and an acronym its words, unless the
passages have another name that shares a word with it ("John Smith" where they have "Smith" and
"Jane Smith"). A term is found in one that has all of its words.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from safepassage.passages.function_words import FUNCTION_WORDS
from safepassage.scoring_worker.comparison.contract import Passage
from safepassage.scoring_worker.comparison.dates import compare_date, dates_in
from safepassage.scoring_worker.comparison.figures.agreement import agreement
from safepassage.scoring_worker.comparison.figures.figure import Figure
from safepassage.scoring_worker.comparison.figures.search import figures_in
from safepassage.scoring_worker.comparison.identifiers.character_rows import key_of
from safepassage.scoring_worker.comparison.names.comparator import compare_names
from safepassage.scoring_worker.text.segmentation import words_of

from .clauses import stem
from .graph import Edge, Entity, Graph

_SAME = 2
_MOST_CANDIDATES = 64
"""Names of the passages that share a word with one of the answer's; more would be one word."""
_MOST_FIGURES = 2_000
_MOST_EDGES = 2_000
"""Of one entity that are looked at."""
_LONGEST_ACRONYM = 8


class Matcher:
    """Entities and edges of one reference graph, found by their words."""

    def __init__(self, reference: Graph) -> None:
        self._by_word: defaultdict[str, list[Entity]] = defaultdict(list)
        for entity in dict.fromkeys(mention.node for mention in reference.mentions):
            for key in _keys(entity):
                self._by_word[key].append(entity)
        self._edges: defaultdict[Entity, list[Edge]] = defaultdict(list)
        for edge in reference.edges:
            self._edges[edge.subject.node].append(edge)
            self._edges[edge.object.node].append(edge)
        self._matches: dict[Entity, tuple[Entity, ...]] = {}

    def matches(self, entity: Entity) -> tuple[Entity, ...]:
        """The entities of the reference that ``entity`` is; empty where it is in none."""
        node = entity.node
        if node not in self._matches:
            near = dict.fromkeys(n for key in _keys(node) for n in self._by_word[key])
            most = _MOST_FIGURES if node.kind in {"figure", "date"} else _MOST_CANDIDATES
            ordered = [*([node] if node in near else ()), *(n for n in near if n != node)]
            self._matches[node] = _matching(node, ordered[:most])
        return self._matches[node]

    def aligned(self, edge: Edge) -> Edge | None:
        """An edge of the reference between the same entities that may say the same; None if it is
        missing."""
        subjects, objects = self.matches(edge.subject), self.matches(edge.object)
        for subject in subjects:
            for other in self._edges[subject][:_MOST_EDGES]:
                if other.is_statement != edge.is_statement:
                    continue
                ends = other.subject.node, other.object.node
                along = ends[0] in subjects and ends[1] in objects
                against = ends[1] in subjects and ends[0] in objects
                if (along or against) and edge.may_say(other, turned=not along):
                    return other
        return None


def _keys(entity: Entity) -> Iterator[str]:
    """By what an entity may be found: equal ones share at least one."""
    if entity.kind in {"figure", "date"}:
        yield "figures and dates"
        return
    if entity.kind == "identifier":
        yield f"identifier {key_of(entity.text)}"
        return
    if " " in entity.key:
        yield entity.key
        return
    words = [word.keys.plain for word in words_of(entity.text)]
    for word in words:
        yield stem(word)
    if len(words) > 1:
        initials = "".join(w[0] for w in words if w not in FUNCTION_WORDS)
        yield f"initials {initials[:_LONGEST_ACRONYM]}"
    elif words and len(words[0]) <= _LONGEST_ACRONYM and entity.text.isupper():
        yield f"initials {words[0]}"
    joined = "".join(words)
    if len(words) > 1 and len(joined) <= _LONGEST_ACRONYM and entity.text.isupper():
        yield f"initials {joined}"  # U.S.


def _matching(entity: Entity, near: Sequence[Entity]) -> tuple[Entity, ...]:
    if entity.kind in {"figure", "date"}:
        same = _same_figure if entity.kind == "figure" else _same_date
        return tuple([other for other in near if same(entity.text, other)])
    if entity.kind == "identifier":
        return tuple(near)
    if entity.kind == "thing":
        # What has a key is found by it alone; "the court" is any court, a named one only itself.
        alike = [other for other in near if other.key == entity.key]
        return tuple([o for o in alike if " " in o.key or _stems(entity.text) <= _stems(o.text)])
    if entity.kind == "term":
        return tuple([other for other in near if _stems(entity.text) <= _stems(other.text)])
    return _same_names(entity, near)


def _same_names(entity: Entity, near: Sequence[Entity]) -> tuple[Entity, ...]:
    forward: list[Entity] = []
    backward: list[Entity] = []
    others = False
    for other in near:
        if other.kind not in {"name", "term"}:
            continue
        if _holds(entity.text, other.text):
            forward.append(other)
        elif _holds(other.text, entity.text):
            backward.append(other)
        elif other.kind == "name":
            others = True
    # A part of the name alone shows nothing where somebody else has the other part.
    return tuple(forward or ([] if others else backward))


@lru_cache(maxsize=8_192)
def _holds(value: str, quote: str) -> bool:
    return compare_names(value, Passage(quote)).answer == "same"


def _same_figure(text: str, other: Entity) -> bool:
    mine, theirs = _figure(text), _figure(other.text)
    if mine is None or theirs is None:
        return False
    if other.kind == "date":
        return other.text.strip() == text.strip()  # a year
    return agreement(mine, theirs, None).level == _SAME


@lru_cache(maxsize=4_096)
def _figure(text: str) -> Figure | None:
    return next((figure for figure in figures_in(text) if figure.stands), None)


def _same_date(text: str, other: Entity) -> bool:
    if other.kind == "figure":
        return other.text.strip() == text.strip()
    dates = dates_in(text)
    return bool(dates) and compare_date(dates[0], Passage(other.text)).answer == "same"


@lru_cache(maxsize=8_192)
def _stems(text: str) -> frozenset[str]:
    words = {word.keys.plain for word in words_of(text)}
    return frozenset(map(stem, words - FUNCTION_WORDS))
