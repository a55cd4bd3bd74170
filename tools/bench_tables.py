"""Tables of `safepassage bench`, and the plan that follows from them."""

from typing import Any

from safepassage.llm_calls.settings import LLMSettings
from tools.tables import read, table

DOCUMENTS_A_DAY = 10_000_000
SECONDS_A_DAY = 86_400
# The share of a core's time that the plan takes: the rest is for peaks and rebalances.
TAKEN = 0.5
LLM_SECONDS = 5.0
LLM_CONCURRENCY = LLMSettings.model_fields["llm_concurrency"].default
CHARACTERS_A_TOKEN = 4

WORKLOADS = ("as they are", "four texts each, entities of one")


def growth() -> str:
    """How times grow with length and entities."""
    heads = ["documents", "characters", "entities", "p50", "p99", "extract", "align", "score"]
    rows = []
    for name, run in zip(WORKLOADS, read("bench.json"), strict=True):
        waits = [f"{run['end_to_end'][p]:.1f} s" for p in ("p50", "p99")]
        each = [_cpu(run, role) for role in ("extract", "align", "score")]
        rows.append(
            [
                name,
                f"{run['characters']:,.0f}",
                f"{_entities(run):.1f}",
                *waits,
                *(f"{1000 * seconds:.1f} ms" for seconds in each),
            ]
        )
    return table(heads, rows)


def plan() -> str:
    """What ten million documents a day take, by the service times of the first workload."""
    run = read("bench.json")[0]
    rate = DOCUMENTS_A_DAY / SECONDS_A_DAY
    entities = _entities(run)
    alone = read("scoring-speed.json")["rates"]["cpu"]["pairs_per_cpu_second"]["as it ships"]
    rows = [["documents", f"{rate:,.0f} a second"]]
    rows.append(["extractions", f"{rate * entities:,.0f} a second"])
    for role, times in (("extract", 1.0), ("align", entities), ("score", entities)):
        cores = rate * times * _cpu(run, role) / TAKEN
        rows.append([f"cores of `{role}`", f"{cores:,.0f}"])
    cores = rate * entities / alone / TAKEN
    rows.append(["cores of `score`, by the small reader alone", f"{cores:,.0f}"])
    calls = rate * LLM_SECONDS
    rows.append([f"calls of the LLM at once, of {LLM_SECONDS:.0f} s each", f"{calls:,.0f}"])
    rows.append(
        [
            f"workers of `extract`, of {LLM_CONCURRENCY} calls each",
            f"{calls / LLM_CONCURRENCY:,.0f}",
        ]
    )
    tokens = DOCUMENTS_A_DAY * run["characters"] / CHARACTERS_A_TOKEN / 1e9
    rows.append(["tokens of the documents alone", f"{tokens:,.1f} thousand million a day"])
    return table(["for ten million documents a day", ""], rows)


def _entities(run: dict[str, Any]) -> float:
    return float(run["verdicts"] / run["ended"])


def _cpu(run: dict[str, Any], role: str) -> float:
    (found,) = [one for one in run["roles"] if one["role"] == role]
    return float(found["cpu_seconds_per_record"])
