"""A window in each format: where markers and instructions go, and what stays as it came."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from agent.formats import WRITES
from agent.formats.prompt import needs_user_first, prompt
from agent.formats.prompt_rules import RULES, rules_of
from agent.formats.writers import writer
from agent.formats.writing import Session
from tests.formats.prompted import conversation, listed, marker, session_of_captures, wrong_with
from tests.formats.small_sessions import assistant, calls, result, user
from tests.formats.whole_sessions import captures

MARKED = "... [2 messages removed] ..."
ANYWHERE = ["openai-chat", "openai-responses", "openai-agents", "pydantic-ai", "otel-genai", "openinference"]
USER_FIRST = ["anthropic", "gemini", "bedrock-converse", "langchain", "google-adk", "sharegpt"]
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://pictures.test/1.png"}}
THINKING = {"type": "thinking", "thinking": "naïve → check\n", "signature": "EqQB+/a=="}


def system(content: str) -> dict[str, Any]:
    return {"role": "system", "content": content}


def came_as(form: str, document: Any) -> Session:
    (found,) = captures(form, document)
    return session_of_captures(found)


def messages_of(session: Session, form: str, window: Any = None) -> list[Any]:
    document, _ = listed(session, form, window)
    assert wrong_with(session, form, window) == []
    names = {"gemini": "contents", "openai-responses": "input", "openai-agents": "items", "sharegpt": "conversations"}
    return list(document[names.get(form, "messages")])


def cut(session: Session, first: int, last: int) -> list[Any]:
    """The window of ``session`` without the turns from ``first`` up to ``last``, with a marker for them."""
    turns = list(session.shown)
    return [*turns[:first], marker(last - first, turns[last - 1]), *turns[last:]]


def test_each_format_says_whether_a_user_comes_first():
    assert [form for form in WRITES if needs_user_first(form)] == [form for form in WRITES if form in USER_FIRST]
    assert [form for form in WRITES if rules_of(form).system == "anywhere"] == [
        form for form in WRITES if form in ANYWHERE
    ]
    assert not needs_user_first("native")
    assert "native" not in RULES
    assert set(WRITES) <= RULES.keys()


def test_a_marker_stays_a_message_of_the_system_where_that_may_stand_anywhere():
    session = conversation([system("Be brief."), user("a"), assistant("b"), user("c"), assistant("d")])
    messages = messages_of(session, "openai-chat", cut(session, 1, 3))
    assert messages[1] == {"role": "system", "content": MARKED}
    assert [message["role"] for message in messages] == ["system", "system", "user", "assistant"]


def test_else_it_is_the_first_paragraph_of_the_users_message_behind_it():
    session = conversation([system("Be brief."), user("a"), assistant("b"), user("c"), assistant("d")])
    for form in ("anthropic", "bedrock-converse"):
        first = messages_of(session, form, cut(session, 1, 3))[0]
        assert (first["role"], first["content"][0]["text"]) == ("user", f"{MARKED}\n\nc")
    assert messages_of(session, "gemini", cut(session, 1, 3))[0]["parts"] == [{"text": f"{MARKED}\n\nc"}]
    assert messages_of(session, "sharegpt", cut(session, 1, 3))[1]["value"] == f"{MARKED}\n\nc"
    assert messages_of(session, "langchain", cut(session, 1, 3))[1]["data"]["content"] == f"{MARKED}\n\nc"


def test_and_a_users_message_where_none_follows():
    session = conversation([user("a"), assistant("b"), user("c"), assistant("d"), user("e"), assistant("f")])
    messages = messages_of(session, "anthropic", cut(session, 2, 5)[:4])
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[2]["content"] == [{"type": "text", "text": "... [3 messages removed] ..."}]


def test_behind_results_it_stands_in_their_message_after_them():
    session = conversation(
        [user("a"), assistant("", ("call_1", "go", {})), result("call_1", "go", "gone"), user("x"), assistant("b")]
    )
    messages = messages_of(session, "anthropic", [*session.shown[:3], marker(1, session.shown[3]), session.shown[4]])
    assert [block["type"] for block in messages[2]["content"]] == ["tool_result", "text"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]


def test_a_users_message_of_blocks_gets_it_as_a_block_of_its_own():
    picture = {"role": "user", "content": [IMAGE, {"type": "text", "text": "What is it?"}]}
    session = came_as("anthropic", {"messages": [{"role": "user", "content": "a"}, picture], "anthropic_version": "1"})
    (message,) = messages_of(session, "anthropic", [marker(1, session.shown[0]), session.shown[1]])
    assert message["content"] == [{"type": "text", "text": "... [1 messages removed] ..."}, *picture["content"]]


def test_signed_blocks_are_given_back_whole_and_ids_that_come_again_are_not_theirs():
    def exchange(number: int) -> list[dict[str, Any]]:
        call = {"type": "tool_use", "id": "toolu_01", "name": "track", "input": {"n": number}}
        answer = {"type": "tool_result", "tool_use_id": "toolu_01", "content": "Bern"}
        return [
            {"role": "user", "content": f"Where is {number}?"},
            {"role": "assistant", "content": [THINKING, call]},
            {"role": "user", "content": [answer]},
            {"role": "assistant", "content": [{"type": "text", "text": "In Bern."}]},
        ]

    session = came_as("anthropic", {"messages": [*exchange(1), *exchange(2)]})
    messages = messages_of(session, "anthropic")
    thinking, call = messages[5]["content"]
    assert thinking == THINKING
    assert (call["id"], call["input"]) == ("toolu_01-2", {"n": 2})
    assert messages[6]["content"][0]["tool_use_id"] == "toolu_01-2"
    assert messages[1]["content"] == [THINKING, {**call, "id": "toolu_01", "input": {"n": 1}}]


def test_what_the_system_says_on_the_way_stands_at_the_top_whole_and_in_order():
    session = conversation([system("A\n\nB"), user("a"), system(" C "), assistant("b"), system("D")])
    document, _ = listed(session, "anthropic")
    assert document["system"] == "A\n\nB\n\n C \n\nD"
    assert listed(session, "gemini")[0]["systemInstruction"] == {"parts": [{"text": "A\n\nB\n\n C \n\nD"}]}
    assert listed(session, "bedrock-converse")[0]["system"] == [{"text": "A\n\nB\n\n C \n\nD"}]
    events = listed(session, "google-adk")[0]["session"]["events"]
    assert events[0]["author"] == "user"
    assert events[0]["content"] == {"role": "user", "parts": [{"text": "A\n\nB\n\n C \n\nD"}]}
    assert [message["role"] for message in messages_of(session, "openai-chat")][2] == "system"


@pytest.mark.parametrize("form", WRITES)
def test_calls_of_several_turns_are_answered_together_behind_the_last(form):
    session = conversation(
        [
            user("a"),
            assistant("One.", ("call_1", "go", {"n": 1})),
            system("s"),
            assistant("Two.", ("call_2", "go", {"n": 2})),
            result("call_1", "go", "x"),
            result("call_2", "go", "y"),
            user("b"),
        ]
    )
    assert wrong_with(session, form) == []


def test_parallel_calls_of_two_turns_are_one_message():
    turns = [user("a"), assistant("One.", ("call_1", "go", {})), assistant("Two.", ("call_2", "go", {}))]
    session = conversation([*turns, result("call_1", "go", "x"), result("call_2", "go", "y"), user("b")])
    assert [each["type"] for each in messages_of(session, "anthropic")[1]["content"]] == [
        "text",
        "tool_use",
        "tool_use",
    ]
    (message,) = [each for each in messages_of(session, "openai-chat") if each["role"] == "assistant"]
    assert [call["id"] for call in message["tool_calls"]] == ["call_1", "call_2"]


@pytest.mark.parametrize("form", WRITES)
def test_a_result_that_came_late_stands_behind_its_call(form):
    session = conversation(
        [user("a"), assistant("", ("call_1", "go", {})), assistant("Wait."), result("call_1", "go", "x"), user("b")]
    )
    assert wrong_with(session, form) == []


@pytest.mark.parametrize("form", WRITES)
def test_a_turn_that_answers_calls_of_two_turns_answers_each_behind_it(form):
    both = {"role": "tool", "content": "both", "tool_invocations": calls(("call_1", "go"), ("call_2", "go"))}
    session = conversation(
        [user("a"), assistant("", ("call_1", "go")), assistant("."), assistant("", ("call_2", "go")), both, user("b")]
    )
    assert wrong_with(session, form) == []


@pytest.mark.parametrize("form", WRITES)
def test_a_call_that_was_answered_twice_has_one_result_with_both_texts(form):
    turns = [user("a"), assistant("", ("call_1", "go", {})), result("call_1", "go", "x"), result("call_1", "go", "y")]
    session = conversation([*turns, assistant("b")])
    document, found = listed(session, form)
    assert wrong_with(session, form) == []
    assert "x\\ny" in repr(document)
    assert found.left_out == ()


@pytest.mark.parametrize("form", WRITES)
def test_calls_that_nobody_answered_yet_stay_at_the_end_behind_what_the_system_says(form):
    session = conversation([user("a"), assistant("", ("call_1", "go", {})), system("Soon.")])
    document, found = listed(session, form)
    assert wrong_with(session, form) == []
    assert "go" in str(document)
    assert [turn.role for turn in found.turns][-1] == "assistant"


@pytest.mark.parametrize("form", WRITES)
def test_half_an_exchange_is_left_out_and_named(form):
    session = conversation([user("a"), assistant("", ("call_1", "go", {})), result("call_9", "go", "x"), user("b")])
    _, found = listed(session, form)
    assert set(found.left_out) == {session.shown[1].turn_id, session.shown[2].turn_id}
    assert wrong_with(session, form) == []


def test_a_blank_message_is_left_out_and_named_where_no_provider_takes_it():
    session = conversation([user("a"), assistant(" \n"), user("b"), assistant("c  ")])
    document, found = listed(session, "anthropic")
    assert found.left_out == (session.shown[1].turn_id,)
    assert [message["role"] for message in document["messages"]] == ["user", "assistant"]
    assert document["messages"][1]["content"][0]["text"] == "c"
    assert listed(session, "openai-chat")[1].left_out == ()


@pytest.mark.parametrize("form", USER_FIRST)
def test_what_an_assistant_begins_a_user_opens(form):
    for turns in ([assistant("a"), user("b")], [system("s"), assistant("a")], [system("s")], [assistant("")]):
        session = conversation(turns)
        assert wrong_with(session, form) == []
        # The kit's session has no instructions: they are what a user says first.
        is_opened = form == "google-adk" and turns[0]["role"] == "system"
        # Where nobody but the system speaks, nobody counted a marker.
        text = "[Conversation begins]" if any(turn.content == "a" for turn in session.shown) else "."
        assert listed(session, form)[1].added == (() if is_opened else (text,))
    assert prompt([], form) == []


def test_names_and_ids_are_as_like_as_the_provider_lets_them_be():
    session = conversation(
        [user("a"), assistant("", ("ein Anruf/1", "größe messen", 7)), result("ein Anruf/1", "größe messen", "groß")]
    )
    _, calling, answer = messages_of(session, "anthropic")
    (call,) = calling["content"]
    assert call == {"type": "tool_use", "id": "ein_Anruf_1", "name": "gr_e_messen", "input": {"arguments": 7}}
    assert answer["content"][0]["tool_use_id"] == "ein_Anruf_1"


def test_a_new_id_is_none_that_comes_later():
    named = ["call", "call", "call-2"]
    turns = [
        turn
        for number, each in enumerate(named)
        for turn in (user(str(number)), assistant("", (each, "go", {})), result(each, "go", str(number)))
    ]
    messages = messages_of(conversation(turns), "openai-chat")
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == [
        "call",
        "call-3",
        "call-2",
    ]
    assert [message["content"] for message in messages if message["role"] == "tool"] == ["0", "1", "2"]


def test_a_digest_is_not_sent_in_place_of_a_picture():
    data = "data:image/png;base64," + "A" * 8000
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": data}}]}
    session = came_as("openai-chat", {"messages": [message]})
    assert messages_of(session, "openai-chat") == [{"role": "user", "content": "[image: image/png]"}]


def test_the_time_of_a_message_is_not_sent_and_what_else_it_had_is():
    message = {"role": "user", "name": "kim", "content": "a", "timestamp": "2026-03-02T08:15:00Z"}
    session = came_as("openai-chat", {"messages": [message]})
    assert messages_of(session, "openai-chat") == [{"role": "user", "name": "kim", "content": "a"}]


def test_a_signed_part_of_gemini_stays_and_its_answer_stands_before_what_the_user_says_next():
    call = {"functionCall": {"name": "go", "args": {}}, "thoughtSignature": "c2lnbmVk"}
    answer = {"functionResponse": {"name": "go", "response": {"result": "gone"}}}
    contents = [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [answer]},
        {"role": "user", "parts": [{"text": "b"}]},
    ]
    session = came_as("gemini", {"contents": contents})
    found = messages_of(session, "gemini")
    assert found == [*contents[:2], {"role": "user", "parts": [answer, {"text": "b"}]}]


def test_reasoning_is_sent_before_what_it_led_to_and_not_alone():
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "go", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "gone"}
    items = [{"role": "user", "content": "a"}, reasoning, call, output, {"role": "user", "content": "b"}]
    session = came_as("openai-responses", {"input": items})
    assert messages_of(session, "openai-responses") == items
    turns = session.shown
    without_reasoning = messages_of(session, "openai-responses", [turns[0], marker(1, turns[1]), *turns[2:]])
    assert without_reasoning[2] == {name: value for name, value in call.items() if name != "id"}
    _, found = listed(session, "openai-responses", [*turns[:2], marker(2, turns[3]), turns[4]])
    assert found.left_out == (turns[1].turn_id,)


@pytest.mark.parametrize("form", WRITES)
def test_the_window_itself_is_not_changed(form):
    session = conversation([assistant("", ("a b", "c d", 1)), result("a b", "c d", " "), system("s"), user("a")])
    window = cut(session, 2, 3)
    before = copy.deepcopy(window)
    prompt(window, form)
    assert window == before


@pytest.mark.parametrize("form", WRITES)
def test_the_pairs_of_a_prompt_are_told_by_its_turns_alone_too(form):
    turns = [user("a")]
    for number in range(3):
        turns += [assistant("", ("call_1", "go", {"n": number})), result("call_1", "go", f"gone {number}")]
    session = conversation(turns)
    alone = prompt(session.shown, form)
    (text,) = writer(form)(replace(session, shown=tuple(alone), all=tuple(alone))).documents
    assert json.loads(text) == listed(session, form)[0]
