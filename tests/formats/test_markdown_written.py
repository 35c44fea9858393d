"""``markdown``: whatever a turn says, a reader of CommonMark finds exactly that turn with exactly that text."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent.formats.markdown import write
from agent.formats.writing import Capture, Session
from tests.conftest import TESTS
from tests.formats.sessions import CONVERSATION, FORGERIES, SESSION, hostile, memory, session_of, turn
from tests.formats.spoken_texts import shared_texts, texts_of
from tests.formats.test_openai_chat_recordings import tau_chats
from tests.strategies import json_values

LAW = settings(deadline=None, max_examples=300)
ROLES = ["user", "assistant", "system", "tool"]
COMMONMARK = MarkdownIt("commonmark")
CAPTURED = {"1": Capture(CONVERSATION, {"context": {"agent_id": "desk"}})}


def read_back(document: str) -> list[dict[str, Any]]:
    """The turns of a document by the reading rule of docs/formats.md."""
    turns: list[dict[str, Any]] = []
    tokens = COMMONMARK.parse(document)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and token.tag == "h2":
            # Code spans are names: the words around them cannot hold a comma of theirs.
            words = "".join(f"\0{child.content}\0" if child.type == "code_inline" else child.content
                            for child in following.children)  # fmt: skip
            seq, _, rest = words.partition(". ")
            role, *more = re.findall(r"(?:[^\0,]|\0[^\0]*\0)+", rest)
            turns.append({"seq": int(seq), "role": name(role), "more": [each.strip() for each in more]})
        elif token.type == "fence" and turns:
            text = token.content.removesuffix("\n")
            value = text if token.info == "text" else json.loads(text)
            if isinstance(value, dict):
                turns[-1].setdefault("calls", []).append(value)
            else:
                assert turns[-1].keys().isdisjoint({"content", "calls"})
                turns[-1]["content"] = value
    return [{"content": "", **each} if "calls" in each else each for each in turns]


def name(word: str) -> str:
    word = word.strip("\0")
    return json.loads(word) if word.startswith('"') else word


def document_of(session: Session) -> str:
    (document,) = write(session).documents
    assert document.endswith("\n")
    return document


def check_contents(contents: list[str]) -> None:
    turns = [turn(number, content, ROLES[number % 4]) for number, content in enumerate(contents, 1)]
    found = read_back(document_of(session_of(*turns)))
    assert [each["content"] for each in found] == contents
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


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 5, 17, 1000])
def test_a_fence_is_longer_than_any_run_of_backticks_in_the_text(runs: int) -> None:
    content = f"```py\nprint()\n```\n{'`' * runs}\n"
    document = document_of(session_of(turn(1, content, "tool"), turn(2, "and then?")))
    assert f"{'`' * max(4, runs + 1)}text\n" in document
    assert [each["content"] for each in read_back(document)] == [content, "and then?"]
    following = [token for token in COMMONMARK.parse(document) if token.type == "inline" and token.content[0] == "2"]
    assert [token.level for token in following] == [1]


@given(hostile, hostile, hostile, hostile, hostile, json_values)
@LAW
def test_names_of_tools_agents_and_models_and_their_arguments_come_back_too(
    content: str, agent: str, model: str, tool: str, role: str, arguments: Any
) -> None:
    call = {"tool_name": tool, "arguments": arguments, "success": True}
    said = turn(1, content, role, metadata={"agent": agent}, model=model, tool_invocations=[call, call])
    first, second = read_back(document_of(session_of(said, turn(2, "y"))))
    assert (first["role"], first["content"]) == (role, content)
    assert first["calls"] == [call, call]
    assert name(first["more"][1].removeprefix("by ")) == agent
    assert name(first["more"][2].removeprefix("with ")) == model
    assert (second["content"], second["role"]) == ("y", "user")


def test_a_time_of_another_writer_is_a_code_span() -> None:
    said = turn(1, "x", timestamp="`now`\n## 2. user")
    (found,) = read_back(document_of(session_of(said)))
    assert name(found["more"][0]) == "`now`\n## 2. user"


def test_what_an_assistant_says_is_said_by_the_agent_of_its_capture() -> None:
    turns = turn(1, "a", execution_ref="1"), turn(2, "b", "assistant", execution_ref="1")
    found = read_back(document_of(session_of(*turns, captures=CAPTURED)))
    assert [each["more"][1:] for each in found] == [[], ["by \0desk\0"]]


def test_a_turn_is_numbered_by_its_place_in_the_session_where_the_history_leaves_turns_out() -> None:
    cut = turn(3, "", "system", metadata={"memory": {"state_only": True, "keep_last": 1}})
    session = session_of(turn(1, "a"), turn(2, "b"), cut, turn(4, "c"))
    assert [(each["seq"], each["content"]) for each in read_back(document_of(session))] == [(2, "b"), (4, "c")]


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_a_turn_that_only_calls_has_no_block_for_its_text(role: str) -> None:
    call = {"tool_name": "t", "invocation_id": "i"}
    document = document_of(session_of(turn(1, "", role, tool_invocations=[call]), turn(2, "", role)))
    assert document.count("```") == 4
    calls, says_nothing = read_back(document)
    assert (calls["content"], calls["calls"]) == ("", [call])
    assert (says_nothing["content"], "calls" in says_nothing) == ("", False)


def test_a_text_that_looks_like_a_call_is_a_text() -> None:
    for text in ('{"tool_name": "t"}', '{"a": 1}\x00'):
        (found,) = read_back(document_of(session_of(turn(1, text))))
        assert (found["content"], "calls" in found) == (text, False)


def test_an_erased_turn_says_so_and_keeps_its_place() -> None:
    session = session_of(turn(1, "a"), turn(2, None, erased=True), turn(3, "*This turn was erased.*"))
    assert ["content" in each for each in read_back(document_of(session))] == [True, False, True]
    assert document_of(session).count("\n\n*This turn was erased.*\n") == 1
    assert (write(session).turns, write(session).erased) == (3, 1)


def test_a_turn_of_another_writer_without_content_is_null() -> None:
    assert read_back(document_of(session_of(turn(1, None))))[0]["content"] is None


def test_the_head_names_session_and_conversation_by_their_own_names_too() -> None:
    names = {"native_session_id": "## 1. user", "native_conversation_id": "a`b\n"}
    body = {
        "session_id": names["native_session_id"],
        "conversation_id": names["native_conversation_id"],
        "messages": [{"role": "user", "content": "hi"}],
    }
    with memory() as store:
        store.capture(body, "openai-chat")
        session = store.session(body["session_id"], body["conversation_id"])
        document = document_of(session)
    assert document.startswith(
        f"# Session {session.session_id}\n\n"
        'Captured as `"## 1. user"`.\n\n'
        f'Conversation {session.conversation_id}, captured as ``"a`b\\n"``.\n\n## 1. user'
    )
    assert len(read_back(document)) == 1


def test_a_conversation_without_a_name_of_its_own_is_named_by_its_id() -> None:
    document = document_of(session_of(turn(1, "a"), conversation=CONVERSATION))
    assert document.startswith(f"# Session {SESSION}\n\nConversation {CONVERSATION}.\n\n## 1. user, 2026")


def test_what_is_left_out_is_counted() -> None:
    said = turn(1, "x", metadata={"agent": 5, "memory": {}}, model="m", token_usage={}, execution_ref="1")
    session = session_of(said, turn(2, "", "system", metadata={"memory": {"state_only": True}}), captures=CAPTURED)
    assert write(session).lost == {"agents": 1, "contexts": 1, "metadata": 1, "not_in_history": 1, "token_usage": 1}
    assert write(session_of(turn(1, "x", model=["m"]))).lost == {"models": 1}


def test_every_text_of_our_real_chats_comes_back() -> None:
    for chat in tau_chats(TESTS / "data" / "tau-bench-airline__3.jsonl"):
        check_contents(texts_of(chat))


def test_every_text_of_the_shared_data_comes_back(shared) -> None:
    for content in shared_texts(shared):
        check_contents(content)
