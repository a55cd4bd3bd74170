"""What an LLM's tokens cost, where the settings say it."""

from dataclasses import dataclass

from safepassage.schemas import Usage

from .settings import LLMSettings


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / 1_000_000


def configured_price(settings: LLMSettings) -> Price | None:
    """The price in ``settings``; None without both its halves."""
    into, out_of = settings.llm_input_usd_per_million, settings.llm_output_usd_per_million
    return None if into is None or out_of is None else Price(into, out_of)


def priced(usage: Usage, settings: LLMSettings) -> Usage:
    """``usage`` with its cost, where ``settings`` have a price."""
    if (price := configured_price(settings)) is None:
        return usage
    cost = price.of(usage.input_tokens, usage.output_tokens)
    return usage.model_copy(update={"cost_usd": cost})
