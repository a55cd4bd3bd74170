"""Small files of labels for the commands that read them."""

import json
import random

from safepassage.scoring_worker import load_scorer
from tests.scoring_worker import tiny

WORDS = ("may", "june", "ann lee", "bob ray", "ottawa", "2015", "2016", "counsel", "held")


def write(path, rows):
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def gold_files(folder):
    """(labelled extractions, their documents): 12 documents of two extractors' work."""
    chooser = random.Random(0)
    documents, rows = [], []
    for number in range(12):
        lines = [" ".join(chooser.choices(WORDS, k=6)) for _ in range(4)]
        documents.append({"id": f"d{number}", "text": "\n".join(lines), "meta": {"a": 1}})
        for at, line in enumerate(lines):
            rows.append(
                {
                    "id": f"{number}-{at}",
                    "doc_id": f"d{number}",
                    "entity_type": "Judge",
                    "value": chooser.choice(WORDS),
                    "context": line if at else "never written, no",
                    "label": at % 2,
                    "kind": "made",
                    "why": "",
                    "source": "test",
                    "extractor": {"model": ("small", "large")[at // 2]},
                }
            )
    return write(folder / "gold.jsonl", rows), write(folder / "documents.jsonl", documents)


def pair_file(folder, model):
    """120 typed pairs of 30 documents, labelled for the most part as the random model thinks."""
    chooser = random.Random(1)
    asked = [
        tiny.pair(" ".join(chooser.choices(WORDS, k=4)), chooser.choice(WORDS), "Judge")
        for _ in range(120)
    ]
    scores = [one.score for one in load_scorer(model).assess(asked)]
    middle = sorted(scores)[60]
    rows = [
        {
            "premise": pair.premise,
            "hypothesis": pair.hypothesis,
            "entity_type": pair.entity_type,
            "value": pair.value,
            "doc_id": f"d{at % 30}",
            "label": int((score > middle) != (chooser.random() < 0.1)),
        }
        for at, (pair, score) in enumerate(zip(asked, scores, strict=True))
    ]
    return write(folder / "pairs.jsonl", rows)
