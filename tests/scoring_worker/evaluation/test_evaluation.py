"""Evaluation: kinds of files, what counts as flagged, figures by hand, reports."""

from __future__ import annotations

import gzip
import json

import pytest

from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Assessment,
    Document,
    Extraction,
    SchemaField,
    ScorerTrail,
    Span,
    Usage,
    reject,
)
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.datasets import read_dataset
from safepassage.scoring_worker.evaluation.judgement import evaluate
from safepassage.scoring_worker.evaluation.report_folder import write_report
from safepassage.scoring_worker.evaluation.results import EvaluationReport, result_of
from safepassage.scoring_worker.evaluation.rows import (
    ExtractionRow,
    PairRow,
    pair_of_row,
    row_of_pair,
)
from safepassage.scoring_worker.evaluation.sources import (
    DatasetError,
    Sources,
    read_documents,
)

TEXT = "The hearing was held on May 4, 2015 in Ottawa before Ann Lee."


class Mentions:
    """A scorer: .9 where the premise mentions the value, .2 where not; "broken" fails."""

    name, revision = "mentions", "1"

    def __init__(self, usage=None):
        self.usage = usage
        self.seen = []

    def assess(self, pairs):
        self.seen += pairs
        return [self._one(pair) for pair in pairs]

    def _one(self, pair):
        common = {"scorer": self.name, "revision": self.revision}
        if "broken" in pair.premise:
            return Assessment(**common, failure="scorer_failed")
        score = 0.9 if str(pair.value).casefold() in pair.premise.casefold() else 0.2
        trail = ScorerTrail(**common, score=score, threshold=0.5, usage=self.usage)
        return Assessment(**common, score=score, threshold=0.5, trail=(trail,))

    def close(self):
        pass


def aligned(document, extraction):
    """A stand-in for the aligner: found where the context stands in the text as it is."""
    at = document.text.find(extraction.context)
    spans = (
        ()
        if at < 0
        else (Span(start=at, end=at + len(extraction.context), text=extraction.context),)
    )
    alignment = Alignment(
        score=float(bool(spans)),
        matches=0,
        length=0,
        unaligned=0,
        threshold=0.6,
        spans=spans,
        route="verbatim" if spans else "full",
    )
    if not spans:
        return reject(extraction, "not_found", document.ref(), alignment)
    return AlignedExtraction(extraction=extraction, document=document.ref(), alignment=alignment)


def sources(*documents, seed=0):
    """Sources whose answers are split at full stops, each sentence grounded in the whole text."""

    def ground(response, whole):
        sentences = (
            [response.response] if whole else filter(str.strip, response.response.split("."))
        )
        document = Document(id=response.id, text=response.text)
        rows = [
            {"id": f"{response.id}{at}", "doc_id": response.id, "entity_type": "Claim"}
            | {"value": sentence.strip(), "context": response.text}
            for at, sentence in enumerate(sentences)
        ]
        return [aligned(document, Extraction.model_validate(row)) for row in rows]

    return Sources(
        documents={document.id: document for document in documents},
        align=lambda document, extractions: [aligned(document, one) for one in extractions],
        ground=ground,
        seed=seed,
    )


def write(path, rows):
    """Rows as JSON lines; strings as they are."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def extraction(number, value, context, label, **more):
    """A labelled extraction row."""
    return {
        "id": f"e{number}",
        "doc_id": "d1",
        "entity_type": "Hearing Date",
        "value": value,
        "context": context,
        "label": label,
        **more,
    }


def run(dataset, scorer=None):
    """The result of judging all cases."""
    return result_of(judged(dataset, scorer))


def judged(dataset, scorer=None):
    """The evaluation of a data set."""
    return evaluate(dataset, scorer or Mentions(), name="m", on_progress=lambda *_: None)


def extraction_rows():
    """Two supported, two not, one whose quote is invented."""
    return [
        extraction(1, "May 4, 2015", "held on May 4, 2015", 1, kind="natural"),
        extraction(2, "Ottawa", "2015 in Ottawa before", 1, kind="natural", extra={"any": 1}),
        extraction(3, "June 4, 2015", "held on May 4, 2015", 0, kind="wrong_value", why="month"),
        extraction(4, "Ann Lee", "before Ann Lee", 0, kind="wrong_type"),
        extraction(5, "May 4, 2015", "a sentence that nobody wrote", 0, kind="fabricated"),
    ]


def test_labelled_extractions_are_judged_as_the_pipeline_would(tmp_path):
    """Not accepted is flagged, whether the alignment or the scorer stopped it."""
    path = write(tmp_path / "gold.jsonl", extraction_rows())
    result = run(read_dataset(path, sources(Document(id="d1", text=TEXT))))
    assert (result.dataset, result.dataset_kind) == ("gold", "extractions")
    assert (result.n, result.unsupported, result.flagged, result.pairs) == (5, 3, 2, 4)
    assert (result.precision, result.recall, result.f1) == (1.0, 2 / 3, 0.8)
    assert result.macro_f1 == pytest.approx((0.8 + 0.8) / 2)
    assert result.reasons == {"not_found": 1, "unsupported": 1}
    assert result.undetermined == 0
    assert result.threshold == 0.5
    assert result.by_kind["wrong_type"].recall == 0.0
    assert result.by_kind["natural"].recall is None
    assert result.by_type["Hearing Date"].n == 5


def test_what_is_not_found_ranks_below_every_score(tmp_path):
    """Doubt in the order not found > .2 > .9: one unsupported case is ranked among supported."""
    path = write(tmp_path / "gold.jsonl", extraction_rows())
    result = run(read_dataset(path, sources(Document(id="d1", text=TEXT))))
    assert result.auroc == pytest.approx((2 + 2 + 0.5 + 0.5) / 6)


def test_a_scorer_sees_neither_label_nor_kind(tmp_path):
    """What it is asked has no field for them, and no text of them."""
    scorer = Mentions()
    path = write(tmp_path / "gold.jsonl", extraction_rows())
    judged(read_dataset(path, sources(Document(id="d1", text=TEXT))), scorer)
    assert scorer.seen
    assert not any(kind in repr(scorer.seen) for kind in ("wrong_value", "natural", "label"))


def test_what_cannot_be_scored_is_flagged_and_reported_apart(tmp_path):
    """An undetermined pair is never accepted, and counted as undetermined."""
    rows = [{"premise": "broken", "hypothesis": "x", "label": label} for label in (0, 1)]
    result = run(read_dataset(write(tmp_path / "p.jsonl", rows), sources()))
    assert (result.flagged, result.undetermined, result.reasons) == (2, 2, {"scorer_failed": 2})
    assert (result.precision, result.recall, result.auroc) == (0.5, 1.0, 0.5)


@pytest.mark.parametrize(
    ("label", "unsupported"),
    [
        *((label, 1) for label in (0, "0", False, 0.0, "neutral", "contradiction", "No")),
        *((label, 0) for label in (1, "1", True, "entailment", "ENTAILMENT", "supports")),
    ],
)
def test_labels_are_read_in_every_spelling(tmp_path, label, unsupported):
    """Numbers, truth values and the names of natural language inference."""
    rows = [{"premise": "a", "hypothesis": "b", "label": label, "binary": True, "source": "S"}]
    result = run(read_dataset(write(tmp_path / "p.jsonl", rows), sources()))
    assert result.unsupported == unsupported
    assert list(result.by_kind) == ["S"]


@pytest.mark.parametrize(
    "row",
    [
        {"id": "m", "s1": "a b", "s2": "a", "label": 1, "split": "train"},
        {"clause": "a b", "hypothesis": "a", "answer": "Yes", "task": "t"},
    ],
)
def test_pairs_under_other_names_are_pairs(tmp_path, row):
    """Paraphrase pairs, and clauses with an answer."""
    dataset = read_dataset(write(tmp_path / "p.jsonl", [row]), sources())
    assert dataset.kind == "pairs"
    assert dataset.pairs[0].premise == "a b"


def test_typed_hypotheses_are_typed(tmp_path):
    """ "Judge: Ann Lee" asks about a Judge; a sentence is a claim."""
    rows = [
        {"premise": "p", "hypothesis": text, "label": 1} for text in ("Judge: Ann Lee", "She left.")
    ]
    pairs = read_dataset(write(tmp_path / "p.jsonl", rows), sources()).pairs
    assert [(pair.entity_type, pair.value) for pair in pairs] == [
        ("Judge", "Ann Lee"),
        ("Claim", "She left."),
    ]


def test_an_answer_is_supported_only_if_all_its_sentences_are(tmp_path):
    """One unsupported sentence is enough; a claim is judged as it stands."""
    context = "ottawa is cold. it snows"
    rows = [
        {"id": "a", "context": context, "response": "Ottawa is cold. It snows.", "label": 1},
        {"id": "b", "context": [context, "more"], "response": "It snows. It is warm.", "label": 0},
        {
            "id": "c",
            "context": context,
            "claim": "Ottawa is cold. It snows",
            "label": 1,
            "extra": 1,
        },
        {"id": "d", "context": context, "response": "", "label": 0, "query": "?"},
    ]
    evaluation = judged(read_dataset(write(tmp_path / "r.jsonl", rows), sources()))
    assert [one.accepted for one in evaluation.outcomes] == [True, False, True, False]
    assert [len(one.case.parts) for one in evaluation.outcomes] == [2, 2, 1, 1]
    assert evaluation.outcomes[3].undetermined


def test_an_answer_names_the_model_that_gave_it(tmp_path):
    """Beside the answer or among what its file knows besides, if at all."""
    row = {"context": "it snows", "response": "It snows.", "label": 1}
    rows = [
        {**row, "id": "a", "extra": {"model": "small"}},
        {**row, "id": "b", "model": "large", "extra": "a remark"},
        {**row, "id": "c", "extra": {"spans": []}},
    ]
    cases = read_dataset(write(tmp_path / "r.jsonl", rows), sources()).cases
    assert [case.extractor for case in cases] == ["small", "large", None]


def test_bad_rows_cost_one_line_each_and_nothing_else(tmp_path):
    """Broken JSON, an unknown label, a document that is not there, no label."""
    rows = [
        "{broken",
        *extraction_rows(),
        extraction(6, "x", "y", "maybe"),
        extraction(7, "x", "y", 1) | {"doc_id": "d9"},
        extraction(8, "x", "y", None),
        "[1, 2]",
    ]
    dataset = read_dataset(
        write(tmp_path / "gold.jsonl", rows), sources(Document(id="d1", text=TEXT))
    )
    assert len(dataset.cases) == 5
    assert dataset.unlabelled == 1
    assert sorted(line.split(": ")[0].rpartition("/")[2] for line in dataset.refused) == [
        "gold.jsonl",
        "gold.jsonl:1",
        "gold.jsonl:10",
        "gold.jsonl:7",
    ]
    assert not any("\n" in line for line in dataset.refused)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no rows"),
        ([{"id": "a", "text": "b"}], "fields"),
        (["nonsense"], "first row"),
        ([extraction(1, "x", "y", 1)], "not in --documents"),
        ([{"premise": "a", "hypothesis": "b", "label": "perhaps"}], "entailment"),
    ],
)
def test_a_file_that_cannot_be_evaluated_says_why(tmp_path, rows, message):
    """In one line, with the file's name."""
    path = write(tmp_path / "odd.jsonl", rows)
    with pytest.raises(DatasetError, match=message) as caught:
        read_dataset(path, sources())
    assert "odd.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gzip_is_read_and_left_out_of_the_name(tmp_path):
    """pairs.jsonl.gz is the data set "pairs"."""
    path = tmp_path / "pairs.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"premise":"a","hypothesis":"b","label":0}\n'))
    assert read_dataset(path, sources()).name == "pairs"


def test_documents_are_read_once_and_must_agree(tmp_path):
    """The same text twice is one document; two texts under one id are an error."""
    one = write(tmp_path / "a.jsonl", [{"id": "d", "text": "t", "meta": 1}] * 2)
    other = write(tmp_path / "b.jsonl", [{"id": "d", "text": "u"}])
    assert list(read_documents([one])) == ["d"]
    with pytest.raises(DatasetError, match="two texts"):
        read_documents([one, other])


def test_undefined_figures_are_null_in_the_json(tmp_path):
    """One class only: no AUROC; nothing flagged and nothing to flag: no precision, no F1."""
    rows = [{"premise": "a b", "hypothesis": "a", "label": 1}]
    result = run(read_dataset(write(tmp_path / "p.jsonl", rows), sources()))
    written = json.loads(EvaluationReport(results=(result,)).model_dump_json())
    assert written["version"] == 1
    figures = written["results"][0]
    assert [figures[name] for name in ("auroc", "auprc", "precision", "recall", "f1")] == [None] * 5
    assert figures["precision_ci"] == [0.0, 1.0]
    assert figures["macro_f1"] == 1.0


def test_the_json_has_every_promised_figure(tmp_path):
    """The names that design and documentation promise, each proportion with its interval."""
    path = write(tmp_path / "gold.jsonl", extraction_rows())
    result = run(read_dataset(path, sources(Document(id="d1", text=TEXT))))
    figures = result.model_dump(mode="json")
    names = {"n", "macro_f1", "auprc", "threshold", "pairs_per_second", "latency_ms_p50"}
    assert names | {"latency_ms_p99", "scorer", "revision", "dataset"} <= figures.keys()
    for name in ("precision", "recall", "f1", "auroc", "macro_f1", "auprc"):
        low, high = figures[f"{name}_ci"]
        assert 0 <= low <= figures[name] <= high <= 1
    assert 0 < figures["latency_ms_p50"] <= figures["latency_ms_p99"]


def test_calls_to_an_llm_are_counted_and_not_repeated_for_their_latency(tmp_path):
    """Tokens and cost add up; latency is that of the calls themselves."""
    usage = Usage(input_tokens=10, output_tokens=2, cost_usd=0.5, milliseconds=40)
    scorer = Mentions(usage)
    rows = [{"premise": f"a {at}", "hypothesis": "a", "label": at % 2} for at in range(4)]
    result = run(read_dataset(write(tmp_path / "p.jsonl", rows), sources()), scorer)
    assert (result.input_tokens, result.output_tokens, result.cost_usd) == (40, 8, 2.0)
    assert (result.latency_ms_p50, result.scorers) == (40, {"mentions": 4})
    assert len(scorer.seen) == 1 + 4


def test_a_scorer_that_answers_short_is_not_believed(tmp_path):
    """An assessment for each pair, or nothing."""

    class Short(Mentions):
        def assess(self, pairs):
            return super().assess(pairs)[1:]

    rows = [{"premise": "a", "hypothesis": "a", "label": 1}]
    with pytest.raises(RuntimeError, match="0 of 1"):
        run(read_dataset(write(tmp_path / "p.jsonl", rows), sources()), Short())


def test_a_limit_keeps_documents_whole(tmp_path):
    """All pairs of a premise, or none."""
    rows = [
        {"premise": f"p{at // 3}", "hypothesis": f"h{at}", "label": 1, "doc_id": f"d{at // 3}"}
        for at in range(30)
    ]
    path = write(tmp_path / "p.jsonl", rows)
    limited = read_dataset(path, sources(), limit=10)
    groups = [case.group for case in limited.cases]
    assert len(groups) == 12
    assert limited.cases != read_dataset(path, sources(seed=1), limit=10).cases
    assert all(groups.count(group) == 3 for group in groups)


def test_the_report_has_tables_and_a_plot(tmp_path):
    """Markdown with every scorer, a PNG file that is an image, and the figures as JSON."""
    path = write(tmp_path / "gold.jsonl", extraction_rows())
    evaluation = judged(read_dataset(path, sources(Document(id="d1", text=TEXT)), labels="by hand"))
    report = EvaluationReport(results=(result_of(evaluation),))
    page = write_report(tmp_path / "out" / "deep", [evaluation], report)
    text = page.read_text()
    assert "finding the 3 unsupported of 5" in text
    assert "by hand" in text
    assert "wrong_type" in text
    [image] = page.parent.glob("*.png")
    assert image.read_bytes().startswith(b"\x89PNG")
    assert image.name in text
    assert json.loads((page.parent / "report.json").read_text())["results"][0]["n"] == 5


def test_a_report_without_scores_has_no_plot(tmp_path):
    """Nothing to draw is nothing drawn."""
    rows = [{"premise": "broken", "hypothesis": "b", "label": 0}]
    evaluation = judged(read_dataset(write(tmp_path / "p.jsonl", rows), sources()))
    report = EvaluationReport(results=(result_of(evaluation),))
    page = write_report(tmp_path / "out", [evaluation], report)
    assert "finding the 1 unsupported of 1" in page.read_text()
    assert not list(page.parent.glob("*.png"))


@pytest.mark.parametrize("field", ["a column", 7, {"colour": "red"}, None])
def test_a_column_that_is_no_schema_field_says_nothing(field):
    """Files come from many places."""
    row = {"premise": "a", "hypothesis": "b", "label": 1, "field": field, "before": 3}
    read = PairRow.model_validate(row)
    assert (read.schema_field, read.before) == (None, None)


def test_a_row_may_say_what_the_schema_says():
    row = {"id": "e", "doc_id": "d", "entity_type": "T", "value": "v", "context": "c"}
    described = ExtractionRow.model_validate(row | {"description": "the daily dose"})
    assert described.extraction.field == SchemaField(description="the daily dose")
    assert ExtractionRow.model_validate(row).extraction.field is None


def test_columns_of_foreign_files_with_the_names_of_ours_are_passed_over():
    row = {"premise": "p", "hypothesis": "A: b", "label": 1}
    foreign = {"between": "x", "language": "German", "day_first": "yes", "absent": [[-1, 2]]}
    read = pair_of_row(PairRow.model_validate(row | foreign))
    assert read == Pair("p", "A: b", "A", "b")
    own = {"between": ["x"], "language": "de", "day_first": False, "absent": [[0, 1]]}
    read = pair_of_row(PairRow.model_validate(row | own))
    assert (read.between, read.language, read.day_first) == (("x",), "de", False)
    assert (read.absent, row_of_pair(read)["absent"]) == (((0, 1),), [[0, 1]])
