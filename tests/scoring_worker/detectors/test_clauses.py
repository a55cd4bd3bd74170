"""Where clauses begin, and which of their words say what happens."""

from __future__ import annotations

from safepassage.scoring_worker.detectors.hallugraph.clauses import (
    Clauses,
    cues,
    is_predicate,
    stem,
)


def test_forms_of_one_verb_have_one_stem():
    for forms in ("paid pays paying", "dismissed dismissal", "repaid repays", "sold sells"):
        assert len({stem(form) for form in forms.split()}) == 1
    words = ["was", "quickly", "paid", "by", "the"]
    assert [word for at, word in enumerate(words) if is_predicate(words, at)] == ["paid"]
    assert "may" in cues("permission")


def test_a_clause_ends_where_a_mark_or_a_word_opens_another():
    said = "Acme left; Jones stayed because rent was due."
    clauses = Clauses(said, [(0, 4), (12, 17)])
    assert clauses.clause_start(2) == 0
    assert clauses.clause_start(13) > 9
    assert clauses.clause_end(13) == said.index("because")
    assert clauses.says(4, 9)
    assert not clauses.says(0, 4)
