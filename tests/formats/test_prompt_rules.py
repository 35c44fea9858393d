"""The rules of providers refuse what providers refuse: lists that our writers make of conversations as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.formats import WRITES
from agent.formats.writers import writer
from tests.formats.prompted import conversation
from tests.formats.providers.rules import FORMATS, problems
from tests.formats.small_sessions import assistant, result, user

RECORDS = {"openai-chat", "openai-responses", "openai-agents", "pydantic-ai", "otel-genai", "openinference"}
ALTERNATING = {"anthropic", "bedrock-converse", "gemini", "sharegpt"}


def system(content: str) -> dict[str, Any]:
    return {"role": "system", "content": content}


CALL = assistant("", ("call_1", "go", {}))
BOTH = assistant("", ("call_1", "go", {}), ("call_2", "go", {}))
RESULT = result("call_1", "go", "gone")

# What is wrong, and which formats have nothing against it.
WRONG: dict[str, tuple[list[dict[str, Any]], set[str]]] = {
    "a result of no call": ([user("a"), result("call_9", "go", "gone"), assistant("b")], set()),
    "a call without its result": ([user("a"), CALL, user("b")], set()),
    "one of two calls without its result": ([user("a"), BOTH, RESULT, assistant("b")], set()),
    "a result before its call": ([user("a"), RESULT, CALL, user("b")], set()),
    "a user between a call and its result": ([user("a"), CALL, user("b"), RESULT, assistant("c")], set()),
    "two users in a row": ([user("a"), user("b")], set(FORMATS) - ALTERNATING),
    "two assistants in a row": ([user("a"), assistant("b"), assistant("c")], set(FORMATS) - ALTERNATING),
    "an assistant first": ([assistant("a"), user("b")], RECORDS),
    "the system in the middle": ([user("a"), system("s"), assistant("b")], RECORDS),
    "a blank answer": ([user("a"), assistant(" "), user("b")], RECORDS | {"langchain", "sharegpt"}),
    "an id of two calls": (
        [user("a"), CALL, RESULT, CALL, RESULT, assistant("b")],
        # They take a reused id once its call is answered, or go by names and places.
        {"openai-chat", "langchain", "gemini", "sharegpt"},
    ),
    "names and ids that no provider gives": (
        [user("a"), assistant("", ("ein Anruf", "größe", {})), result("ein Anruf", "größe", "groß")],
        {"langchain", "pydantic-ai", "otel-genai", "openinference", "sharegpt"},
    ),
}
# The instructions first, parallel calls, results in order: a provider takes it as it is.
RIGHT = [user("a"), BOTH, RESULT, result("call_2", "go", "gone"), assistant("b"), user("c"), assistant("d")]
OPEN = [user("a"), assistant("b", ("call_1", "go", {}))]


def refused(form: str, turns: list[dict[str, Any]]) -> list[str]:
    (text,) = writer(form)(conversation(turns)).documents
    return problems(form, json.loads(text))


def test_there_are_rules_for_every_format_that_is_written():
    assert set(FORMATS) == set(WRITES)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_list_is_refused_by_those_whose_rules_it_breaks(wrong, form):
    turns, taken_by = WRONG[wrong]
    assert bool(refused(form, turns)) == (form not in taken_by)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("turns", [RIGHT, [system("s"), *RIGHT], OPEN], ids=["right", "with instructions", "open"])
def test_a_list_that_keeps_the_rules_is_taken(turns, form):
    if form == "google-adk" and turns[0]["role"] == "system":
        assert refused(form, turns), "a session of the kit has no instructions"
    else:
        assert refused(form, turns) == []


REFUSED_DOCUMENTS: list[tuple[str, Any]] = [
    ("anthropic", {"messages": []}),
    ("anthropic", {"system": " ", "messages": [{"role": "user", "content": "a"}]}),
    ("anthropic", {"messages": [{"role": "user", "content": []}]}),
    (
        "anthropic",
        {
            "messages": [
                {"role": "user", "content": "a"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "call_1", "name": "go", "input": {}},
                        {"type": "text", "text": "I go."},
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "gone"}]},
            ]
        },
    ),
    (
        "anthropic",
        {
            "messages": [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "go", "input": {}}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "b"},
                        {"type": "tool_result", "tool_use_id": "call_1", "content": "gone"},
                    ],
                },
            ]
        },
    ),
    ("anthropic", {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b "}]}),
    (
        "anthropic",
        {"messages": [{"role": "user", "content": [{"type": "image", "source": {"sha256": "0", "bytes": 5000}}]}]},
    ),
    ("bedrock-converse", {"messages": [{"role": "user", "content": [{"text": "a", "cachePoint": {}}]}]}),
    (
        "bedrock-converse",
        {
            "messages": [
                {"role": "user", "content": [{"text": "a"}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "go", "input": "x"}}]},
            ]
        },
    ),
    ("gemini", {"contents": [{"role": "user", "parts": []}]}),
    ("gemini", {"contents": [{"parts": [{"text": "a"}]}]}),
    ("gemini", {"contents": "a"}),
    ("openai-chat", {"messages": [{"role": "user", "content": "a", "timestamp": "2026-03-02T08:15:00Z"}]}),
    ("openai-chat", {"messages": [{"role": "user", "content": None}]}),
    ("openai-responses", {"input": [{"role": "user", "content": "a"}, {"type": "reasoning", "id": "rs_1"}]}),
    ("langchain", {"messages": [{"lc": 1, "type": "constructor", "kwargs": {"content": "a"}}]}),
    ("pydantic-ai", {"messages": [{"kind": "response", "parts": []}]}),
    ("pydantic-ai", {"messages": [{"kind": "request", "parts": [{"part_kind": "text", "content": "a"}]}]}),
    ("otel-genai", {"gen_ai.input.messages": [{"role": "user", "parts": []}], "gen_ai.output.messages": []}),
    ("openinference", {"llm.input_messages.1.message.role": "user"}),
    ("sharegpt", {"conversations": [{"from": "human", "value": 7}]}),
]


@pytest.mark.parametrize(("form", "document"), REFUSED_DOCUMENTS)
def test_a_document_with_what_its_provider_answers_an_error_to_is_refused(form, document):
    assert problems(form, document)
