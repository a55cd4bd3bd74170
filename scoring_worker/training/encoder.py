"""Fine-tunes a cross-encoder on labelled pairs (SafePassage paper, section 4.2.3).

transformers trains, peft keeps the result small. The loss is binary cross-entropy on the
log-odds of entailment, whatever the head: a single logit is that already, and of a three-way
NLI head it is the entailment logit against the logsumexp of the rest. So a row that is only
known to be "not entailment" needs no mask, and a head that knows NLI is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import structlog
import torch
from datasets import Dataset
from numpy.typing import NDArray
from peft import LoraConfig, PeftModel, get_peft_model
from sklearn.metrics import precision_recall_curve
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    EarlyStoppingCallback,
    EvalPrediction,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Trainer,
    TrainingArguments,
    set_seed,
)
from transformers.trainer_utils import get_last_checkpoint

from scoring_worker.corruption import LabelledPair

log = structlog.get_logger(__name__)

ADAPTER_FOLDER = "adapter"
CHECKPOINT_FOLDER = "checkpoints"
_TARGETS = ["query", "key", "value", "dense", "query_proj", "key_proj", "value_proj"]
"""Linear layers that get an adapter: BERT's and RoBERTa's names, and DeBERTa's."""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """How to fine-tune. The defaults are those of the scorer that ships.

    ``rank`` 0 trains and saves all weights. Validation F1 is measured ``evaluations`` times an
    epoch, on at most ``validation_pairs``; training stops after ``patience`` measurements without
    a gain. A learning rate twice as high was seen to stay at chance with rank 32.
    """

    epochs: float = 2.0
    batch_size: int = 32
    learning_rate: float = 4e-4
    rank: int = 32
    max_length: int = 192
    seed: int = 0
    evaluations: int = 4
    patience: int = 3
    warmup: float = 0.06
    validation_pairs: int = 400


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """What a run left in ``folder``: an adapter, or full weights where ``adapter`` is None."""

    folder: Path
    adapter: str | None
    entailment: int
    max_length: int
    validation_f1: float


def train_encoder(
    base: str | Path,
    train: Sequence[LabelledPair],
    validation: Sequence[LabelledPair],
    folder: Path,
    settings: EncoderSettings | None = None,
    *,
    adapter: Path | None = None,
    resume: bool = False,
) -> TrainedEncoder:
    """Fine-tune ``base`` on ``train``, keep the state that is best on ``validation``.

    Args:
        base: folder or hub id of an encoder; a head that knows entailment is kept.
        train, validation: pairs of different documents; both labels should occur in both.
        folder: where the adapter (or the weights) and the tokenizer go, and the checkpoints
            from which ``resume`` continues an interrupted run.
        adapter: continue from this adapter instead of a fresh one.

    Raises:
        ValueError: there is nothing to train or to validate on.
    """
    if not train or not validation:
        raise ValueError("training needs pairs to train on and pairs to validate on")
    settings = settings or EncoderSettings()
    set_seed(settings.seed)
    model, entailment = load_base(base, adapter, settings.rank)
    tokenizer = AutoTokenizer.from_pretrained(base)
    trainer = Trainer(
        model=model,
        args=_arguments(folder / CHECKPOINT_FOLDER, len(train), settings),
        train_dataset=tokenised(train, tokenizer, settings.max_length),
        eval_dataset=tokenised(
            validation[: settings.validation_pairs], tokenizer, settings.max_length
        ),
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_loss_func=_loss(entailment),
        compute_metrics=_metrics(entailment),
        callbacks=[EarlyStoppingCallback(early_stopping_patience=settings.patience)],
    )
    last = _last_checkpoint(folder) if resume else None
    trainer.train(resume_from_checkpoint=last)
    best = float(trainer.state.best_metric or 0.0)
    log.info("encoder_trained", pairs=len(train), steps=trainer.state.global_step, f1=best)
    saved = _save(trainer.model, tokenizer, folder)
    return TrainedEncoder(folder, saved, entailment, settings.max_length, best)


def load_base(
    base: str | Path, adapter: Path | None = None, rank: int = 0
) -> tuple[PreTrainedModel | PeftModel, int]:
    """The model to train and the index of its entailment logit.

    A base without a classification head gets one with a single logit; ``adapter`` is continued,
    otherwise ``rank`` > 0 adds a fresh LoRA adapter.
    """
    model = AutoModelForSequenceClassification.from_pretrained(base, **_head_of(base, adapter))
    entailment = entailment_index(model.config.id2label)
    if adapter is not None:
        return PeftModel.from_pretrained(model, adapter, is_trainable=True), entailment
    if rank:
        model = get_peft_model(model, _lora(model, rank))
    return model, entailment


def entailment_index(names: dict[int, str]) -> int:
    """Which logit says "entailment"; 0 for a head with a single logit or without names."""
    return next((i for i, name in names.items() if name.casefold().startswith("entail")), 0)


def entailment_log_odds(logits: Tensor, entailment: int) -> Tensor:
    """(B, C) logits to (B,) log-odds of entailment against everything else."""
    if logits.shape[1] == 1:
        return logits[:, 0]
    rest = torch.cat([logits[:, :entailment], logits[:, entailment + 1 :]], dim=1)
    return logits[:, entailment] - rest.logsumexp(dim=1)


def best_f1(unsupported: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
    """F1 of finding unsupported pairs (low scores) at the threshold that makes it largest.

    0 where there are none to find.
    """
    if not unsupported.any():
        return 0.0
    precision, recall, _ = precision_recall_curve(unsupported, -score)
    total = precision + recall
    return float(np.max(np.divide(2 * precision * recall, total, where=total > 0, out=total * 0)))


def tokenised(
    pairs: Sequence[LabelledPair], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> Dataset:
    """Token ids of premise and hypothesis; only the premise is cut where they are too long."""
    encoded = tokenizer(
        [pair.premise for pair in pairs],
        [pair.pair.hypothesis for pair in pairs],
        truncation="longest_first",
        max_length=max_length,
    )
    labels = [float(pair.label) for pair in pairs]
    return Dataset.from_dict({**encoded, "labels": labels})


def _head_of(base: str | Path, adapter: Path | None) -> dict[str, Any]:
    """One logit, unless the base was trained to tell entailment apart."""
    config = AutoConfig.from_pretrained(base)
    knows = any(name.casefold().startswith("entail") for name in config.id2label.values())
    return {} if knows else {"num_labels": 1}


def _lora(model: PreTrainedModel, rank: int) -> LoraConfig:
    names = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    return LoraConfig(
        task_type="SEQ_CLS",
        r=rank,
        lora_alpha=rank,
        lora_dropout=0.05,
        target_modules=[name for name in _TARGETS if name in names],
        exclude_modules=r".*pooler.*",
    )


def _arguments(folder: Path, pairs: int, settings: EncoderSettings) -> TrainingArguments:
    steps_an_epoch = max(1, -(-pairs // settings.batch_size))
    every = max(1, steps_an_epoch // settings.evaluations)
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=64,
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup,
        weight_decay=0.01,
        eval_strategy="steps",
        save_strategy="steps",
        logging_strategy="steps",
        eval_steps=every,
        save_steps=every,
        logging_steps=every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="f1",
        greater_is_better=True,
        train_sampling_strategy="group_by_length",
        bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        seed=settings.seed,
        report_to=[],
        dataloader_pin_memory=torch.cuda.is_available(),
    )


def _last_checkpoint(folder: Path) -> str | None:
    """Where an interrupted run can go on; None where it had not come to a checkpoint."""
    checkpoints = folder / CHECKPOINT_FOLDER
    if not checkpoints.is_dir():
        return None
    last: str | None = get_last_checkpoint(str(checkpoints))  # type: ignore[no-untyped-call]
    return last


def _loss(entailment: int) -> Any:
    def loss(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
        odds = entailment_log_odds(outputs["logits"], entailment)
        return nn.functional.binary_cross_entropy_with_logits(odds, labels.float())

    return loss


def _metrics(entailment: int) -> Any:
    def metrics(prediction: EvalPrediction) -> dict[str, float]:
        odds = entailment_log_odds(torch.as_tensor(prediction.predictions), entailment).numpy()
        unsupported = np.asarray(prediction.label_ids) < 0.5
        return {"f1": best_f1(unsupported, odds)}

    return metrics


def _save(model: Any, tokenizer: PreTrainedTokenizerBase, folder: Path) -> str | None:
    if isinstance(model, PeftModel):
        model.save_pretrained(str(folder / ADAPTER_FOLDER))
        return ADAPTER_FOLDER
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return None
