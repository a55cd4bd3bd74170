"""A rival is named only where it is a whole value of the right kind, which the reader prefers."""

import pytest

from safepassage.schemas import SchemaField, hypothesis
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.opinion import SHAPES
from safepassage.scoring_worker.weighing.questions import parts_of

from .reading import ToldReader

STACK = {"shapes": {shape: {"bias": 0.0, "weights": {"lead": 1.0}} for shape in SHAPES}}


def named(entity_type: str, value: str, preferred: str, quote: str) -> list[str]:
    """What the findings say of a rival where the reader prefers ``preferred``."""
    manifest = ScorerManifest(name="s", kind="reader", labels=0, max_length=64, stack=STACK)
    scorer = DefaultScorer(manifest, ToldReader({entity_type: preferred}))  # type: ignore[arg-type]
    asked = Pair(quote, hypothesis(entity_type, value), entity_type, value)
    (assessment,) = scorer.assess([asked])
    return [one.detail for one in assessment.findings if one.code == "rival_preferred"]


@pytest.mark.parametrize(
    ("entity_type", "value", "rival", "quote"),
    [
        ("Fee", "EUR 310.00", "EUR 95.50", "Hire EUR 310.00, cleaning EUR 95.50"),
        ("Dose", "20 mg", "45 mg", "first 20 mg, from June 45 mg"),
        ("Handover", "3 May 2021", "19 July 2022", "signed 3 May 2021, keys on 19 July 2022"),
        ("Tenant", "Olga Brandt", "Iris van Houten", "by Olga Brandt for Iris van Houten only"),
        ("Colour", "pale green", "dark red", "doors: pale green; frames: dark red"),
        ("Quantity", "3", "12", "3 crates of 12 bottles"),
    ],
)
def test_a_whole_value_of_the_kind_is_named(
    entity_type: str, value: str, rival: str, quote: str
) -> None:
    assert named(entity_type, value, rival, quote) == [
        f"the passage gives {rival!r} as {entity_type}"
    ]


@pytest.mark.parametrize(
    ("entity_type", "value", "preferred", "quote"),
    [
        ("Article", "wall clocks Tempo", "6", "Pos. 6: wall clocks Tempo, white"),  # another kind
        ("Fee", "EUR 310.00", "Line 4", "Line 4: EUR 310.00"),
        ("Tenant", "Olga Brandt", "R 7,400", "Olga Brandt owes R 7,400"),
        ("Tenant", "Olga Brandt", "Houten", "by Olga Brandt for Iris van Houten only"),  # in part
        ("Tenant", "Olga Brandt", "Iris", "by Olga Brandt for Iris Houten only"),
        ("Colour", "pale green", "red", "doors: pale green; frames: dark red"),
        ("Fee", "EUR 310.00", "95", "Hire EUR 310.00, room 95b"),
        ("Quantity", "3", "410.00", "crates 3 at 410.00"),
    ],
)
def test_of_a_fragment_and_of_another_kind_nothing_is_said(
    entity_type: str, value: str, preferred: str, quote: str
) -> None:
    assert named(entity_type, value, preferred, quote) == []


def test_a_rival_that_does_not_lead_is_not_named() -> None:
    quote = "Hire EUR 310.00, cleaning EUR 95.50"
    assert named("Fee", "EUR 310.00", "EUR 310.00, cleaning EUR 95.50", quote) == []


def words_decide(field: SchemaField | None, value: object) -> bool:
    asked = Pair("taken by mouth at noon", "h", "Intake", value, field=field)  # type: ignore[arg-type]
    found = [one for part in parts_of(asked) for one in part.comparison.findings]
    return any(one.code == "word_differs" for one in found)


def test_the_schema_says_who_decides_on_the_words_of_a_value() -> None:
    assert words_decide(None, "oral route")
    assert words_decide(SchemaField(words="all"), "oral route")
    assert not words_decide(SchemaField(words="reader"), "oral route")
    assert not words_decide(SchemaField(allowed=("oral route", "nasal route")), "oral route")


def test_an_option_of_a_part_is_chosen_and_the_other_parts_are_quoted() -> None:
    field = SchemaField(part_options=("oral", "nasal"))
    assert words_decide(None, {"route": "oral", "moment": "at noon"})
    assert not words_decide(field, {"route": "oral", "moment": "at noon"})
    assert words_decide(field, {"route": "oral", "moment": "at dusk"})
