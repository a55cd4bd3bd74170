"""What a pass is taught: every value's tokens, the whole value, and which field it answers."""

from collections import defaultdict

import torch
from torch import Tensor
from torch.nn import functional

from .examples import Example, Span
from .model import FieldReader

TOKENS, FIELDS, FOREIGN = 0.5, 0.5, 0.3
"""Weights of the losses beside that of whole values, which is 1."""
_SURELY = 1e-4


def pass_loss(model: FieldReader, example: Example, states: Tensor) -> Tensor:
    """The loss of one pass, of its ``states`` [tokens, width]."""
    loss = states.new_zeros(())
    if example.spans:
        logits = model.token_logits(states, torch.tensor(example.closings))
        loss = loss + spans_loss(logits, example, model.nothing)
    if example.statements:
        at, labels = zip(*example.statements, strict=True)
        said = model.statement_logits(states, torch.tensor(at))
        wanted = torch.tensor([float(label) for label in labels])
        loss = loss + functional.binary_cross_entropy_with_logits(said, wanted)
    return loss


def spans_loss(logits: Tensor, example: Example, nothing: Tensor) -> Tensor:
    """Of ``logits`` [fields, tokens]; ``nothing`` [1] is the logit of *none of these*."""
    spans = example.spans
    means = torch.stack([logits[:, list(span.tokens)].mean(1) for span in spans])
    labels = torch.tensor([float(span.label) for span in spans])
    own = means[torch.arange(len(spans)), [span.field for span in spans]]
    loss = functional.binary_cross_entropy_with_logits(own, labels)
    loss = loss + TOKENS * torch.stack([_tokens_loss(logits, span) for span in spans]).mean()
    if logits.shape[0] > 1:
        loss = loss + FIELDS * _fields_loss(means, spans, nothing)
    if example.foreign:
        loss = loss + FOREIGN * functional.softplus(means[:, list(example.foreign)]).mean()
    return loss


def _tokens_loss(logits: Tensor, span: Span) -> Tensor:
    own = logits[span.field, list(span.tokens)]
    return functional.binary_cross_entropy_with_logits(own, torch.full_like(own, span.label))


def _fields_loss(means: Tensor, spans: tuple[Span, ...], nothing: Tensor) -> Tensor:
    """A softmax over the fields and none of them. Two right fields of the same words are no rivals;
    of a wrong one only that it is not the one is known."""
    right = defaultdict(set)
    for span in spans:
        if span.label:
            right[span.tokens].add(span.field)
    losses = []
    for span, mean in zip(spans, means, strict=True):
        row = torch.cat([mean, nothing])
        also = [field for field in right[span.tokens] if field != span.field]
        if also:
            row = row.index_fill(0, torch.tensor(also), -1e4)
        said = torch.log_softmax(row, 0)[span.field]
        losses.append(-said if span.label else -torch.log1p(-said.exp().clamp(max=1 - _SURELY)))
    return torch.stack(losses).mean()
