"""The generic guardrail API of LiteLLM, as its proxy calls it."""

from __future__ import annotations

from typing import Any

from .running import TEXT, running

PATH = "/beta/litellm_basic_guardrail_api"
SUPPORTED = "a monthly rent of £1,250"
ANSWER = f"{SUPPORTED}. Dogs are welcome in the garden."


def call(**changes: Any) -> dict[str, Any]:
    """A post-call request of LiteLLM's."""
    return {
        "input_type": "response",
        "texts": [ANSWER],
        "images": None,
        "tools": None,
        "request_data": {"user_api_key_alias": "intake"},
        "litellm_call_id": "c1",
        "litellm_trace_id": "t1",
        "additional_provider_specific_params": {"context": TEXT},
    } | changes


async def decided(**changes: Any) -> dict[str, Any]:
    async with running() as client:
        answer = await client.post(PATH, json=call(**changes))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_an_answer_that_is_supported_passes():
    assert await decided(texts=[SUPPORTED]) == {"action": "NONE"}
    assert await decided(texts=[SUPPORTED, SUPPORTED]) == {"action": "NONE"}


async def test_an_answer_with_a_sentence_that_is_not_supported_is_blocked_without_quoting_it():
    said = await decided()
    assert said["action"] == "BLOCKED"
    assert said["blocked_reason"].startswith("1 of 2 sentences are not supported by the context")
    assert "sentence 2 (" in said["blocked_reason"]
    assert "Dogs" not in said["blocked_reason"]
    assert (await decided(texts=[SUPPORTED, ANSWER]))["action"] == "BLOCKED"


async def test_such_a_sentence_can_be_removed_instead():
    remove = {"context": [TEXT], "on_unsupported": "remove"}
    said = await decided(texts=["", ANSWER], additional_provider_specific_params=remove)
    assert said == {"action": "GUARDRAIL_INTERVENED", "texts": ["", f"{SUPPORTED}."]}
    nothing_left = await decided(
        texts=["Dogs are welcome in the garden."], additional_provider_specific_params=remove
    )
    assert nothing_left["action"] == "BLOCKED"


async def test_without_a_context_nothing_passes():
    for parameters in (None, {}, {"context": " "}, {"context": []}):
        said = await decided(texts=[SUPPORTED], additional_provider_specific_params=parameters)
        assert said["action"] == "BLOCKED"
        assert "no context" in said["blocked_reason"]


async def test_the_context_may_stand_in_messages_but_not_in_the_users_own_words():
    part = [{"type": "text", "text": TEXT}, {"type": "image_url", "image_url": {}}]
    for role, content, parameters, action in (
        ("system", TEXT, {}, "NONE"),
        ("tool", part, {}, "NONE"),
        ("user", TEXT, {}, "BLOCKED"),
        ("user", TEXT, {"context_roles": ["user"]}, "NONE"),
    ):
        said = await decided(
            texts=[SUPPORTED],
            structured_messages=[{"role": role, "content": content}],
            additional_provider_specific_params=parameters,
        )
        assert said["action"] == action, (role, parameters)


async def test_what_is_asked_of_the_llm_and_answers_without_a_text_are_let_through():
    assert await decided(input_type="request", texts=["anything"]) == {"action": "NONE"}
    assert await decided(texts=[]) == {"action": "NONE"}
    assert await decided(texts=None) == {"action": "NONE"}
    assert await decided(texts=[" "]) == {"action": "NONE"}
