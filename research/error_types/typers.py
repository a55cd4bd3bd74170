"""The typers by name."""

from typing import Literal

from .contract import ErrorTyper

TyperName = Literal["local", "llm"]


def load_typer(name: TyperName) -> ErrorTyper:
    """The typer of that name.

    Raises:
        ModelError: the weights of "local" are missing or malformed.
    """
    if name == "local":
        from .local import LocalTyper  # noqa: PLC0415 (its weights)

        return LocalTyper.load()
    from .llm import LLMTyper  # noqa: PLC0415 (openai is slow to import)

    return LLMTyper()
