"""Calls that repeat their history, as the conversations that they are: laws of ``lines_of``."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.formats.conversation.message import Call, Message, Result
from agent.formats.conversation.model_calls import ModelCall, lines_of, said_key


def said(role: str, text: str, **more: Any) -> Message:
    return Message(role, text, "nowhere", **more)


messages = st.builds(said, st.sampled_from(["user", "assistant", "system"]), st.sampled_from("abc"))
chats = st.lists(messages, min_size=1, max_size=8)
calls = st.lists(st.builds(ModelCall, st.lists(messages, max_size=4), st.lists(messages, max_size=2)), max_size=8)


def path(line, place: str | None) -> list[bytes]:
    by_place = {message.place: message for message in line.messages}
    found: list[bytes] = []
    while place is not None:
        found.insert(0, said_key(by_place[place]))
        place = by_place[place].parent
    return found


@settings(deadline=None)
@given(chats)
def test_a_chat_whose_every_call_repeats_it_is_that_chat(chat):
    repeated = [ModelCall(chat[:end], chat[end : end + 1]) for end in range(len(chat))]
    (line,) = lines_of(repeated)
    assert [(m.role, m.content) for m in line.messages] == [(m.role, m.content) for m in chat]
    assert [m.place for m in line.messages] == [str(place) for place in range(len(chat))]
    assert line.leaf == str(len(chat) - 1)


@settings(deadline=None)
@given(calls)
def test_every_call_is_a_path_of_one_line_and_every_message_is_on_the_path_of_a_call(sent):
    wanted = [[said_key(m) for m in (*call.inputs, *call.outputs)] for call in sent]
    paths = [path(line, message.place) for line in lines_of(sent) for message in line.messages]
    assert all(each in paths for each in wanted if each)
    assert all(any(call[: len(each)] == each for call in wanted) for each in paths)
    assert len(paths) == len({tuple(each) for each in paths})


@settings(deadline=None)
@given(calls, st.integers(0, 8))
def test_more_calls_only_add(sent, count):
    before, after = lines_of(sent[:count]), lines_of(sent)
    for line, grown in zip(before, after, strict=False):
        assert grown.messages[: len(line.messages)] == line.messages
    assert len(after) >= len(before)


@settings(deadline=None)
@given(calls)
def test_calls_told_twice_are_told_once(sent):
    assert [line.messages for line in lines_of(sent)] == [line.messages for line in lines_of([*sent, *sent])]


def test_equal_words_later_are_said_twice():
    (line,) = lines_of([ModelCall([said("user", "yes"), said("assistant", "yes"), said("user", "yes")], ())])
    assert len(line.messages) == 3


def test_the_first_that_says_it_is_kept_and_a_later_one_tells_what_it_left_open():
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    question, early = said("user", "q"), said("assistant", "a", timestamp="2026-01-01T00:00:00Z")
    late = said(
        "assistant", "a", timestamp="2027-01-01T00:00:00Z", model="m", usage=usage, derived=["timestamp", "model"]
    )
    (line,) = lines_of([ModelCall([question, early], ()), ModelCall([question], [late])])
    told = line.messages[1]
    assert (told.timestamp, told.model, told.usage) == ("2026-01-01T00:00:00Z", "m", usage)
    assert list(told.derived) == ["model"]


def test_a_history_that_leaves_out_the_text_beside_calls_repeats_the_answer_that_had_both():
    question, call = said("user", "q"), Call("look", "c1", {"a": 1})
    answer, repeated = said("assistant", "One moment.", calls=[call]), said("assistant", "", calls=[call])
    result = said("tool", "done", results=[Result("c1")])
    (line,) = lines_of([ModelCall([question], [answer]), ModelCall([question, repeated, result], ())])
    assert [m.content for m in line.messages] == ["q", "One moment.", "done"]


def test_two_answers_that_differ_only_in_the_text_beside_their_calls_are_two():
    question, call = said("user", "q"), Call("look", "c1", {})
    answers = [said("assistant", "One moment.", calls=[call]), said("assistant", "", calls=[call])]
    (line,) = lines_of([ModelCall([question], [answer]) for answer in answers])
    assert [m.content for m in line.messages] == ["q", "One moment.", ""]


def test_another_image_is_another_message() -> None:
    """Shown alike, as a placeholder: the second call is a conversation of its own, with an answer of its own."""

    def asked(data: str) -> Message:
        parts = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]
        return Message("user", "What is it?\n[image: image/png]", "0", native={"content": parts})

    lines = lines_of(
        [
            ModelCall([asked(data)], [Message("assistant", text, "0")])
            for data, text in (("AAAA", "A cat."), ("BBBB", "A dog."), ("AAAA", "A cat."))
        ]
    )
    assert [[message.content for message in line.messages[1:]] for line in lines] == [["A cat."], ["A dog."]]


def test_a_result_that_failed_is_not_the_one_that_did_not() -> None:
    asked = Message("assistant", "", "0", calls=[Call("track", "c", {})])
    failed, done = (Message("tool", "x", "1", results=[Result("c", None, success)]) for success in (False, None))
    (line,) = lines_of([ModelCall([asked, failed], []), ModelCall([asked, done], [])])
    assert [message.results for message in line.messages[1:]] == [failed.results, done.results]


def test_thousands_of_different_calls_after_one_message_take_no_longer_each() -> None:
    """Counted in comparisons: a history that repeats its calls without their text is looked up, not searched for."""
    asked = Message("user", "Go", "0")
    answers = [Message("assistant", "I do.", "1", calls=[Call("track", f"c{n}", {})]) for n in range(2_000)]
    calls = [ModelCall([asked], [answer]) for answer in answers]
    calls += [ModelCall([asked, answer._replace(content="")], []) for answer in answers]
    (line,) = lines_of(calls)
    assert len(line.messages) == 2_001
