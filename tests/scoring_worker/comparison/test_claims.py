"""Claims: what is a contradiction of the passage, and what is no more than a doubt."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker.comparison import Comparison
from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Passage, Question

LEASE = (
    "The monthly rent is £2,500. The deposit is £5,000. The tenant may not keep pets. "
    "A dog is allowed. The flat may be let unless the owner objects."
)


def claimed(claim: str, text: str = LEASE, absent: object = None, **more: str) -> Comparison:
    passage = Passage(text, **{"language": "en", **more})
    return compare(Question("Claim", claim, passage, absent=absent))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("The monthly rent is £2,400.", "number_differs"),
        ("**The monthly rent** is £2,400 [3].", "number_differs"),
        ("Based on the context, the monthly rent is €2,500.", "currency_differs"),
        ("The tenant may keep pets.", "denial_differs"),
        ("A dog is not allowed.", "denial_differs"),
    ],
)
def test_a_sentence_repeated_but_for_a_figure_or_a_denial_is_different(
    claim: str, code: str
) -> None:
    compared = claimed(claim)
    assert compared.answer == "different"
    assert [finding.code for finding in compared.findings] == [code]


@pytest.mark.parametrize(
    ("claim", "text", "language", "code"),
    [
        ("Die Miete beträgt 400 Euro.", "Die Miete beträgt 500 Euro.", "de", "number_differs"),
        ("Die Miete ist nicht fällig.", "Die Miete ist fällig.", "de", "denial_differs"),
        ("会議は3月5日に開かれた。", "会議は3月6日に開かれた。", "ja", "number_differs"),
        ("合同金额为500元。", "合同金额为600元。", "zh", "number_differs"),
    ],
)
def test_it_is_so_in_other_languages(claim: str, text: str, language: str, code: str) -> None:
    compared = claimed(claim, text, language=language)
    assert [finding.code for finding in compared.findings] == [code]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The monthly rent is about £2,400.", LEASE),
        ("Rent and deposit together are £7,500.", LEASE),
        ("The monthly rent rose to £2,600.", LEASE),
        ("The flat may be let.", LEASE),
        ("Revenue was $2.5 million.", "Revenue was $2,483,112."),
        ("Pneumonia was ruled out.", "Pneumonia was found."),
        (
            "The lease may be assigned without consent.",
            "The lease may not be assigned without consent.",
        ),
    ],
)
def test_what_is_rounded_concluded_or_restricted_is_no_contradiction(claim: str, text: str) -> None:
    assert claimed(claim, text).answer == "not_comparable"


def test_a_figure_that_another_retrieved_passage_has_is_a_doubt() -> None:
    claim = "The monthly rent is £2,400."
    digits = claim.index("2,400")
    gone, elsewhere = ((digits, digits + 5),), ()
    assert claimed(claim, absent=gone).answer == "different"
    found = claimed(claim, absent=elsewhere)
    assert [finding.code for finding in found.findings] == ["figure_unseen"]


@pytest.mark.parametrize(
    "claim", ["A dog is allowed.", "The tenant has an agent.", "1. It is due."]
)
def test_an_article_or_the_number_of_a_list_is_no_figure(claim: str) -> None:
    codes = {finding.code for finding in claimed(claim).findings}
    assert codes.isdisjoint({"figure_unseen", "number_differs"})


ORDER = (
    "Order 88 of 3 May 2027. 12 oars at EUR 41.50. Total net EUR 498.00. VAT 20% EUR 99.60. "
    "Total gross EUR 597.60. The oars are varnished by 9 June 2027."
)


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("The sum net is EUR 512.35.", "number_differs"),
        ("The gross sum is EUR 479.60.", "number_differs"),
        ("The oars are varnished by 19 June 2027.", "date_differs"),
        ("The oars are varnished in July 2027.", "date_differs"),
    ],
)
def test_an_amount_or_a_day_that_nothing_says_is_different(claim: str, code: str) -> None:
    assert claimed(claim, ORDER).findings[0].code == code


@pytest.mark.parametrize(
    "claim",
    [
        "The sum net is EUR 498.00.",
        "Net and VAT make EUR 597.60.",
        "Half of the net sum is EUR 249.00.",
        "The gross sum is about EUR 600.00.",
        "The oars are varnished by 9 June 2027.",
        "The oars are varnished in June 2027.",
        "The order is of 3/5/2027.",
    ],
)
def test_what_can_be_reckoned_or_is_said_less_exactly_is_no_contradiction(claim: str) -> None:
    assert claimed(claim, ORDER).answer == "not_comparable"


def test_a_passage_of_many_figures_gives_nearly_any_result() -> None:
    long = " ".join(f"Post {n} costs EUR {n * 7}.{n:02}." for n in range(11, 60))
    assert claimed("Post 11 costs EUR 123.45.", f"{ORDER} {long}").answer == "not_comparable"
