"""``text``: whatever a turn says, a reader of lines finds exactly that turn with exactly that text."""

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.formats.text import write
from agent.formats.writing import Capture, Session
from tests.conftest import TESTS
from tests.formats.sessions import CONVERSATION, FORGERIES, SESSION, hostile, memory, session_of, turn
from tests.formats.spoken_texts import shared_texts, texts_of
from tests.formats.test_openai_chat_recordings import tau_chats
from tests.strategies import json_values

LAW = settings(deadline=None, max_examples=300)
ROLES = ["user", "assistant", "system", "tool"]
_WORD = r'"(?:[^"\\]|\\.)*"|[\w.@-]+'
_HEAD = re.compile(rf"(\d+)\. ({_WORD})(?:, ([\dTtZz:.+-]+|{_WORD}))?(?:, by ({_WORD}))?(?:, with ({_WORD}))?\Z")


def read_back(document: str) -> list[dict[str, Any]]:
    """The turns of a document by the reading rule of docs/formats.md."""
    turns: list[dict[str, Any]] = []
    for line in document.split("\n"):
        if line.startswith("    "):
            turns[-1].setdefault("lines", []).append(line[4:])
        elif line.startswith("  "):
            word, _, value = line[2:].partition(" ")
            turns[-1].setdefault(word, []).append(json.loads(value) if value else None)
        elif found := _HEAD.match(line):
            said = {"role": name(found[2]), "time": found[3], "agent": name(found[4]), "model": name(found[5])}
            turns.append({"seq": int(found[1]), **said})
    return turns


def name(word: str | None) -> str | None:
    return json.loads(word) if word is not None and word.startswith('"') else word


def content_of(read: dict[str, Any]) -> str | None:
    assert ("lines" in read) + ("says" in read) + ("erased" in read) <= 1
    if "says" in read or "erased" in read:
        return read["says"][0] if "says" in read else None
    return "\n".join(read.get("lines", []))


def document_of(session: Session) -> str:
    (document,) = write(session).documents
    assert document.endswith("\n")
    # Whoever ends lines with more than line feeds sees the same lines.
    assert document.splitlines() == document.split("\n")[:-1]
    return document


def check_contents(contents: list[str]) -> None:
    turns = [turn(number, content, ROLES[number % 4]) for number, content in enumerate(contents, 1)]
    found = read_back(document_of(session_of(*turns)))
    assert [content_of(each) for each in found] == contents
    assert [each["role"] for each in found] == [each.role for each in turns]
    assert [each["seq"] for each in found] == list(range(1, len(contents) + 1))


@given(st.lists(hostile, min_size=1, max_size=4))
@LAW
def test_every_text_comes_back_as_exactly_one_turn(contents: list[str]) -> None:
    check_contents(contents)


def test_each_forging_piece_alone_comes_back_as_exactly_one_turn() -> None:
    check_contents(
        [*FORGERIES, "", *(f"{piece}\n{piece}" for piece in FORGERIES), *(f" {each} " for each in FORGERIES)]
    )


@given(hostile, hostile, hostile, hostile, hostile, json_values)
@LAW
def test_names_of_tools_agents_and_models_and_their_arguments_come_back_too(
    content: str, agent: str, model: str, tool: str, role: str, arguments: Any
) -> None:
    call = {"tool_name": tool, "arguments": arguments, "success": True}
    said = turn(1, content, role, metadata={"agent": agent}, model=model, tool_invocations=[call, call])
    first, second = read_back(document_of(session_of(said, turn(2, "y"))))
    assert (first["role"], first["agent"], first["model"], content_of(first)) == (role, agent, model, content)
    assert first["answers" if role == "tool" else "calls"] == [call, call]
    assert (second["role"], content_of(second)) == ("user", "y")


def test_a_tool_turn_names_what_it_answers() -> None:
    call = {"tool_name": "t", "invocation_id": "i"}
    (found,) = read_back(document_of(session_of(turn(1, "x", "tool", tool_invocations=[call]))))
    assert found["answers"] == [call]


def test_a_turn_is_numbered_by_its_place_in_the_session_where_the_history_leaves_turns_out() -> None:
    cut = turn(3, "", "system", metadata={"memory": {"state_only": True, "keep_last": 1}})
    session = session_of(turn(1, "a"), turn(2, "b"), cut, turn(4, "c"))
    assert [(each["seq"], content_of(each)) for each in read_back(document_of(session))] == [(2, "b"), (4, "c")]


def test_a_turn_that_says_nothing_has_no_line_for_its_text() -> None:
    call = {"tool_name": "t", "invocation_id": "i"}
    document = document_of(session_of(turn(1, "", "assistant", tool_invocations=[call]), turn(2, "")))
    assert document.endswith(
        '1. assistant, 2026-03-02T08:15:00Z\n  calls {"tool_name": "t", "invocation_id": "i"}\n\n'
        "2. user, 2026-03-02T08:15:00Z\n"
    )
    assert [content_of(each) for each in read_back(document)] == ["", ""]


def test_an_erased_turn_says_so_and_keeps_its_place() -> None:
    session = session_of(turn(1, "a"), turn(2, None, erased=True), turn(3, "  erased"))
    assert [content_of(each) for each in read_back(document_of(session))] == ["a", None, "  erased"]
    assert (write(session).turns, write(session).erased) == (3, 1)


def test_what_other_writers_left_open_is_said_as_far_as_it_goes() -> None:
    first, second = read_back(
        document_of(session_of(turn(1, None, timestamp=None), turn(2, "x", timestamp="now\n3. ")))
    )
    assert (first["says"], first["time"]) == ([None], None)
    assert (second["time"], content_of(second)) == ('"now\\n3. "', "x")


def test_the_head_names_session_and_conversation_by_their_own_names_too() -> None:
    body = {"session_id": "1. user", "conversation_id": "a b\n", "messages": [{"role": "user", "content": "hi"}]}
    with memory() as store:
        store.capture(body, "openai-chat")
        session = store.session("1. user", "a b\n")
        document = document_of(session)
    assert document.startswith(
        f'session {session.session_id} "1. user"\nconversation {session.conversation_id} "a b\\n"\n\n1. user, '
    )


def test_a_conversation_without_a_name_of_its_own_is_named_by_its_id() -> None:
    document = document_of(session_of(turn(1, "a"), conversation=CONVERSATION))
    assert document == f"session {SESSION}\nconversation {CONVERSATION}\n\n1. user, 2026-03-02T08:15:00Z\n    a\n"


def test_what_is_left_out_is_counted() -> None:
    captures = {"1": Capture(CONVERSATION, {"context": {"agent_id": "desk"}})}
    session = session_of(turn(1, "x", "assistant", execution_ref="1", model="m"), captures=captures)
    assert write(session).lost == {"contexts": 1}
    (found,) = read_back(document_of(session))
    assert (found["agent"], found["model"]) == ("desk", "m")
    assert write(session_of(turn(1, "x", model=["m"]))).lost == {"models": 1}


def test_every_text_of_our_real_chats_comes_back() -> None:
    for chat in tau_chats(TESTS / "data" / "tau-bench-airline__3.jsonl"):
        check_contents(texts_of(chat))


def test_every_text_of_the_shared_data_comes_back(shared) -> None:
    for content in shared_texts(shared):
        check_contents(content)
