"""``apply_context_window``: what fits of a list that was never captured, in the form that it was given in."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agent
from agent.errors import BudgetTooSmall, ValidationError
from agent.recall.tokens import counter_for
from agent.sdk import Message, apply_context_window
from agent.sdk.listed import listed
from tests.formats.providers.rules import problems
from tests.sdk.test_context_forms import ASKED, OURS, REASONED, TWO_RESULTS
from tests.sdk.test_foreign_messages import AI, ANSWER, ANSWER_RESULT, COMPLETION, COMPLETION_RESULT, HUMAN, TOOL

BUDGET = 500
SYSTEM = {"role": "system", "content": "You are the parcel desk."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_7", "type": "function", "function": {"name": "track", "arguments": '{"n": 4471}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "call_7", "content": "on its way " * 20}
CHAT: list[dict[str, Any]] = [
    SYSTEM,
    *(
        message
        for number in range(30)
        for message in (
            {"role": "user", "content": f"Where is parcel {number}?"},
            CALL,
            RESULT,
            {"role": "assistant", "content": f"Parcel {number} is on its way."},
        )
    ),
]


def fits(messages: list[Any], budget: int, model: str | None = None) -> bool:
    """Whether ``messages`` take ``budget`` tokens at most, as the counter has it."""
    count = counter_for(model)
    return count.overhead + sum(map(count, listed(messages).turns)) <= budget


def test_the_package_s_front_has_it():
    assert agent.apply_context_window is apply_context_window


def test_a_list_that_fits_comes_back_as_it_is():
    assert apply_context_window(CHAT[:5], 10_000) == CHAT[:5]


def test_by_default_4500_tokens_are_reserved():
    assert fits(apply_context_window(CHAT, 4500 + BUDGET), BUDGET)
    assert apply_context_window(CHAT, 4500 + BUDGET) == apply_context_window(CHAT, BUDGET, 0)
    assert apply_context_window(CHAT, 4500 + BUDGET) == apply_context_window(CHAT, BUDGET + 1000, 1000)


def test_messages_come_back_as_they_were_given_with_a_system_message_for_those_that_do_not():
    back = apply_context_window(CHAT, BUDGET, 0)
    assert back[0] is CHAT[0]
    markers = [message for message in back if message["role"] == "system" and message is not CHAT[0]]
    assert all(message.keys() == {"role", "content"} for message in markers)
    kept = [message for message in back if message not in markers]
    assert all(any(message is given for given in CHAT) for message in kept)
    removed = sum(int(message["content"].split("[")[1].split()[0]) for message in markers)
    assert len(kept) + removed == len(CHAT)


def test_what_is_given_is_never_changed():
    given = copy.deepcopy(CHAT)
    for budget in range(60, 1200, 60):
        apply_context_window(given, budget, 0)
        apply_context_window([{"role": "user", "content": "long " * 3000}], budget, 0)
    assert given == CHAT


def test_h25_no_result_is_without_its_call_at_any_budget():
    for budget in range(60, 1500, 37):
        open_calls = 0
        for message in apply_context_window(CHAT, budget, 0):
            if message.get("tool_calls"):
                open_calls += 1
            elif message["role"] == "tool":
                open_calls -= 1
            assert open_calls in (0, 1)
        assert open_calls == 0


def test_h27_a_newest_message_that_is_too_long_alone_is_cut():
    long = {"role": "user", "content": "word " * 10_000, "name": "ada"}
    back = apply_context_window([SYSTEM, long], 1000, 0)
    assert back[0] is SYSTEM
    assert back[1].keys() == long.keys()
    assert "characters removed" in back[1]["content"]
    assert fits(back, 1000)


@pytest.mark.parametrize(("max_tokens", "reserved"), [(0, 0), (4500, 4500), (100, 4500), (1, 0), (5, 0)])
@pytest.mark.parametrize("messages", [CHAT, OURS], ids=["chat", "ours"])
def test_a_budget_of_nothing_or_nearly_is_the_typed_error(messages: list[Any], max_tokens: int, reserved: int):
    with pytest.raises(BudgetTooSmall) as caught:
        apply_context_window(messages, max_tokens, reserved)
    assert caught.value.budget <= max_tokens - reserved
    assert caught.value.needed > 5


def test_so_it_is_for_an_empty_list_and_any_budget_above_is_enough():
    assert apply_context_window([], 4600) == []
    for max_tokens in (0, 4500):
        with pytest.raises(BudgetTooSmall):
            apply_context_window([], max_tokens)


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(OURS, id="ours"),
        pytest.param([HUMAN, AI, TOOL], id="langchain"),
        pytest.param([ASKED, COMPLETION, COMPLETION_RESULT], id="openai"),
        pytest.param([ASKED, ANSWER, ANSWER_RESULT], id="anthropic"),
        pytest.param(TWO_RESULTS, id="two results"),
        pytest.param(REASONED, id="responses"),
    ],
)
def test_every_form_comes_back_in_its_own(messages: list[Any]):
    whole = apply_context_window(messages, 10_000)
    assert all(one is other for one, other in zip(whole, messages, strict=True))
    long = [*messages * 30, *messages]
    cut = apply_context_window(long, 300, 0)
    assert len(cut) < len(long)
    assert any(message is messages[-1] for message in cut)


def test_messages_of_ours_have_markers_of_ours():
    chat = [Message("user", f"Where is parcel {number}?") for number in range(100)]
    (marker,) = [each for each in apply_context_window(chat, 200, 0, strategy="rolling_window") if each not in chat]
    assert marker == Message("system", marker.text, metadata={"marker": marker.metadata["marker"]})


def test_an_anthropic_list_has_no_system_message_and_begins_with_a_user():
    chat = [
        message for _ in range(40) for message in (ASKED, *TWO_RESULTS[1:], {"role": "assistant", "content": "Both."})
    ]
    for budget in range(80, 1000, 40):
        back = apply_context_window(chat, budget, 0)
        assert {message["role"] for message in back} <= {"user", "assistant"}
        assert back[0]["role"] == "user"
        assert "removed" in json.dumps(back)


@pytest.mark.parametrize(
    ("form", "member", "exchange"),
    [
        (
            "anthropic",
            "messages",
            [*TWO_RESULTS, {"role": "assistant", "content": [{"type": "text", "text": "Both."}]}],
        ),
        (
            "gemini",
            "contents",
            [
                {"role": "user", "parts": [{"text": "where is it?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "track", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "track", "response": {"at": "Bern"}}}]},
                {"role": "model", "parts": [{"text": "In Bern."}]},
            ],
        ),
        (
            "bedrock-converse",
            "messages",
            [
                {"role": "user", "content": [{"text": "where is it?"}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "track", "input": {}}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "Bern"}]}}]},
                {"role": "assistant", "content": [{"text": "In Bern."}]},
            ],
        ),
    ],
)
@pytest.mark.parametrize("strategy", ["truncate", "rolling_window", "relevant"])
def test_a_list_whose_speakers_have_to_alternate_does_so_at_every_budget(
    form: str, member: str, exchange: list[dict[str, Any]], strategy: str
):
    chat = [
        json.loads(json.dumps(message).replace('"a"', f'"a{number}"').replace('"b"', f'"b{number}"'))
        for number in range(12)
        for message in exchange
    ]
    before = copy.deepcopy(chat)
    for budget in range(60, 700, 13):
        back = apply_context_window(chat, budget, 0, strategy=strategy, query="where")
        assert problems(form, {member: back}) == [], budget
    assert chat == before


@pytest.mark.parametrize(("form", "member"), [("openai-agents", "items"), ("openai-responses", "input")])
def test_a_call_with_its_reasoning_is_in_the_document_of_its_provider(form: str, member: str):
    document = apply_context_window([*REASONED, *REASONED[:1]], 10_000, format=form)
    assert problems(form, document) == []
    assert REASONED[2] in document[member]
    assert form == "openai-responses" or REASONED[1] in document[member]


def test_messages_of_ours_among_others_are_written_as_ours():
    chat = [
        SYSTEM,
        {"role": "user", "content": "one"},
        Message("assistant", "two"),
        {"role": "user", "content": "three"},
    ]
    document = apply_context_window(chat, 10_000, format="openai-chat")
    assert document["messages"] == [*chat[:2], {"role": "assistant", "content": "two"}, chat[3]]


def test_a_provider_s_document_may_be_asked_for_in_place_of_the_form():
    document = apply_context_window(CHAT, BUDGET, 0, format="anthropic")
    assert document.keys() == {"system", "messages"}
    assert document["system"] == SYSTEM["content"]
    assert document["messages"][0]["role"] == "user"
    # With call ids that come once, as providers want them, a list is what it was.
    assert apply_context_window(CHAT[:5], 100_000, format="openai-chat") == {"messages": CHAT[:5]}


def test_a_query_chooses_and_a_marker_is_said_in_other_words():
    back = apply_context_window(CHAT, BUDGET, 0, marker="[Earlier messages truncated]", min_recent=0)
    assert {"role": "system", "content": "[Earlier messages truncated]"} in back


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"max_tokens": -1}, "$.max_tokens"),
        ({"max_tokens": 1.5}, "$.max_tokens"),
        ({"max_tokens": 9000, "reserved_tokens": -1}, "$.reserved_tokens"),
        ({"max_tokens": 9000, "strategy": "summarize"}, "$.strategy"),
        ({"max_tokens": 9000, "format": "yaml"}, "$.format"),
        ({"max_tokens": 9000, "messages": "hello"}, "$.messages"),
        ({"max_tokens": 10**400}, "$.max_tokens"),
        ({"max_tokens": True}, "$.max_tokens"),
        ({"max_tokens": None}, "$.max_tokens"),
        ({"max_tokens": 9000, "reserved_tokens": "a"}, "$.reserved_tokens"),
        ({"max_tokens": 9000, "reserved_tokens": None}, "$.reserved_tokens"),
        ({"max_tokens": 9000, "reserved_tokens": 10**400}, "$.reserved_tokens"),
        ({"max_tokens": 9000, "strategy": 5}, "$.strategy"),
        ({"max_tokens": 9000, "query": 5}, "$.query"),
        ({"max_tokens": 9000, "query": "\ud800"}, "$.query"),
        ({"max_tokens": 9000, "model": 5}, "$.model"),
        ({"max_tokens": 9000, "format": 5}, "$.format"),
        ({"max_tokens": 9000, "format": []}, "$.format"),
        ({"max_tokens": 9000, "min_recent": 1.5}, "$.min_recent"),
        ({"max_tokens": 9000, "min_recent": 10**400}, "$.min_recent"),
        ({"max_tokens": 9000, "marker": 5}, "$.marker"),
        ({"max_tokens": 9000, "marker": " "}, "$.marker"),
        ({"max_tokens": 9000, "marker": "\ud800"}, "$.marker"),
    ],
)
def test_what_no_window_is_cut_by_is_refused(asked: dict[str, Any], path: str):
    with pytest.raises(ValidationError) as caught:
        apply_context_window(**{"messages": CHAT, **asked})
    assert [problem.path for problem in caught.value.problems] == [path]


@pytest.mark.parametrize("unknown", ["max_messages", "scope", "tokens"])
def test_a_word_that_it_does_not_know_is_a_type_error(unknown: str):
    with pytest.raises(TypeError, match=unknown):
        apply_context_window(CHAT, 9000, **{unknown: 1})


def test_what_is_not_said_is_the_default():
    assert apply_context_window(
        CHAT, BUDGET, 0, strategy=None, query=None, model=None, format=None, min_recent=None, marker=None
    ) == apply_context_window(CHAT, BUDGET, 0)


def test_a_budget_that_is_too_small_names_what_is_reserved_and_what_would_do():
    with pytest.raises(BudgetTooSmall) as caught:
        apply_context_window(CHAT, 4510)
    needed = caught.value.needed
    assert caught.value.budget == 10
    assert f"max_tokens less reserved_tokens leaves 10; a window needs {needed}" in caught.value.message
    assert f"max_tokens of at least {needed + 4500}" in caught.value.message
    assert apply_context_window(CHAT, needed + 4500)
    with pytest.raises(BudgetTooSmall):
        apply_context_window(CHAT, needed + 4499)
    with pytest.raises(BudgetTooSmall, match="leaves -4400"):
        apply_context_window([], 100)
    with pytest.raises(BudgetTooSmall, match=r"^((?!reserved).)*$"):
        apply_context_window(CHAT, 10, 0)


_ROLES = st.sampled_from(["user", "assistant", "system"])
_MESSAGES = st.lists(
    st.builds(lambda role, text: {"role": role, "content": text}, _ROLES, st.text(max_size=80)), max_size=30
)


@given(
    messages=_MESSAGES,
    budget=st.integers(1, 400),
    strategy=st.sampled_from(["rolling_window", "importance", "hybrid", "truncate"]),
)
@settings(max_examples=60, deadline=None)
def test_any_list_fits_any_budget_or_says_what_it_needs(messages: list[dict[str, str]], budget: int, strategy: str):
    before = copy.deepcopy(messages)
    try:
        back = apply_context_window(messages, budget, 0, strategy=strategy)
    except BudgetTooSmall as error:
        back = apply_context_window(messages, error.needed, 0, strategy=strategy)
        budget = max(budget + 1, error.needed)
    assert messages == before
    assert fits(back, budget)
    system = [message for message in messages if message["role"] == "system"]
    assert all(any(message is each for each in back) for message in system)
    assert bool(back) == bool(messages)
