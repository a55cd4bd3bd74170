"""What is reported of a context beside its score: places, parts, evidence, route."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.agents.alignment import DocumentIndex, align
from safepassage.agents.alignment.index import MAX_ALTERNATIVES, elided_parts
from safepassage.agents.alignment.normalisation import normalised_context
from safepassage.agents.alignment.outcome import widen_to_tokens
from safepassage.schemas.alignment import MAX_ELIDED

TEXT = (
    "The claimant is a citizen of Turkey. He left the country in 2009. "
    "The hearing was held on June 19, 2013 in Toronto. The panel finds that the claimant "
    "was a member of the party, and that he was detained twice by the police of Ankara."
)


def test_a_verbatim_context():
    """Found as it stands: perfect, one place, nothing else to look at."""
    found = align("citizen of Turkey", TEXT)
    assert (found.score, found.matches, found.length, found.unaligned) == (1.0, 17, 17, 0)
    assert (found.route, found.occurrences, found.alternatives) == ("verbatim", 1, ())
    assert found.found
    assert found.scored
    assert not found.low_evidence


def test_blanks_around_a_context_do_not_count():
    """A newline that an LLM left at the end costs nothing."""
    assert align("\n citizen of Turkey \n", TEXT) == align("citizen of Turkey", TEXT)


def test_a_context_in_other_case_and_spacing_is_exact_after_normalisation():
    """The span shows the document's own spelling."""
    found = align("CITIZEN  OF\nTURKEY", TEXT)
    assert (found.score, found.route, found.spans[0].text) == (
        1.0,
        "normalised",
        "citizen of Turkey",
    )


def test_a_letter_is_not_found_inside_its_accented_form():
    """The raw text has an "e" before the accent, the normalised text has none."""
    assert align("cafe", "un cafe\u0301 noir").matches == 3


@pytest.mark.parametrize(("context", "route"), [("Ibid.", "verbatim"), ("IBID.", "normalised")])
def test_repeated_contexts(context, route):
    """The leftmost is reported, with the number of places and where the others are."""
    found = align(context, "Ibid. 3 Ibid. 4 Ibid.")
    assert (found.spans[0].start, found.occurrences, found.route) == (0, 3, route)
    assert [(o.start, o.end) for o in found.alternatives] == [(8, 13), (16, 21)]
    assert found.found


def test_alternatives_are_bounded():
    """A context that stands everywhere is counted, and only some of its places are listed."""
    found = align("ab", "ab " * 1_000)
    assert found.occurrences == 1_000
    assert len(found.alternatives) == MAX_ALTERNATIVES


@pytest.mark.parametrize("mark", [" ... ", "... ", "…", " … ", " [...] ", " (…) ", "[…]", ".... "])
def test_an_elided_context_is_found_in_parts(mark):
    """Every part is exact, so the quote is, at two places in order."""
    found = align(f"claimant is a citizen{mark}member of the party", TEXT)
    assert found.score == 1.0
    assert [span.text for span in found.spans] == ["claimant is a citizen", "member of the party"]
    assert found.in_order
    assert found.passage == "claimant is a citizen … member of the party"


def test_the_least_part_decides_an_elided_context():
    """A quote of which one half is invented is not kept for the sake of the other."""
    real, invented = "claimant is a citizen of Turkey", "who swam across the strait at night"
    half = align(f"{real} ... {invented}", TEXT)
    assert half.score == align(invented, TEXT).score < 0.6
    assert not half.found
    assert half.matches > len(real)


def test_parts_out_of_order_are_told():
    """The parts are all there, in another order than quoted."""
    found = align("detained twice by the police ... citizen of Turkey", TEXT)
    assert found.score == 1.0
    assert not found.in_order
    assert (found.scatter, found.low_evidence) == ("parts_out_of_order", True)


def test_parts_that_stand_pages_apart_are_no_passage():
    """Joined they would say what nobody wrote; a paragraph between them is an elision."""
    for gap, scatter in ((MAX_ELIDED - 2, None), (MAX_ELIDED + 1, "parts_far_apart")):
        text = f"The claimant is {'x' * gap} a citizen of Iran."
        found = align("The claimant is ... a citizen of Iran", text)
        assert found.score == 1.0
        assert (found.scatter, found.low_evidence) == (scatter, scatter is not None)


def test_an_ellipsis_of_the_document_is_aligned_whole_as_well():
    """The quote is inexact, so it is no verbatim hit; split, its short half would decide."""
    text = "Name of tenant ... Maria Lopez-Garcia, of this town. Another name stands here."
    context = "Name of tenant ... Maria Lopes Garzia"
    found = align(context, text)
    parts = [align(part, text).score for part in elided_parts(normalised_context(context))]
    assert len(parts) == 2
    assert found.score > min(parts)
    assert [span.text for span in found.spans] == ["Name of tenant ... Maria Lopez-Garcia"]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(("first part ", "second one ", "... ", "other words ", "x ")), max_size=12
    )
)
def test_aligning_whole_never_makes_a_quote_worse(pieces):
    """The better of whole and split counts."""
    text = "".join(pieces) + "first part of a text ... second one of a text"
    context = "first pard ... second ome"
    split = min(align(part, text).score for part in elided_parts(context))
    assert align(context, text).score >= split


def test_a_repeated_part_is_looked_for_after_the_part_before_it():
    """ "the claimant" stands before and after; the one after makes the quote run forward."""
    found = align("The hearing was held ... the claimant was", TEXT)
    assert found.in_order
    assert found.spans[1].start > found.spans[0].end


def test_an_ellipsis_of_the_document_itself_is_no_elision():
    """A quote that stands in the document with its dots is one place."""
    text = "He said: I never ... never went there again."
    assert len(align("said: I never ... never went there", text).spans) == 1


def test_a_part_that_stands_nowhere_gives_no_score():
    """No character of one part is in the document."""
    found = align("aaaa bbbb cccc ... zzzzzzzzzz", "aaaa bbbb cccc dddd")
    assert (found.score, found.found, len(found.spans)) == (0.0, False, 1)
    assert found.unaligned == 10


@pytest.mark.parametrize(
    ("context", "parts"),
    [
        ("no dots here", ("no dots here",)),
        ("first part ... second part", ("first part", "second part")),
        ("first part [...] second part", ("first part", "second part")),
        ("first part ... two ... second part", ("first part ... two ... second part",)),
        ("... leading dots", ("... leading dots",)),
        ("name ........ john smith", ("name ........ john smith",)),
    ],
)
def test_elided_parts(context, parts):
    """Split where every part has at least eight characters, and never at a row of leaders."""
    assert elided_parts(context) == parts


@pytest.mark.parametrize(
    ("cut", "whole"),
    [
        ("June 19, 201", "June 19, 2013"),
        ("une 19, 2013", "June 19, 2013"),
        ("19", "19"),
        ("1,25", "1,250.00"),
        ("MA1-012", "MA1-01234"),
        ("l'aud", "l'audience"),
        ("end", "end"),
    ],
)
def test_spans_widen_to_token_edges(cut, whole):
    """A number, date or reference is never shown in part."""
    text = "on June 19, 2013 paid 1,250.00 under MA1-01234 at l'audience, the end."
    start = text.index(cut)
    assert text[slice(*widen_to_tokens(text, start, start + len(cut)))] == whole


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab1.,- \u4e00"), min_size=1, max_size=200), st.data())
def test_widening_only_ever_widens(text, data):
    """By less than a token's reach, whatever the text."""
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = widen_to_tokens(text, start, end)
    assert max(0, start - 32) <= first <= start < end <= last <= min(len(text), end + 32)


def test_a_wrong_value_is_not_caught_and_its_passage_shows_the_right_one():
    """The exact span ends where the alignment does, the passage with the token."""
    found = align("hearing was held on June 19, 2014", TEXT)
    assert found.found
    assert found.spans[0].text.endswith("June 19, 201")
    assert found.passages[0].text.endswith("June 19, 2013")


@pytest.mark.parametrize(
    ("context", "low"),
    [
        ("citizem ef Turkay", True),  # 17 characters, D = .76
        ("citizem of Turkey", False),  # D = .94
        ("claimamt iz e citizem af Turcey", False),  # 31 characters
    ],
)
def test_low_evidence(context, low):
    """Short and inexact at once."""
    found = align(context, TEXT)
    assert found.found
    assert found.low_evidence is low


@pytest.mark.parametrize(
    ("context", "low"),
    [("NY", False), ("is", True), ("§", False), ("a", True), ("mg", False), ("of the", False)],
)
def test_a_tiny_verbatim_quote_is_evidence_only_where_it_stands_once(context, low):
    """Two characters that stand at several places do not say at which."""
    text = "This is § 5 of the act: a dose of 5 mg is paid in NY, as of the first."
    found = align(context, text)
    assert found.score == 1.0
    assert found.low_evidence is low


@pytest.mark.parametrize(("threshold", "found"), [(0.9, True), (0.97, False), (1.0, False)])
def test_the_threshold_decides_what_is_found(threshold, found):
    """The same score is found or not according to tau, which is reported."""
    alignment = align("citizem of Turkey", TEXT, threshold=threshold)
    assert alignment.score == pytest.approx(16 / 17)
    assert (alignment.found, alignment.threshold) == (found, threshold)


def test_a_rejection_by_proof_has_an_upper_bound_and_no_span():
    """Without exactness asked for, nothing more is computed than that D < tau."""
    text = TEXT + " The file was reviewed." * 40
    context = "zanzibar quokka jumped vexed wolf by dusk"
    exact = align(context, text)
    proven = align(context, text, exact=False)
    assert (proven.route, proven.scored, proven.spans, proven.found) == ("bound", False, (), False)
    assert exact.score <= proven.score < 0.6


def test_what_is_found_does_not_depend_on_asking_for_exactness():
    """Proof only ever rejects: what is found is reported in full either way."""
    text = TEXT + " The file was reviewed." * 40
    for context in ("citizen of Turkey", "CITIZEN of turkey", "hearing waz hold on june 19 2013"):
        assert align(context, text, exact=False) == align(context, text)


def test_an_index_serves_any_number_of_contexts():
    """Order and repetition make no difference."""
    index = DocumentIndex(TEXT)
    contexts = ["citizen of Turkey", "citizem of Turkey", "nothing of the kind", "Toronto"]
    once = [align(context, TEXT) for context in contexts]
    assert [index.align(context) for context in contexts * 2] == once * 2
