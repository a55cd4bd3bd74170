"""SelfCheckGPT with several generations: is each sentence consistent with further answers?

Manakul et al. 2023, section 5.4 (NLI): a sentence's hallucination score is the mean, over the
samples, of p(contradiction); the paper here takes the maximum over sentences for the answer
(section 5.3). As grounding, 1 minus it: mean over samples, minimum over sentences.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import numpy as np
from pydantic import Field

from research.detectors.nli.pairs import PairProbabilities
from research.windows import windows
from safepassage.passages.granularity import aggregate, claims
from safepassage.scoring_worker.detectors.contract import Answer, ClaimGrounding, Grounding

from .batch_calls import Conversation
from .prompting import AnswerForm, Prompt, passages, prompt, prompts_digest

SYSTEM: Final = """\
You answer a question from the context that is given with it and from nothing else. Write plain
prose of a few sentences. Where the context does not answer the question, say so.
"""


class SampledAnswer(AnswerForm):
    """One generation."""

    answer: str = Field(min_length=1)


def ask(answer: Answer) -> Prompt[SampledAnswer]:
    """The query of ``answer`` again."""
    material = {
        "QUESTION": answer.query or "What does the context say?",
        "CONTEXT": passages(answer.context),
    }
    return prompt("sampled_answer", SYSTEM, material, "Answer the question.", SampledAnswer)


TEMPERATURE = 1.0
SAMPLE_CHARACTERS = 1_200
"""About what an NLI model of 512 tokens reads beside a sentence; longer samples are cut."""


def sentence_score(contradictions: Sequence[float | None]) -> float | None:
    """1 minus the mean p(contradiction) over the samples; None where one is not known."""
    mean = aggregate("mean", contradictions)
    return None if mean is None else 1.0 - mean


class SelfCheck:
    """Draws further answers where there are none, and holds every sentence against each.

    ``contradiction`` gives p(a text contradicts a sentence); None where it cannot.
    """

    def __init__(self, contradiction: PairProbabilities, samples: int) -> None:
        self.digest = prompts_digest(SYSTEM, SampledAnswer, samples, contradiction.revision)
        self._contradiction = contradiction
        self._samples = samples

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """As grounded as the least consistent sentence."""
        drawn = list(answer.samples) or await self._draw(conversation, answer)
        drawn = [text for text in drawn if text.strip()]
        sentences = claims(answer.response)
        if not drawn or not sentences:
            return Grounding.undetermined("no_samples" if not drawn else "no_claims")
        texts = [answer.response[start:end] for start, end in sentences]
        # Off the loop: the model computes for seconds, and other conversations have timeouts.
        contradicted = await asyncio.to_thread(self._contradictions, drawn, texts)
        judged = []
        for place, row in zip(sentences, contradicted, strict=True):
            score = sentence_score(row)
            failure = "pair_not_scored" if score is None else None
            judged.append(ClaimGrounding(*place, score, failure))
        score = aggregate("min", [claim.score for claim in judged])
        failure = "pair_not_scored" if score is None else None
        return Grounding(score=score, failure=failure, claims=tuple(judged))

    async def _draw(self, conversation: Conversation, answer: Answer) -> list[str]:
        asked = ask(answer)
        asking = [
            conversation.ask(asked, temperature=TEMPERATURE, sample=number)
            for number in range(self._samples)
        ]
        return [said.answer for said in await asyncio.gather(*asking)]

    def _contradictions(
        self, drawn: Sequence[str], texts: Sequence[str]
    ) -> list[list[float | None]]:
        """p(contradiction) [sentences][samples]. A sample longer than a window contradicts as its
        mildest window does: that the others speak of something else is no contradiction."""
        places = [
            (number, window.start, window.end)
            for number in range(len(drawn))
            for window in windows([drawn[number]], SAMPLE_CHARACTERS)
        ]
        premises = [drawn[n][start:end] for _ in texts for n, start, end in places]
        hypotheses = [text for text in texts for _ in places]
        flat = self._contradiction.probabilities(premises, hypotheses)
        rows = flat.reshape(len(texts), len(places)) if places else np.zeros((len(texts), 0))
        return [[_mildest(row, places, n) for n in range(len(drawn))] for row in rows]


def _mildest(row: np.ndarray, places: Sequence[tuple[int, int, int]], sample: int) -> float | None:
    own = [float(p) for p, (number, _, _) in zip(row, places, strict=True) if number == sample]
    return None if not own or any(np.isnan(own)) else min(own)
