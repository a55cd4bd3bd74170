"""What is read of a chat completion, the one form that every LLM endpoint here answers in."""

from pydantic import BaseModel, Field


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Token(BaseModel):
    token: str
    logprob: float = Field(le=0, allow_inf_nan=False)


class _Place(BaseModel):
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
    def text(self) -> str:
        """What the model wrote; empty where it wrote nothing."""
        return self.choices[0].message.content or ""

    @property
    def first_token(self) -> dict[str, float]:
        """The likeliest first tokens with their log-probabilities; empty where the endpoint tells
        none."""
        told = self.choices[0].logprobs
        if told is None or not told.content:
            return {}
        return {one.token: one.logprob for one in told.content[0].top_logprobs}

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
