"""The model: today's reader, with a product of field and token beside its token head."""

import math
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from safepassage.scoring_worker.encoders.reader_model import ReaderModel

RANK = 256
LIKENESS = 8.0
"""What the cosine of field and token is multiplied by before training. A field's words and the
words that answer it are alike in the base (AUROC .78 to .82 on the turns of `sgd_unseen`), so that
training begins with a reader that knows most fields apart."""


class FieldReader(nn.Module):
    """A reader of several fields at once over the encoder and the token head of ``reader``."""

    def __init__(self, reader: ReaderModel, rank: int = RANK) -> None:
        super().__init__()
        hidden = reader.encoder.config.hidden_size
        self.reader = reader
        self.statement = nn.Linear(hidden, 1)
        self.statement.load_state_dict(reader.claim.state_dict())
        self.fields = nn.Linear(hidden, rank, bias=False)
        self.passage = nn.Linear(hidden, rank, bias=False)
        nn.init.orthogonal_(self.fields.weight)
        self.passage.load_state_dict(self.fields.state_dict())
        self.nothing = nn.Parameter(torch.zeros(1))
        self.likeness = nn.Parameter(torch.tensor(math.log(LIKENESS)))

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Hidden states [batch, tokens, width] in float32."""
        encoded: Tensor = self.reader.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return encoded.float()

    def token_logits(self, states: Tensor, closings: Tensor) -> Tensor:
        """Logits [fields, tokens] of one example's ``states`` [tokens, width]; ``closings``
        [fields] are the positions of the separators that close the fields.

        A field is the mean of its words. Both sides are taken from their mean, which says what all
        of them share; a single field has nothing beside the token head."""
        shared: Tensor = self.reader.tokens(states).squeeze(-1)
        begins = torch.cat([closings.new_zeros(1), closings[:-1]]) + 1
        within = zip(begins.tolist(), closings.tolist(), strict=True)
        named = torch.stack([states[begin:end].mean(0) for begin, end in within])
        read = states[int(closings[-1]) + 2 : -1]
        fields = functional.normalize(self.fields(named - named.mean(0)), dim=-1)
        tokens = functional.normalize(self.passage(states - read.mean(0)), dim=-1)
        logits: Tensor = self.likeness.exp() * (fields @ tokens.T) + shared[None]
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
        yield self.likeness

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
