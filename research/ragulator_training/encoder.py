"""Fine-tunes a cross-encoder on windows (RAGulator, section 2.5 and Table 6).

Any sequence classifier that transformers builds without code of the model's own: deberta-v3-large
where the hub can be reached, a small local base where it cannot. One logit, its sigmoid is
p(window supports the sentence). What is written is a folder of safetensors that
``ragulator-encoder=FOLDER`` loads.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from research.curation import CuratedPair
from safepassage.scoring_worker.encoders.weight_folders import named_folder
from safepassage.scoring_worker.encoders.weights import load_tokenizer, load_with_new_head
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.training.fine_tuning import (
    Example,
    FineTuning,
    fine_tune,
)


def train_encoder(
    base: str | Path,
    pairs: Sequence[CuratedPair],
    folder: Path,
    on_progress: OnProgress,
    recipe: FineTuning | None = None,
) -> list[float]:
    """Fine-tune ``base`` on windows and write it to ``folder``; the mean loss of every epoch.

    ``pairs`` have contexts that fit into the model, as `labelled_windows` cuts them; of a longer
    one the end would be unseen, so it is an error. By default it trains as the paper does.

    Raises:
        ModelError: ``base`` is no such model, a loss is no number, or a pair is too long.
        ValueError: there is nothing to learn from.
    """
    recipe = recipe or FineTuning()
    torch.manual_seed(recipe.seed)
    source = named_folder(str(base))
    tokenizer = load_tokenizer(source, str(base))
    model = load_with_new_head(source)
    examples = [Example(pair.context, pair.sentence, pair.grounded) for pair in pairs]
    losses = fine_tune(model, tokenizer, examples, recipe, on_progress)
    model.cpu().eval().save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    return losses
