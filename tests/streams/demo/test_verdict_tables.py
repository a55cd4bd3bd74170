"""What the demo prints of a verdict says why it was stopped, and nothing that is not so."""

from io import StringIO

from rich.console import Console

from safepassage.schemas import Conflict, Finding, LabelledExtraction, ScorerTrail, Verdict
from safepassage.streams.demo.verdict_tables import print_verdicts

ROW = {"doc_id": "lease", "entity_type": "Tenant", "context": "Tenant: Ann"}

UNSCORED = dict.fromkeys(("alignment", "score", "threshold", "scorer", "scorer_revision"))


def verdict(value: str, **more: object) -> Verdict:
    given = {
        "id": value,
        "extraction_id": value,
        "hypothesis": f"Tenant: {value}",
        **ROW,
        **UNSCORED,
    }
    return Verdict(value=value, **{**given, **more})


def printed(*verdicts: Verdict) -> str:
    labels = [LabelledExtraction(id=v.id, value=v.value, label=0, **ROW) for v in verdicts]
    console = Console(file=StringIO(), width=200)
    print_verdicts(console, verdicts, {"lease": "rental contract"}, labels, 1.0)
    return " ".join(console.file.getvalue().split())


def test_what_conflicts_names_the_other_value_and_no_score_that_it_passed():
    finding = Finding(code="conflicts_with", detail="f00: Bob")
    conflict = Conflict(extraction_id="f00", value="Bob")
    stopped = {"decision": "quarantined", "reasons": ("conflicting",)}
    text = printed(
        verdict(
            "Ann", score=0.9, threshold=0.5, findings=(finding,), conflicts=(conflict,), **stopped
        )
    )
    assert "the document also gives Bob" in text
    assert "0.90 <" not in text
    assert "f00" not in text


def test_a_low_score_stands_beside_its_threshold_and_its_finding():
    finding = Finding(code="rival_preferred", detail="the passage gives 'Ann' as Tenant")
    stopped = {"decision": "quarantined", "reasons": ("unsupported",), "findings": (finding,)}
    text = printed(verdict("Bob", score=0.1, threshold=0.5, **stopped))
    assert "unsupported (0.10 < 0.50)" in text
    assert "the passage gives 'Ann' as Tenant" in text


def test_what_was_not_read_says_why():
    trail = ScorerTrail(
        scorer="s",
        revision="r",
        score=None,
        threshold=None,
        failure="the passage is written in Hani",
    )
    stopped = {"decision": "undetermined", "reasons": ("language_not_covered",)}
    assert "the passage is written in Hani" in printed(verdict("N1", scorers=(trail,), **stopped))


def test_each_document_has_its_kind_and_its_count_by_the_labels():
    text = printed(verdict("Ann", decision="undetermined", reasons=("no_threshold",)))
    assert "lease rental contract · · 1 1 of 1 ·" in text


def test_the_summary_stands_before_the_list():
    stopped = {"decision": "quarantined", "reasons": ("unsupported",)}
    text = printed(verdict("Ann", score=0.1, threshold=0.5, **stopped))
    parts = (
        "1 documents, 1 verdicts",
        "by the labels written with them",
        "Documents",
        "Stopped for",
    )
    assert sorted(parts, key=text.index) == list(parts)
