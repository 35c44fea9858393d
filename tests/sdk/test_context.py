"""``session.context``: what of a session a model is to be given, in our messages or in a provider's words."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from agent.errors import BudgetTooSmall, ConfigurationError, ValidationError
from agent.formats import WRITES
from agent.recall.held import HeldSessions
from agent.sdk import Message, SessionHandle
from tests.sdk.memories import in_memory, texts
from tests.sdk.test_foreign_messages import ANSWER, ANSWER_RESULT, COMPLETION, COMPLETION_RESULT

PROMPT = Message("system", "You are the parcel desk. Be brief.")
MARKED = "... [{} messages removed] ..."


def said(number: int) -> list[Message]:
    return [
        Message("user", f"Where is parcel {4400 + number}?"),
        Message("assistant", f"Parcel {4400 + number}: Bern."),
    ]


def fill(session: SessionHandle, exchanges: int = 40) -> None:
    session.extend([PROMPT, *(message for number in range(exchanges) for message in said(number))])


def test_what_fits_is_given_whole_and_as_history_gives_it(session):
    session.extend([PROMPT, *said(1)])
    window = session.context(max_tokens=4000)
    assert window.messages == session.history()
    assert (window.manifest.kept, window.manifest.dropped, window.manifest.markers) == (3, 0, 0)
    assert (window.document, window.warnings) == (None, ())


def test_where_it_does_not_fit_a_marker_counts_what_is_missing(session):
    fill(session)
    window = session.context(max_tokens=200)
    (marker,) = [message for message in window.messages if "marker" in message.metadata]
    missing = marker.metadata["marker"]
    assert marker.text == MARKED.format(missing)
    assert window.messages[0].text == PROMPT.text
    assert window.messages[-1].text == "Parcel 4439: Bern."
    assert missing == window.manifest.dropped == 81 - (len(window.messages) - 1)
    assert window.manifest.tokens <= 200


def test_h26_the_system_prompt_is_in_every_window(session):
    fill(session)
    for strategy in ("rolling_window", "importance", "hybrid", "truncate"):
        messages = session.context(max_tokens=150, strategy=strategy).messages
        assert messages[0].text == PROMPT.text
        removed = sum(message.metadata.get("marker", 0) for message in messages)
        assert removed + sum("marker" not in message.metadata for message in messages) == 81


def test_h27_a_newest_message_that_is_too_long_alone_is_cut_and_says_by_how_much(session):
    session.extend([PROMPT, Message("user", "long " * 10_000)])
    window = session.context(max_tokens=1000)
    *_, newest = window.messages
    assert newest.role == "user"
    assert "characters removed" in newest.text
    assert 0 < len(newest.text) < 50_000
    assert window.manifest.tokens <= 1000
    assert window.manifest.choices[-1].cut > 0


def test_a_message_that_was_cut_is_no_revision_of_the_one_it_was_cut_from(session):
    session.append(Message("user", "long " * 10_000))
    *_, newest = session.context(max_tokens=500).messages
    assert (newest.turn_id, newest.seq) == (None, None)
    session.append(newest)
    assert [len(text) for text in texts(session)] == [50_000, len(newest.text)]


def test_a_budget_that_is_too_small_says_how_much_is_needed(session):
    fill(session)
    with pytest.raises(BudgetTooSmall) as caught:
        session.context(max_tokens=3)
    needed = caught.value.needed
    assert needed > 3
    assert session.context(max_tokens=needed).manifest.tokens <= needed
    with pytest.raises(BudgetTooSmall):
        session.context(max_tokens=needed - 1)


@pytest.mark.parametrize("form", WRITES)
def test_every_format_gives_a_document_without_the_ids_of_a_capture(session, form: str):
    fill(session)
    window = session.context(max_tokens=300, format=form)
    assert window.document is not None
    assert not {"session_id", "conversation_id"} & window.document.keys()
    assert window.messages or form == "openinference"
    assert window.manifest.dropped > 0


def test_a_chat_completion_is_called_with_the_messages_as_they_are(session):
    session.extend([PROMPT, {"role": "user", "content": "where is it?"}, COMPLETION, COMPLETION_RESULT])
    window = session.context(max_tokens=2000, format="openai-chat")
    assert window.document == {"messages": window.messages}
    system, user, call, result = window.messages
    assert (system["role"], user) == ("system", {"role": "user", "content": "where is it?"})
    assert call["tool_calls"][0]["id"] == result["tool_call_id"] == "call_7"


def test_anthropic_is_given_its_system_prompt_beside_the_messages(session):
    session.extend([PROMPT, {"role": "user", "content": "where is it?"}, ANSWER, ANSWER_RESULT])
    window = session.context(max_tokens=2000, format="anthropic")
    assert window.document is not None
    assert window.document.keys() == {"system", "messages"}
    assert [message["role"] for message in window.messages] == ["user", "assistant", "user"]


def test_what_an_open_batch_adds_is_seen_and_is_not_remembered(session):
    fill(session, 2)
    whole = session.context(max_tokens=4000).messages

    def given_up() -> None:
        with session.batch():
            session.append(Message("user", "And parcel 4471?"))
            *before, new = session.context(max_tokens=4000).messages
            assert (before, new.text, new.seq) == (whole, "And parcel 4471?", None)
            written = session.context(max_tokens=4000, format="openai-chat")
            assert written.messages[-1] == {"role": "user", "content": "And parcel 4471?"}
            raise LookupError

    with pytest.raises(LookupError):
        given_up()
    assert session.context(max_tokens=4000).messages == whole


def test_what_others_wrote_meanwhile_is_in_the_next_window(memory, session):
    session.append(Message("user", "one"))
    session.context(max_tokens=4000)
    memory.for_session("chat-7").append(Message("assistant", "two"))
    assert [message.text for message in session.context(max_tokens=4000).messages] == ["one", "two"]


def test_a_session_that_nobody_wrote_to_has_an_empty_window(session):
    window = session.context(max_tokens=100)
    assert (window.messages, window.manifest.kept, window.manifest.dropped) == ([], 0, 0)
    assert session.context(format="openai-chat").messages == []


def test_a_new_conversation_begins_with_an_empty_window_unless_the_scope_is_the_session(memory, session):
    session.extend([PROMPT, *said(1)])
    new = memory.for_session("chat-7", "second")
    assert new.context(max_tokens=1000).messages == []
    assert len(new.context(max_tokens=1000, scope="session").messages) == 3
    new.extend([Message("system", "You sell stamps."), Message("user", "a stamp, please")])
    assert [message.text for message in new.context(max_tokens=1000).messages] == [
        "You sell stamps.",
        "a stamp, please",
    ]
    # Without a name: the conversation with the newest turn.
    assert len(memory.for_session("chat-7").context(max_tokens=1000).messages) == 2
    assert len(memory.for_session("chat-7").context(max_tokens=1000, scope="session").messages) == 5


def test_what_was_cleared_is_in_no_window(session):
    fill(session, 3)
    session.clear()
    session.append(Message("user", "anew"))
    assert [message.text for message in session.context(max_tokens=1000).messages] == [PROMPT.text, "anew"]


@pytest.mark.parametrize("whole_bytes", [1, 2**20])
def test_a_session_that_is_held_without_content_has_the_same_window(memory, session, whole_bytes: int):
    fill(session, 20)
    session.append(Message("user", "long " * 400))
    whole = session.context(max_tokens=300)
    memory.store.held = HeldSessions(memory.store.reads, whole_bytes=whole_bytes)
    light = session.context(max_tokens=300)
    assert [message.text for message in light.messages] == [message.text for message in whole.messages]
    assert light.manifest.hash == whole.manifest.hash
    assert light.messages[-1].turn_id is None
    with session.batch():
        session.append(Message("user", "and now?"))
        assert session.context(max_tokens=300).messages[-1].text == "and now?"


def test_a_window_that_leaves_messages_out_says_so_in_the_log(session, caplog):
    fill(session)
    with caplog.at_level(logging.INFO):
        session.context(max_tokens=10_000)
        window = session.context(max_tokens=200)
    (line,) = [record for record in caplog.records if record.getMessage() == "context_pruned"]
    assert vars(line)["agent_members"] == {
        "session_id": session.session_uuid,
        "kept": window.manifest.kept,
        "dropped": window.manifest.dropped,
        "tokens": window.manifest.tokens,
        "strategy": "truncate",
    }


def test_nothing_is_written(memory, session):
    fill(session, 3)
    version = session.state()["version"]
    session.context(max_tokens=100, strategy="importance", query="parcel 4402")
    assert session.state()["version"] == version


@pytest.mark.parametrize(
    ("asked", "path", "rule"),
    [
        ({"strategy": "summarize"}, "$.strategy", "unsupported"),
        ({"strategy": "best"}, "$.strategy", "enum"),
        ({"format": "yaml"}, "$.format", "enum"),
        ({"scope": "all"}, "$.scope", "enum"),
        ({"max_tokens": "many"}, "$.max_tokens", "type"),
        ({"max_tokens": True}, "$.max_tokens", "type"),
        ({"max_tokens": -1}, "$.max_tokens", "minimum"),
        ({"min_recent": -1}, "$.min_recent", "minimum"),
        ({"max_messages": 0}, "$.max_messages", "minimum"),
        ({"query": 7}, "$.query", "type"),
        ({"model": 7}, "$.model", "type"),
        ({"max_tokens": 10**400}, "$.max_tokens", "maximum"),
        ({"max_messages": 10**400}, "$.max_messages", "maximum"),
        ({"min_recent": 1.5}, "$.min_recent", "type"),
        ({"strategy": 7}, "$.strategy", "type"),
        ({"format": 7}, "$.format", "enum"),
        ({"marker": 5}, "$.marker", "type"),
        ({"marker": "\ud800"}, "$.marker", "surrogate"),
    ],
)
def test_what_no_window_is_cut_by_is_refused(session, asked: dict[str, Any], path: str, rule: str):
    session.append(Message("user", "hello"))
    with pytest.raises(ValidationError) as caught:
        session.context(**asked)
    assert [(problem.path, problem.rule) for problem in caught.value.problems] == [(path, rule)]


def test_a_settings_default_holds_where_nothing_is_said():
    with in_memory(
        environ={"CONVERSATION_MAX_HISTORY_MESSAGES": "4", "CONVERSATION_MARKER": "[earlier: {count}]"}
    ) as memory:
        session = memory.for_session("chat-7")
        fill(session)
        window = session.context()
        assert [message.text for message in window.messages if "marker" in message.metadata] == ["[earlier: 76]"]
        assert session.context(max_messages=80).manifest.dropped == 0
        assert session.context(max_tokens=10_000).manifest.dropped == 0


def test_a_setting_that_does_not_hold_is_told_when_the_memory_is_made():
    with pytest.raises(ConfigurationError) as caught:
        in_memory(environ={"CONVERSATION_CONTEXT_STRATEGY": "summarize"})
    assert caught.value.variable == "CONVERSATION_CONTEXT_STRATEGY"


def test_a_model_s_limit_holds_where_no_budget_is_given_and_an_unknown_one_is_warned_about(session):
    fill(session)
    window = session.context(model="no-such-model", max_messages=1000)
    assert window.manifest.dropped == 0
    assert window.warnings == ("unknown_model",)
    assert session.context(model="gpt-4o", max_messages=1000).warnings == ()


def test_the_same_session_has_the_same_window(session):
    fill(session)
    assert session.context(max_tokens=200).manifest.hash == session.context(max_tokens=200).manifest.hash
    assert session.context(max_tokens=200).manifest.hash != session.context(max_tokens=150).manifest.hash


def test_the_message_that_is_to_be_answered_chooses_what_is_relevant(session):
    session.extend([PROMPT, Message("user", "My cat is called Minka."), Message("assistant", "A fine name.")])
    session.extend([message for number in range(60) for message in said(number)])
    window = session.context(max_tokens=300, strategy="relevant", query="What is my cat called?", min_recent=2)
    assert window.manifest.strategy == "relevant"
    assert "My cat is called Minka." in [message.text for message in window.messages]
    rolling = session.context(max_tokens=300, strategy="rolling_window", min_recent=2)
    assert "My cat is called Minka." not in [message.text for message in rolling.messages]
