"""What is still missing to learn from decisions."""

from __future__ import annotations

from safepassage.schemas import StandingDecision
from safepassage.streams.console.index.measures import labels_wanted
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.labels.from_reviews import judges


def decision(number: int, said: str | None, document: str) -> StandingDecision:
    return StandingDecision.model_validate(
        {
            "case_id": f"case-{number}",
            "doc_id": document,
            "decision": said,
            "value": "other" if said == "corrected" else None,
            "reviewer": "Ada",
            "review_id": f"review-{number}",
            "judged": f"verdict-{number}",
        }
    )


def test_what_is_wanted_is_counted_by_class_and_by_what_the_document_is_for():
    store = CaseStore(0.0)
    names = [f"doc-{number}" for number in range(40)]
    teaching = next(name for name in names if not judges(name, 0.5))
    judging = next(name for name in names if judges(name, 0.5))
    assert len(labels_wanted(store, 0.5, 1)) == 4
    store.add_decision(decision(1, "corrected", teaching))
    assert labels_wanted(store, 0.5, 1) == ["1 supported to judge by", "1 unsupported to judge by"]
    store.add_decision(decision(2, "supports", judging))
    store.add_decision(decision(3, "insufficient", judging))
    assert labels_wanted(store, 0.5, 1) == []
    store.add_decision(decision(3, None, judging))
    assert labels_wanted(store, 0.5, 1) == ["1 unsupported to judge by"]
    store.close()
