"""The LLM's methods as detectors."""

from __future__ import annotations

from safepassage.llm_calls.settings import GraderSettings
from safepassage.scoring_worker.detectors.contract import DetectorSettings

from .batch_calls import Asker
from .claim_verification import ClaimsVerified
from .detector import LLMDetector
from .one_question import DirectPrompting, LynxPrompt
from .refchecker import RefChecker


def load_direct(settings: DetectorSettings) -> LLMDetector:
    """Direct prompting."""
    return LLMDetector("direct_prompt", DirectPrompting(), asker_of(settings))


def load_lynx(settings: DetectorSettings) -> LLMDetector:
    """A prompt in the form of Lynx; Lynx itself where the endpoint serves it."""
    return LLMDetector("lynx_prompt", LynxPrompt(), asker_of(settings))


def load_refchecker(settings: DetectorSettings) -> LLMDetector:
    """RefChecker."""
    return LLMDetector("refchecker", RefChecker(), asker_of(settings))


def load_claims_verified(settings: DetectorSettings) -> LLMDetector:
    """Claims extraction and verification."""
    return LLMDetector("claims_verified", ClaimsVerified(), asker_of(settings))


def load_self_check(settings: DetectorSettings) -> LLMDetector:
    """SelfCheckGPT, several generations, with the NLI model of the paper.

    Raises:
        ModelError: the NLI model's weights are not there.
    """
    from safepassage.scoring_worker.detectors.nli.detectors import CONTEXT_NLI, CONTRADICTS  # noqa: PLC0415
    from safepassage.scoring_worker.detectors.nli.pairs import cross_encoder  # noqa: PLC0415

    from .self_check import SelfCheck  # noqa: PLC0415

    pairs = cross_encoder(
        settings.model or CONTEXT_NLI, settings, label=CONTRADICTS, sentence_first=True
    )
    asker = asker_of(settings)
    return LLMDetector("self_check", SelfCheck(pairs, asker.settings.llm_samples), asker)


def load_self_check_reader(settings: DetectorSettings) -> LLMDetector:
    """SelfCheckGPT with the reader that ships in place of the paper's NLI model.

    Raises:
        ModelError: the reader's files are missing or altered.
    """
    from safepassage.scoring_worker.detectors.nli.pairs import reader_pairs  # noqa: PLC0415

    from .self_check import SelfCheck  # noqa: PLC0415

    pairs = reader_pairs(settings.model or "default", settings, inverted=True)
    asker = asker_of(settings)
    return LLMDetector("self_check_reader", SelfCheck(pairs, asker.settings.llm_samples), asker)


def asker_of(settings: DetectorSettings) -> Asker:
    """Who asks, as the settings or the environment say."""
    return Asker(settings.llm or GraderSettings())
