"""How much a vote counts: the coefficients of ``weights.json``, and the bound of what they move.

`recipes.memory_weights` fits them.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from pydantic import Field

from safepassage.schemas.base import Contract
from safepassage.schemas.ids import stable_id
from safepassage.scoring_worker.manifest import read_contract

WEIGHTS = Path(__file__).with_name("weights.json")
DECIMALS = 4


class MemoryWeights(Contract):
    """``weights`` by the features of `vote_features`; ``bound`` is the most that the sum may
    move the log-odds of support, either way, and ``alone`` the most where one reviewer judged all
    values of the type. ``fitted_on`` names the sources."""

    weights: dict[str, float]
    bound: float = Field(gt=0)
    alone: float = Field(gt=0)
    fitted_on: tuple[str, ...]

    @property
    def revision(self) -> str:
        """Changes with what could change a shift."""
        return stable_id("memory-weights", self.model_dump_json())[:16]

    def shift(self, features: Mapping[str, float], reviewers: int) -> float:
        """What is added to the log-odds of support, where so many ``reviewers`` judged the type."""
        moved = sum(self.weights.get(name, 0.0) * features[name] for name in sorted(features))
        most = self.bound if reviewers > 1 else self.alone
        return round(min(max(moved, -most), most), DECIMALS)


@lru_cache(maxsize=1)
def packaged_weights() -> MemoryWeights:
    """The weights that ship. Raises `ModelError` where the file is missing or malformed."""
    return read_contract(MemoryWeights, WEIGHTS, "file of a memory's weights")
