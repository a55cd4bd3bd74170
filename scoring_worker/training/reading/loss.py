"""What a reader is taught by: the loss over the labels of a batch."""

import torch
from torch import Tensor
from torch.nn import functional

IGNORED = -100.0
"""Label of a token that says nothing: padding, specials, and what nobody labelled."""


def reading_loss(logits: Tensor, labels: dict[str, Tensor]) -> Tensor:
    """Sum of the heads' binary cross-entropies, each over what carries a label.

    ``logits`` [batch, tokens, 3]. ``token_labels`` [batch, tokens] with ``token_weights``;
    ``spans`` [batch, spans, tokens] average the tokens of a value, so that a whole value is
    right or wrong: ``span_labels`` [batch, spans]; ``claim_labels`` [batch]; ``founded_labels``
    [batch, tokens].
    """
    tokens, claims, founded = logits.unbind(-1)
    total = _bce(tokens, labels["token_labels"], labels["token_weights"])
    means = torch.einsum("bst,bt->bs", labels["spans"], tokens)
    total = total + _bce(means, labels["span_labels"])
    total = total + _bce(claims[:, 0], labels["claim_labels"])
    return total + _bce(founded, labels["founded_labels"])


def _bce(logits: Tensor, wanted: Tensor, weights: Tensor | None = None) -> Tensor:
    known = wanted != IGNORED
    if not bool(known.any()):
        return logits.sum() * 0.0
    each = functional.binary_cross_entropy_with_logits(
        logits[known], wanted[known], reduction="none"
    )
    if weights is None:
        return each.mean()
    chosen = weights[known]
    return (each * chosen).sum() / chosen.sum().clamp(min=1e-6)
