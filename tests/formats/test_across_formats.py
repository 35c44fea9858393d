"""From every format into every other: what is said comes across, and what does not is counted, never silently lost."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from agent.formats.writing import Session
from tests.formats.corpus import BOTH_WAYS, OURS, documents
from tests.formats.explained import told, unexplained
from tests.formats.round_trips import spoken, written
from tests.formats.small_sessions import SESSIONS, small_session
from tests.formats.whole_sessions import captures, posted, taken, unstored


def silent(session: Session, form: str) -> list[str]:
    """What ``session``, written as ``form`` and read again, no longer says, and was not counted."""
    document, result = written(form, session)
    return unexplained(session, taken(form, document), result.lost)


@cache
def small(name: str, form: str) -> Session:
    """The small session of that name, as it is once it was written in ``form``."""
    with small_session(name) as session:
        return taken(form, written(form, session)[0])


@cache
def real(form: str) -> tuple[tuple[str, Session], ...]:
    """Our copies of real conversations in ``form``."""
    return tuple(
        (name, unstored(payload))
        for _, name, document in documents(OURS, form)
        for (payload,) in captures(form, document)
    )


@pytest.mark.parametrize("form", BOTH_WAYS)
@pytest.mark.parametrize("name", SESSIONS)
def test_a_small_session_comes_across_or_what_is_lost_is_counted(name: str, form: str) -> None:
    with small_session(name) as session:
        assert silent(session, form) == []
        # The other tests ask no store: they see what it would give.
        document, _ = written(form, session)
        with posted(form, document) as kept:
            assert spoken(taken(form, document)) == spoken(kept)
            assert written(form, taken(form, document)) == written(form, kept)


@pytest.mark.parametrize("source", BOTH_WAYS)
@pytest.mark.parametrize("target", BOTH_WAYS)
def test_from_every_format_into_every_other_nothing_is_lost_in_silence(source: str, target: str) -> None:
    found = {name: silent(small(name, source), target) for name in SESSIONS}
    assert {name: missing for name, missing in found.items() if missing} == {}


@pytest.mark.parametrize("source", BOTH_WAYS)
@pytest.mark.parametrize("target", BOTH_WAYS)
def test_real_conversations_come_across_or_what_is_lost_is_counted(source: str, target: str) -> None:
    found = [(name, silent(session, target)) for name, session in real(source)]
    assert [(name, missing) for name, missing in found if missing] == []


def test_a_chat_comes_back_from_a_stay_with_anthropic() -> None:
    for _, session in real("openai-chat"):
        check_stay(session, "anthropic")


def test_the_40_shared_chats_come_back_from_a_stay_with_anthropic(shared: Path) -> None:
    chats = [document for _, name, document in documents(shared / "data", "openai-chat") if "tau-bench" in name]
    assert len(chats) == 40
    for chat in chats:
        for (payload,) in captures("openai-chat", chat):
            check_stay(unstored(payload), "anthropic")


def check_stay(session: Session, through: str) -> None:
    stay = taken(through, written(through, session)[0])
    back = taken("openai-chat", written("openai-chat", stay)[0])
    assert told(back) == told(session)


# Formats whose providers want the calls of one answer in one message, right before their results.
IN_ONE_MESSAGE = ("openai-chat", "anthropic", "bedrock-converse", "gemini", "langchain", "pydantic-ai")


@pytest.mark.parametrize("source", ["openai-responses", "openai-agents"])
@pytest.mark.parametrize("target", IN_ONE_MESSAGE)
def test_calls_that_came_as_items_are_one_message_again(source: str, target: str) -> None:
    items = [
        {"role": "user", "content": "Weigh both."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x=="},
        {"role": "assistant", "content": "I do."},
        {"type": "function_call", "call_id": "a", "name": "weigh", "arguments": '{"n":1}'},
        {"type": "function_call", "call_id": "b", "name": "weigh", "arguments": '{"n":2}'},
        {"type": "function_call_output", "call_id": "a", "output": "one"},
        {"type": "function_call_output", "call_id": "b", "output": "two"},
        {"role": "assistant", "content": "Done."},
    ]
    ((payload,),) = captures(source, items)
    document, result = written(target, unstored(payload))
    assert result.lost["joined_turns"] == 3
    turns = spoken(taken(target, document))
    assert [turn["role"] for turn in turns] == ["user", "assistant", "tool", "tool", "assistant"]
    assert turns[1]["content"] == "I do."
    assert [name for _, name, _ in turns[1]["calls"]] == ["weigh", "weigh"]
    assert [turn["content"] for turn in turns[2:4]] == ["one", "two"]


@pytest.mark.parametrize("target", IN_ONE_MESSAGE)
def test_two_answers_that_are_two_messages_stay_two(target: str) -> None:
    messages = [
        {"role": "user", "content": "Hi"},
        *({"role": "assistant", "content": text} for text in ("One.", "Two.")),
    ]
    ((payload,),) = captures("openai-chat", {"messages": messages})
    document, result = written(target, unstored(payload))
    assert "joined_turns" not in result.lost
    assert [turn["content"] for turn in spoken(taken(target, document))] == ["Hi", "One.", "Two."]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "bedrock-converse", "langchain", "openai-responses"])
def test_calls_that_went_by_their_tools_name_get_ids_of_their_own_where_it_comes_again(target: str) -> None:
    call, answer = {"functionCall": {"name": "weigh", "args": {}}}, {"name": "weigh", "response": {"output": "1"}}
    contents = [
        {"role": "user", "parts": [{"text": "Weigh it twice."}]},
        *(
            content
            for _ in range(3)
            for content in (
                {"role": "model", "parts": [call]},
                {"role": "user", "parts": [{"functionResponse": answer}]},
            )
        ),
    ]
    ((payload,),) = captures("gemini", {"contents": contents})
    document, result = written(target, unstored(payload))
    assert result.lost["repeated_call_ids"] == 2
    turns = spoken(taken(target, document))
    called = [call for turn in turns for call, _, _ in turn["calls"]]
    assert len(set(called)) == 3
    assert [call for turn in turns for call, _, _ in turn["results"]] == called
