"""What `Verifier.check` makes of a result: the user's own object without what is not supported, or
an error that its maker can ask again with."""

import sys
from collections.abc import Collection
from typing import Any, Literal, get_args

from .facts import Facts
from .result import Result, Unsupported

OnFail = Literal["drop", "raise", "reask"]


class ObjectCheck:
    """One call of `Verifier.check`. Raises `TypeError` where the object cannot be checked, or
    ``on_fail`` does not exist."""

    def __init__(self, output: Any, on_fail: OnFail, skip: Collection[str]) -> None:
        if on_fail not in get_args(OnFail):
            raise TypeError(f"on_fail is {on_fail!r}; it may be {', '.join(get_args(OnFail))}")
        self.on_fail = on_fail
        self.skip = skip
        self.facts = Facts(output, skip)
        self.extractions = [fact.extraction for fact in self.facts.facts]

    def settled(self, result: Result, ids: list[str]) -> Any:
        """The object, without the facts that ``result`` does not accept; ``ids`` are those of the
        extractions, in order. Raises `Unsupported` where something is not supported, and
        ``on_fail`` says so, or it cannot go."""
        if len(result.accepted) == len(result.verdicts):
            return self.facts.output
        if self.on_fail == "raise":
            raise Unsupported(_message(result), result)
        if self.on_fail == "reask":
            raise _asking_again(result) if result.stopped else Unsupported(_message(result), result)
        return self.dropped(result, ids)

    def dropped(self, result: Result, ids: list[str]) -> Any:
        """The object without what ``result`` does not accept. Raises `Unsupported` where a part of
        it can be neither None nor left out."""
        supported = {verdict.extraction_id for verdict in result.accepted}
        facts = zip(self.facts.facts, ids, strict=True)
        gone = [fact.location for fact, identity in facts if identity not in supported]
        try:
            return self.facts.without(gone)
        except ValueError as error:
            raise Unsupported(f"{error}\n{_message(result)}".strip(), result) from None


def _message(result: Result) -> str:
    undetermined = result.undetermined
    unknown = f"{len(undetermined)} could not be judged." if undetermined else ""
    return "\n".join(filter(None, (result.feedback(), unknown)))


def _asking_again(result: Result) -> Unsupported:
    """A ValueError, which is what instructor's validators ask again with. Beside pydantic-ai it is
    a ModelRetry too, which is what that one's ask again with."""
    message = _message(result)
    pydantic_ai = sys.modules.get("pydantic_ai")
    if pydantic_ai is None:
        return Unsupported(message, result)
    retry: Any = type("UnsupportedRetry", (Unsupported, pydantic_ai.ModelRetry), {})
    made: Unsupported = retry(message, result)
    return made
