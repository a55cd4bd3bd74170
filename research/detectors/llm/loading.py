"""The LLM's methods as detectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from research.detectors.llm.settings import method_settings
from safepassage.scoring_worker.detectors.contract import DetectorSettings

from .batch_calls import Asker
from .claim_verification import ClaimsVerified
from .detector import LLMDetector, Method
from .one_question import DirectPrompting, LynxPrompt
from .refchecker import RefChecker

if TYPE_CHECKING:
    from research.detectors.nli.pairs import PairProbabilities

_METHODS: Final[dict[str, Callable[[], Method]]] = {
    "direct_prompt": DirectPrompting,
    "lynx_prompt": LynxPrompt,
    "refchecker": RefChecker,
    "claims_verified": ClaimsVerified,
}


def load_method(name: str, settings: DetectorSettings) -> LLMDetector:
    """The method of that name, asked of the endpoint that the settings name."""
    return LLMDetector(name, _METHODS[name](), asker_of(settings))


def load_self_check(settings: DetectorSettings) -> LLMDetector:
    """SelfCheckGPT, several generations, with the NLI model of the paper.

    Raises:
        ModelError: the NLI model's weights are not there.
    """
    from research.detectors.nli.pairs import cross_encoder  # noqa: PLC0415
    from safepassage.scoring_worker.encoders.published import CONTEXT_NLI, HEADS  # noqa: PLC0415

    named = settings.model or CONTEXT_NLI
    pairs = cross_encoder(named, settings, HEADS[CONTEXT_NLI], contradicts=True)
    return _self_check("self_check", pairs, settings)


def load_reader_samples(settings: DetectorSettings) -> LLMDetector:
    """SelfCheckGPT with the reader that ships in place of the paper's NLI model.

    Raises:
        ModelError: the reader's files are missing or altered.
    """
    from research.detectors.nli.pairs import reader_pairs  # noqa: PLC0415

    pairs = reader_pairs(settings.model or "default", settings, inverted=True)
    return _self_check("reader_samples", pairs, settings)


def _self_check(name: str, pairs: PairProbabilities, settings: DetectorSettings) -> LLMDetector:
    from .self_check import SelfCheck  # noqa: PLC0415

    asker = asker_of(settings)
    return LLMDetector(name, SelfCheck(pairs, asker.settings.llm_samples), asker)


def asker_of(settings: DetectorSettings) -> Asker:
    """Who asks, as the settings or the environment say."""
    return Asker(method_settings(settings))
