"""The packs by name: ``SAFEPASSAGE_PACKS=legal,contracts``, none by default."""

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Comparison, Question
from safepassage.scoring_worker.comparison.founded_words import without_words_finding
from safepassage.scoring_worker.manifest import ModelError

from .interface import Pack, PackOpinion


class UnknownPack(ModelError):
    """A pack was asked for that does not exist; the message lists those that do."""


_PACKS = {"contracts": "ContractsPack", "legal": "LegalPack"}
"""The class of each, in the module ``pack`` of its room: it costs nothing until it is asked for."""
NAMES = tuple(_PACKS)


class PackSettings(BaseSettings):
    """Which packs are at work where nothing else is said: names with commas between."""

    model_config = SettingsConfigDict(env_prefix="SAFEPASSAGE_", frozen=True, extra="ignore")

    packs: str = Field(default="")


def packs_of_environment() -> tuple[Pack, ...]:
    """The packs of ``SAFEPASSAGE_PACKS``. Raises `UnknownPack` where there is no pack of that
    name."""
    return packs_named(PackSettings().packs.split(","))


def packs_named(names: Iterable[str]) -> tuple[Pack, ...]:
    """The packs of these names, each once, in alphabetical order. Raises `UnknownPack` where there
    is no pack of that name."""
    wanted = sorted({name.strip().casefold() for name in names} - {""})
    unknown = [name for name in wanted if name not in _PACKS]
    if unknown:
        known = ", ".join(NAMES)
        raise UnknownPack(f"no pack {', '.join(map(repr, unknown))}; there are: {known}")
    found = (getattr(import_module(f"{__package__}.{name}.pack"), _PACKS[name]) for name in wanted)
    return tuple(pack() for pack in found)


def with_packs(
    packs: Iterable[Pack], question: Question, comparison: Comparison
) -> tuple[Comparison, dict[str, float]]:
    """``comparison`` with what the packs found, and their features.

    A pack may know another name of the value, which is then looked for in the quote as any value
    is; beyond that it can only make the answer *different*.
    """
    features: dict[str, float] = {}
    for pack in packs:
        comparison = _by_another_name(pack, question, comparison)
        opinion: PackOpinion = pack.opinion(question, comparison)
        features.update(opinion.features)
        if opinion.in_other_words:
            comparison = without_words_finding(comparison)
        comparison = replace(
            comparison,
            answer="different" if opinion.different else comparison.answer,
            findings=(*comparison.findings, *opinion.findings),
        )
    return comparison, features


def _by_another_name(pack: Pack, question: Question, comparison: Comparison) -> Comparison:
    """``comparison``, or that of the first synonym that the quote holds."""
    if comparison.answer == "same":
        return comparison
    asked = (replace(question, value=name) for name in pack.synonyms(question))
    return next((found for found in map(compare, asked) if found.answer == "same"), comparison)
