"""The corpora that train what ships, as labelled pairs."""

from recipes.data_sets import nli_pairs

ROW = {"premise": "a dog runs", "hypothesis": "A cat sleeps.", "source": "SNLI"}


def test_rows_of_nli_sets_are_claims_of_their_sources():
    rows = [{**ROW, "label": said} for said in ("contradiction", "entailment", 1, 0)]
    claims = list(nli_pairs([*rows, {**rows[1], "source": "other"}], frozenset({"SNLI"})))
    assert [(one.entity_type, one.label) for one in claims] == [
        ("Claim", label) for label in (0, 1, 1, 0)
    ]
