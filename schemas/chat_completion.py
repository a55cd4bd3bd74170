"""What is read of a chat completion, the one form that every LLM endpoint here answers in: in one
piece, or as a stream of chunks."""

from collections.abc import Sequence
from itertools import chain

from pydantic import BaseModel, ConfigDict, Field


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Token(BaseModel):
    token: str
    logprob: float = Field(le=0, allow_inf_nan=False)


class _Place(BaseModel):
    token: str = ""
    top_logprobs: list[_Token] = Field(default_factory=list, max_length=100)


class _Probabilities(BaseModel):
    content: list[_Place] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Probabilities | None = None


class _Tokens(BaseModel):
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class ChatCompletion(BaseModel):
    """An answer of ``/chat/completions``; compatible endpoints differ in the rest, which is
    ignored. ``usage`` may be missing and then counts as no tokens."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None

    @property
    def content(self) -> str:
        """What the model wrote; empty where it wrote nothing."""
        return self.choices[0].message.content or ""

    @property
    def tokens(self) -> tuple[tuple[str, dict[str, float]], ...]:
        """Each token of the answer with the likeliest ones in its place and their
        log-probabilities; empty where the endpoint tells none."""
        told = self.choices[0].logprobs
        return tuple(
            (place.token, {one.token: one.logprob for one in place.top_logprobs})
            for place in ((told and told.content) or ())
        )

    @property
    def declined(self) -> bool:
        """The model refused to answer."""
        return bool(self.choices[0].message.refusal)

    @property
    def withheld(self) -> bool:
        """A content filter kept the answer back."""
        return self.choices[0].finish_reason == "content_filter"

    @property
    def broke_off(self) -> bool:
        """The answer was longer than the endpoint allows."""
        return self.choices[0].finish_reason == "length"

    @property
    def input_tokens(self) -> int:
        return self.usage.prompt_tokens if self.usage else 0

    @property
    def output_tokens(self) -> int:
        return self.usage.completion_tokens if self.usage else 0


class _Delta(_Message):
    """``extra``: what a model thinks aloud has another name with every endpoint."""

    model_config = ConfigDict(extra="allow")


class _Part(BaseModel):
    delta: _Delta
    finish_reason: str | None = None
    logprobs: _Probabilities | None = None


class _PromptProgress(BaseModel):
    processed: int = 0


class CompletionChunk(BaseModel):
    """One event of a stream. ``prompt_progress`` is llama.cpp's, while it reads the prompt."""

    choices: list[_Part] = Field(default_factory=list)
    usage: _Tokens | None = None
    prompt_progress: _PromptProgress | None = None

    @property
    def is_progress(self) -> bool:
        """Whether the model came on: to a token, to the end, or in reading the prompt. What only
        keeps a connection open is left out."""
        if self.prompt_progress and self.prompt_progress.processed:
            return True
        return any(
            part.finish_reason
            or any(said for name, said in part.delta.model_dump().items() if name != "role")
            for part in self.choices
        )


def joined(chunks: Sequence[CompletionChunk]) -> ChatCompletion | None:
    """The chunks of a stream as if they had come in one piece; None where the model did not say why
    it stopped: such a stream broke off."""
    parts = [chunk.choices[0] for chunk in chunks if chunk.choices]
    reasons = [part.finish_reason for part in parts if part.finish_reason]
    if not reasons:
        return None
    told = [part.logprobs.content or [] for part in parts if part.logprobs]
    places = list(chain.from_iterable(told))
    message = _Message(
        content="".join(part.delta.content or "" for part in parts),
        refusal="".join(part.delta.refusal or "" for part in parts) or None,
    )
    choice = _Choice(
        message=message,
        finish_reason=reasons[-1],
        logprobs=_Probabilities(content=places) if places else None,
    )
    usages = [chunk.usage for chunk in chunks if chunk.usage]
    return ChatCompletion(choices=[choice], usage=usages[-1] if usages else None)
