"""The user's own object comes back as far as its document supports it, or asks again by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

import pytest
from pydantic import BaseModel, Field, ValidationError, ValidationInfo, model_validator
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from safepassage import Entity, Extraction, Result, Unsupported, Verifier, extractions_of

from .scorers import WordScorer

TEXT = (
    "The Tenant shall pay a monthly rent of £1,250 on the first day of each month. "
    "The lease begins on 3 May 2021. A deposit of £1,500 is held by the agent. "
    "Excess: £200 for the first claim, £400 for the second."
)
RENT = "a monthly rent of £1,250"


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    with Verifier(WordScorer()) as made:
        yield made


class Lease(BaseModel):
    """Its strings are their own quotes; a number has one beside it."""

    tenant: str | None = None
    rent: int | None = None
    rent_quote: str | None = None


class Fact(BaseModel):
    value: str
    quote: str | list[str]


class Claim(BaseModel):
    excess: Fact | None = None


class Policy(BaseModel):
    claim: Claim
    claims: list[Claim] = []
    number: str = "P-1"


class Rent(Entity):
    amount: str


class Lets(BaseModel):
    rent: Rent | None = None
    rents: list[Rent] = Field(default_factory=list)


def test_what_is_supported_comes_back_as_it_is(verifier: Verifier):
    lease = Lease(tenant="The Tenant", rent=250, rent_quote=RENT)
    assert verifier.check(lease, TEXT) is lease


def test_what_is_not_supported_is_none_with_its_quote(verifier: Verifier):
    lease = Lease(tenant="Mary Stone of Perth", rent=950, rent_quote=RENT)
    found = verifier.check(lease, TEXT)
    assert found == Lease()
    assert lease.rent == 950, "what was given is not changed"


def test_paths_lead_through_models_and_lists_into_feedback(verifier: Verifier):
    good = Fact(value="£200", quote="Excess: £200 for the first claim")
    bad = Fact(value="£900", quote=["£200 for the first", "£400 for the second"])
    policy = Policy(claim=Claim(excess=bad), claims=[Claim(excess=good), Claim(excess=bad)])
    seen: list[Result] = []
    found = verifier.check(policy, TEXT, skip=["number"], on_result=seen.append)
    assert found.claim.excess is None
    assert [claim.excess for claim in found.claims] == [good, None]
    (result,) = seen
    assert [v.field.name for v in result.verdicts if v.field] == [
        "claim.excess",
        "claims.excess",
        "claims.excess",
    ]
    assert "- claim.excess (Excess): £900" in result.feedback()
    assert "claim.excess (Excess): £900" in str(result)


def test_entities_and_extractions_are_facts_wherever_they_stand(verifier: Verifier):
    good = Rent(context=RENT, amount="£1,250")
    bad = Rent(context=RENT, amount="£9")
    assert verifier.check(Lets(rent=bad, rents=[bad, good]), TEXT) == Lets(rents=[good])

    @dataclass
    class Held:
        """No pydantic model."""

        deposit: Extraction | None
        others: list[Extraction] = field(default_factory=list)

    one = Extraction("Deposit", "£1,500", quote="A deposit of £1,500")
    two = Extraction("Deposit", "£2,500", quote="A deposit of £1,500")
    assert verifier.check(Held(two, [one, two]), TEXT) == Held(None, [one])
    assert verifier.check([one, two, one], TEXT) == [one, one]


def test_langextracts_document_comes_back_without_what_is_not_supported(verifier: Verifier):
    @dataclass
    class Found:
        extraction_class: str
        extraction_text: str
        attributes: dict[str, str] | None = None

    @dataclass
    class Annotated:
        text: str
        extractions: list[Found] | None

    rows = [Found("rent", RENT), Found("guarantor", "Ann Lee of Leith, guarantor")]
    given = Annotated(TEXT, rows)
    assert verifier.check(given, TEXT).extractions == rows[:1]
    assert given.extractions == rows


class Frequency(Enum):
    MONTHLY = "monthly"


class Categories(BaseModel):
    every: Frequency | None = None
    kind: Literal["house", "flat"] | None = None
    furnished: bool | None = None


@pytest.mark.parametrize(
    "given", [{"every": "monthly"}, {"kind": "flat"}, {"furnished": False}], ids=str
)
def test_a_value_that_nothing_is_quoted_for_is_refused_and_not_passed_through(
    verifier: Verifier, given: dict[str, object]
):
    (name,) = given
    with pytest.raises(TypeError, match=rf"nothing is quoted for {name}: .*{name}_quote"):
        verifier.check(Categories.model_validate(given), TEXT)
    assert verifier.check(Categories.model_validate(given), TEXT, skip=[name])


@pytest.mark.parametrize("given", [None, 3, "text", object()], ids=["None", "3", "text", "object"])
def test_what_is_no_object_is_refused(verifier: Verifier, given: object):
    with pytest.raises(TypeError, match="cannot be checked"):
        verifier.check(given, TEXT)


def test_a_model_without_a_place_for_an_entity_has_no_extractions_and_says_so():
    with pytest.raises(TypeError, match=r"Lease has no field for an Entity.*Verifier\.check"):
        extractions_of(Lease(tenant="Ann"))
    assert extractions_of(Lets()) == []


class Strict(BaseModel):
    tenant: str
    names: list[str] = Field(default_factory=list, min_length=1)


def test_a_field_that_cannot_be_none_raises_instead_of_passing(verifier: Verifier):
    with pytest.raises(Unsupported, match=r"tenant .* cannot be None"):
        verifier.check(Strict(tenant="Mary Stone of Perth", names=["The Tenant"]), TEXT)
    with pytest.raises(Unsupported, match="names would be too short"):
        verifier.check(Strict(tenant="The Tenant", names=["Mary Stone of Perth"]), TEXT)


def test_raising_tells_what_to_correct_and_keeps_the_verdicts(verifier: Verifier):
    with pytest.raises(Unsupported, match="copy every quote") as raised:
        verifier.check(Lease(tenant="The lease begins in June 2022"), TEXT, on_fail="raise")
    assert [v.decision for v in raised.value.result.verdicts] == ["quarantined"]
    assert isinstance(raised.value, ValueError)


def test_a_scorer_that_cannot_judge_supports_nothing(verifier: Verifier):
    class Silent(WordScorer):
        def _one(self, pair):
            found = super()._one(pair)
            gone = {"score": None, "threshold": None, "failure": "scorer_failed"}
            return found.model_copy(update=gone | {"findings": ()})

    with Verifier(Silent()) as silent:
        lease = Lease(tenant="The Tenant")
        assert silent.check(lease, TEXT) == Lease()
        for on_fail in ("raise", "reask"):
            with pytest.raises(Unsupported, match="could not be judged") as raised:
                silent.check(lease, TEXT, on_fail=on_fail)
            assert not isinstance(raised.value, ModelRetry), "asking again would change nothing"


def test_asking_again_happens_once_and_the_rest_is_dropped(verifier: Verifier):
    asked: list[str] = []

    def reask(result: Result) -> Lease:
        asked.append(result.feedback())
        return Lease(tenant="Mary Stone of Perth", rent=250, rent_quote=RENT)

    given = Lease(tenant="Mary Stone of Perth", rent=9, rent_quote=RENT)
    found = verifier.check(given, TEXT, on_fail="reask", reask=reask)
    assert found == Lease(rent=250, rent_quote=RENT)
    assert len(asked) == 1
    with pytest.raises(TypeError, match="reask gave None"):
        verifier.check(given, TEXT, on_fail="reask", reask=lambda _: None)
    with pytest.raises(TypeError, match="on_fail"):
        verifier.check(given, TEXT, on_fail="ignore")


# --- by themselves ----------------------------------------------------------------------------


def instructors_loop(model: type[BaseModel], answers: list[dict[str, object]], context: object):
    """What instructor documents: the model is validated with the context of the call; the text of
    a ValidationError goes back to the LLM, until the retries are used up."""
    told: list[str] = []
    for answer in answers:
        try:
            return model.model_validate(answer, context=context), told
        except ValidationError as error:
            told.append(str(error))
    raise AssertionError(told)


def test_instructors_retries_work_by_themselves(verifier: Verifier):
    class Checked(Lease):
        @model_validator(mode="after")
        def supported(self, info: ValidationInfo) -> Checked:
            return verifier.check(self, info.context["text"], on_fail="reask")

    answers = [{"rent": 9, "rent_quote": RENT}, {"rent": 250, "rent_quote": RENT}]
    found, told = instructors_loop(Checked, answers, {"text": TEXT})
    assert found.rent == 250
    assert "copy every quote from the document" in told[0]


def test_pydantic_ais_retries_work_by_themselves(verifier: Verifier):
    answers = iter([{"rent": 9, "rent_quote": RENT}, {"rent": 250, "rent_quote": RENT}])
    told: list[str] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        (tool,) = info.output_tools
        told.append(repr(messages[-1]))
        return ModelResponse(parts=[ToolCallPart(tool.name, next(answers))])

    agent = Agent(FunctionModel(answer), output_type=Lease, retries=1)

    @agent.output_validator
    async def supported(lease: Lease) -> Lease:
        return await verifier.acheck(lease, TEXT, on_fail="reask")

    run = asyncio.run(agent.run(TEXT))
    assert run.output.rent == 250
    assert len(told) == 2
    assert "copy every quote from the document" in told[1]
    assert verifier.check(run, TEXT) is run.output
