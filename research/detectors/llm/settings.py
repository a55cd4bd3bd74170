"""How the papers' methods ask an LLM."""

from pathlib import Path

from pydantic import Field

from safepassage.llm_calls.settings import GraderSettings
from safepassage.scoring_worker.detectors.contract import DetectorSettings


class MethodSettings(GraderSettings):
    """``SAFEPASSAGE_*`` of the environment, with what only a clone uses.

    ``llm_answers`` is a file of kept answers (`answer_cache`): it holds what was said of your
    texts. ``llm_samples`` are the further answers that SelfCheckGPT draws where an answer comes
    without any. A question of more than ``max_prompt_characters`` is not asked.
    """

    llm_answers: Path | None = None
    llm_samples: int = Field(default=5, ge=1, le=50)
    max_prompt_characters: int = Field(default=200_000, ge=1)


def method_settings(settings: DetectorSettings) -> MethodSettings:
    """Those of ``settings``, or of the environment.

    Raises:
        TypeError: they are of a scorer.
    """
    given = settings.llm or MethodSettings()
    if not isinstance(given, MethodSettings):
        raise TypeError("a method of a paper needs MethodSettings")
    return given
