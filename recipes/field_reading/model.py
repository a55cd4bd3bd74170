"""The model: today's reader, with a product of field and token beside its token head."""

import math
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from safepassage.scoring_worker.encoders.reader_model import ReaderModel

RANK = 256
_GAIN = 4.0
"""What the product of two vectors of `RANK` numbers is scaled to before training: near nothing, so
that a reader of one question reads as before, and large enough for a gradient."""


class FieldReader(nn.Module):
    """A reader of several fields at once over the encoder and the token head of ``reader``."""

    def __init__(self, reader: ReaderModel, rank: int = RANK) -> None:
        super().__init__()
        hidden = reader.encoder.config.hidden_size
        self.reader = reader
        self.statement = nn.Linear(hidden, 1)
        self.statement.load_state_dict(reader.claim.state_dict())
        self.fields = nn.Linear(hidden, rank)
        self.passage = nn.Linear(hidden, rank)
        for projection in (self.fields, self.passage):
            nn.init.normal_(projection.weight, std=0.02)
            nn.init.zeros_(projection.bias)
        self.nothing = nn.Parameter(torch.zeros(1))
        self.scale = _GAIN / math.sqrt(rank)

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Hidden states [batch, tokens, width] in float32."""
        encoded: Tensor = self.reader.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return encoded.float()

    def token_logits(self, states: Tensor, closings: Tensor) -> Tensor:
        """Logits [fields, tokens] of one example's ``states`` [tokens, width]; ``closings``
        [fields] are the positions of the separators that close the fields."""
        shared: Tensor = self.reader.tokens(states).squeeze(-1)
        own = self.fields(states[closings]) @ self.passage(states).T
        logits: Tensor = own * self.scale + shared[None]
        return logits

    def statement_logits(self, states: Tensor, closings: Tensor) -> Tensor:
        """Logits [statements] that the passage supports each statement."""
        logits: Tensor = self.statement(states[closings]).squeeze(-1)
        return logits

    def new_weights(self) -> Iterator[nn.Parameter]:
        """The weights that begin with nothing learnt."""
        yield from self.fields.parameters()
        yield from self.passage.parameters()
        yield self.nothing

    def learning(self) -> dict[str, Tensor]:
        """Every weight that training changes, by name."""
        return {name: own for name, own in self.named_parameters() if own.requires_grad}

    def save(self, path: Path) -> None:
        """Write `learning` in float16; the file is whole or not there."""
        partial = path.with_name(f"{path.name}.partial")
        halves = {name: own.detach().half().contiguous() for name, own in self.learning().items()}
        save_file(halves, partial)
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Take the weights of `save`.

        Raises:
            ValueError: they are another model's.
        """
        state = {name: own.float() for name, own in load_file(path).items()}
        if state.keys() != self.learning().keys():
            raise ValueError(f"{path} holds another model's weights")
        self.load_state_dict(state, strict=False)
