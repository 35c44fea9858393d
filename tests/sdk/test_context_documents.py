"""A provider's document with its system prompt beside the list, given to ``apply_context_window``."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from agent.errors import BudgetTooSmall, ValidationError
from agent.sdk import ContextDocument, Message, apply_context_window
from tests.formats.providers.rules import problems
from tests.sdk.memories import in_memory

PROMPT = "You are the parcel desk. Be brief."
SPOKEN = [("user" if number % 2 == 0 else "assistant", f"Line {number}.") for number in range(101)]
CHAT = [{"role": role, "content": text} for role, text in SPOKEN]
BEDROCK = [{"role": role, "content": [{"text": text}]} for role, text in SPOKEN]
GEMINI = [{"role": "user" if role == "user" else "model", "parts": [{"text": text}]} for role, text in SPOKEN]
LANGCHAIN = [{"type": "human" if role == "user" else "ai", "content": text} for role, text in SPOKEN]
BLOCK = {"type": "text", "text": PROMPT, "cache_control": {"type": "ephemeral"}}
DOCUMENTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "anthropic": ("anthropic", "messages", {"system": PROMPT, "messages": CHAT}),
    "anthropic blocks": ("anthropic", "messages", {"system": [BLOCK], "messages": CHAT}),
    "bedrock": ("bedrock-converse", "messages", {"system": [{"text": PROMPT}], "messages": BEDROCK}),
    "gemini": ("gemini", "contents", {"systemInstruction": {"parts": [{"text": PROMPT}]}, "contents": GEMINI}),
    "gemini in python": ("gemini", "contents", {"config": {"system_instruction": PROMPT}, "contents": GEMINI}),
    "responses": ("openai-responses", "input", {"instructions": PROMPT, "input": CHAT}),
    "chat": ("openai-chat", "messages", {"messages": [{"role": "system", "content": PROMPT}, *CHAT]}),
}
# How much its system prompt takes as a message of a list.
COUNTED = apply_context_window([{"role": "system", "content": PROMPT}], 100, 0).manifest.by_role["system"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_it_comes_back_as_such_a_document_with_the_system_prompt_kept_and_counted(name: str):
    form, member, document = DOCUMENTS[name]
    given = {**document, "model": "some-model", "tools": [{"name": "track"}]}
    before = copy.deepcopy(given)
    back = apply_context_window(given, 200, 0)
    assert isinstance(back, ContextDocument)
    assert given == before
    assert back.keys() == given.keys()
    assert all(back[other] is given[other] for other in given if other != member)
    assert back.manifest.by_role["system"] == COUNTED
    assert back.manifest.tokens <= 200
    assert 0 < len(back[member]) < len(given[member])
    assert back[member][-1] is given[member][-1]
    assert back.manifest.kept + back.manifest.dropped == 102
    assert problems(form, {other: back[other] for other in document}) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_it_fits_from_the_least_budget_that_it_says(name: str):
    form, _, document = DOCUMENTS[name]
    with pytest.raises(BudgetTooSmall) as caught:
        apply_context_window(document, COUNTED, 0)
    needed = caught.value.needed
    assert needed > COUNTED
    for budget in (needed, needed + 1, *range(needed + 10, 300, 29)):
        back = apply_context_window(document, budget, 0)
        assert back.manifest.tokens <= budget
        assert problems(form, dict(back)) == []


def test_the_list_alone_is_not_given_as_much_room_as_with_no_system_prompt():
    alone = apply_context_window({"messages": CHAT}, 200, 0)
    assert set(alone) == {"messages"}
    assert "system" not in alone.manifest.by_role
    assert alone.manifest.kept > apply_context_window({"system": PROMPT, "messages": CHAT}, 200, 0).manifest.kept - 1


@pytest.mark.parametrize(
    "form",
    ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse", "openai-agents", "langchain"],
)
def test_the_document_of_a_session_may_be_cut_further(form: str):
    with in_memory() as memory:
        session = memory.for_session("chat-7")
        session.extend([Message("system", PROMPT), *(Message(role, text) for role, text in SPOKEN)])
        document = session.context(max_tokens=10_000, format=form).document
    assert document is not None
    back = apply_context_window(document, 200, 0)
    assert back.keys() == document.keys()
    assert back.manifest.by_role["system"] == COUNTED
    # In LangChain's lists the marker is a message of the system where it stands.
    assert [each for each in problems(form, dict(back)) if "the system within" not in each] == []
    assert apply_context_window(document, 10_000) == document


def test_a_graph_s_state_of_langchain_is_a_document_too():
    back = apply_context_window({"messages": LANGCHAIN, "step": 4}, 200, 0)
    assert back["step"] == 4
    assert {message.get("type", message.get("role")) for message in back["messages"]} == {"human", "ai", "system"}


def test_it_may_be_asked_for_as_the_document_of_another_provider():
    back = apply_context_window({"system": PROMPT, "messages": CHAT}, 200, 0, format="openai-chat")
    assert back.keys() == {"messages"}
    assert back["messages"][0] == {"role": "system", "content": PROMPT}
    assert problems("openai-chat", dict(back)) == []


@pytest.mark.parametrize(
    "document", [{"system": PROMPT, "messages": []}, {"systemInstruction": PROMPT, "contents": []}]
)
def test_with_an_empty_list_its_system_prompt_still_counts(document: dict[str, Any]):
    back = apply_context_window(document, 200, 0)
    assert back == document
    assert back.manifest.by_role == {"system": COUNTED}
    with pytest.raises(BudgetTooSmall):
        apply_context_window(document, COUNTED - 1, 0)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"system": PROMPT},
        {"input": "hello"},
        {"messages": "hello"},
        {"messages": [Message("user", "hi")]},
        {"messages": [7]},
    ],
)
def test_what_is_no_document_is_refused(document: dict[str, Any]):
    with pytest.raises(ValidationError) as caught:
        apply_context_window(document, 9000)
    assert caught.value.problems[0].path.startswith("$.messages")
