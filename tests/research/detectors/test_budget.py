"""A run's budget of tokens, shared by the detectors that ask an LLM."""

import pytest

from research.detectors.llm.settings import MethodSettings
from research.detectors.ragulator.zero_shot import ZeroShot
from research.detectors.registry import load_detector
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from tests.research.recorded import answers, recorded_llm


@pytest.fixture(scope="module")
def llm():
    with recorded_llm() as url:
        yield url


def settings(url: str, budget: int) -> MethodSettings:
    return MethodSettings(
        openai_base_url=url, model="recorded", llm_token_budget=budget, llm_concurrency=1
    )


def test_all_detectors_of_a_run_share_its_budget(llm: str) -> None:
    """What was not asked is undetermined."""
    given = settings(llm, 1)
    first, second = (
        load_detector(name, DetectorSettings(llm=given)).ground(answers())
        for name in ("direct_prompt", "lynx_prompt")
    )
    assert [one.failure for one in first] == [None, *["budget_spent"] * 3]
    assert {one.failure for one in second} == {"budget_spent"}


def test_the_zero_shot_detector_heeds_it() -> None:
    given = settings("http://127.0.0.1:9/v1", 0)
    [found] = ZeroShot(given).ground([Answer(("A text.",), "A claim.")])
    assert [claim.failure for claim in found.claims] == ["budget_spent"]
