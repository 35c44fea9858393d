"""What of a turn is counted, and that nothing which a model is sent is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.turn import SessionTurn
from agent.core.window.counted_text import PER_CALL, PER_MESSAGE, PER_NAME, content_alone, message_tokens, sent
from agent.core.window.estimate import Estimator
from agent.core.window.policy import Policy
from agent.core.window.window import build_window

ID = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(
    ["agent", "native", "blocks", "parts", "content", "item", "tool_name", "arguments", "native_id"]
)
metadata = st.dictionaries(names, json_values | st.dictionaries(names, json_values, max_size=3), max_size=3)


def turn(role: str = "assistant", content: str | None = "said", **fields: Any) -> SessionTurn:
    return SessionTurn(ID, 1, ID, None, role, content, content is None, fields)


def call(name: str = "find", **more: Any) -> dict[str, Any]:
    return {"tool_name": name, "invocation_id": ID, **more}


def words(text: str) -> int:
    return len(text.split())


def test_a_message_is_its_content_and_the_tokens_around_it() -> None:
    assert sent(turn()) == (("said",), PER_MESSAGE)


def test_a_message_without_words_still_takes_tokens() -> None:
    assert sent(turn(content="")) == ((), PER_MESSAGE)
    assert message_tokens(turn(content=None), words) == PER_MESSAGE


def test_who_spoke_is_a_name() -> None:
    assert sent(turn(metadata={"agent": "billing"})) == (("said", "billing"), PER_MESSAGE + PER_NAME)


def test_a_call_is_its_name_its_id_and_its_arguments_as_compact_json() -> None:
    made = turn(tool_invocations=[call(native_id="call_1", arguments={"city": "Köln", "n": 2})])
    assert sent(made) == (("said", "find", "call_1", '{"city":"Köln","n":2}'), PER_MESSAGE + PER_CALL)


def test_arguments_that_are_text_count_as_that_text() -> None:
    assert sent(turn(tool_invocations=[call(arguments="ls -l")])).texts == ("said", "find", ID, "ls -l")


def test_a_result_counts_the_name_and_the_id_of_its_call_and_not_its_arguments() -> None:
    answered = turn("tool", tool_invocations=[call(native_id="call_1", arguments={"n": 1})])
    assert sent(answered).texts == ("said", "find", "call_1")


def test_calls_make_a_message_strictly_longer() -> None:
    tokens = [
        message_tokens(turn(content="", tool_invocations=[call("n" * 30)] * calls), words) for calls in (0, 1, 2, 8)
    ]
    assert tokens == sorted(set(tokens))


@pytest.mark.parametrize(
    "kept",
    [
        {
            "native": {
                "parts": [0, [1, {"cache": "one"}], {"type": "thinking", "thinking": "two", "signature": "three"}]
            }
        },
        {"native": {"content": [None, {"type": "image_url", "image_url": {"url": "one", "detail": ["two", "three"]}}]}},
        {
            "native": {
                "item": {"type": "reasoning", "id": "r_1", "summary": ["one", "two"], "encrypted_content": "three"}
            }
        },
        {"native": {"reasoning": "one", "reasoning_content": "two", "reasoning_details": [{"text": "three"}]}},
        {"blocks": [{"type": "thinking", "thinking": "one", "signature": "two"}, "three"]},
    ],
)
def test_what_a_provider_is_given_back_counts(kept: dict[str, Any]) -> None:
    assert sent(turn(metadata=kept)).texts == ("said", "one", "two", "three")


def test_what_the_content_or_a_call_says_already_counts_once() -> None:
    parts = [{"text": "first"}, {"text": 'the "last"'}, {"tool_use": {"name": "find", "input": {"q": 'a\n"b"'}}}]
    made = turn(
        content='first\nthe "last"',
        tool_invocations=[call(arguments={"q": 'a\n"b"'})],
        metadata={"native": {"parts": parts}},
    )
    assert sent(made).texts == ('first\nthe "last"', "find", ID, '{"q":"a\\n\\"b\\""}')


def test_binary_data_count_as_the_digest_that_stands_for_them() -> None:
    digest = {"sha256": "ab" * 32, "bytes": 5_000_000, "media_type": "image/png"}
    part = {"type": "image", "source": {"type": "base64", "data": digest}}
    assert sent(turn(metadata={"native": {"parts": [part]}})).texts == ("said", "ab" * 32, "image/png")


def test_records_of_an_answer_are_sent_to_nobody() -> None:
    beside = {"answer": {"id": "chatcmpl-1", "model": "m"}, "finish_reason": "stop", "create_time": 1.0}
    assert sent(turn(metadata={"native": beside}, token_usage={"total_tokens": 5})).texts == ("said",)


def test_what_another_writer_left_is_no_reason_to_fail() -> None:
    odd = turn(
        metadata={"agent": 7, "native": [], "blocks": 3}, tool_invocations=[3, {"tool_name": None}, call(native_id=4)]
    )
    assert sent(odd).texts == ("said", "find")
    assert sent(turn(metadata="none", tool_invocations="none")).texts == ("said",)


def test_a_lone_surrogate_in_arguments_is_counted_and_not_refused() -> None:
    assert "\ud800" in sent(turn(tool_invocations=[call(arguments={"n": "\ud800"})])).texts[-1]


@given(metadata, st.lists(st.dictionaries(names, json_values, max_size=3), max_size=3), st.text())
def test_any_turn_is_counted_and_its_texts_are_never_empty(
    told: dict[str, Any], calls: list[dict[str, Any]], content: str
) -> None:
    texts, around = sent(turn(content=content, metadata=told, tool_invocations=calls))
    assert all(texts)
    assert around >= PER_MESSAGE + PER_CALL * len(calls)
    assert len(texts) >= len(sent(turn(content=content)).texts)


@pytest.mark.parametrize("levels", [255, 990, 5000])
def test_nesting_of_any_depth_is_counted_and_a_window_is_built_of_it(levels: int) -> None:
    nested: Any = "end"
    for level in range(levels):
        nested = [nested] if level % 2 else {"a": nested}
    made = turn(tool_invocations=[call(arguments=nested)], metadata={"native": {"parts": [nested]}})
    assert len(sent(made).texts[-1]) > 3 * levels
    assert Estimator()(made) > levels
    answer = SessionTurn(ID[:-1] + "2", 2, ID, ID, "tool", "found", False, {"tool_invocations": [call()]})
    window = build_window([made, answer], Policy(strategy="importance", max_tokens=100_000), Estimator())
    assert len(window.messages) == 2


def test_content_alone_is_the_content_of_a_turn_that_is_sent_nothing_else() -> None:
    assert content_alone(turn()) == content_alone(turn(tool_invocations=[], metadata={"memory": {}})) == "said"
    assert content_alone(turn(metadata="none")) == "said"
    beside: dict[str, Any]
    for beside in ({"tool_invocations": [call()]}, {"metadata": {"agent": "a"}}, {"metadata": {"native": {}}}):
        assert content_alone(turn(**beside)) is None


@given(metadata, st.lists(st.dictionaries(names, json_values, max_size=3), max_size=1), st.text(min_size=1))
def test_where_there_is_content_alone_nothing_else_is_sent(
    told: dict[str, Any], calls: list[dict[str, Any]], content: str
) -> None:
    made = turn(content=content, metadata=told, tool_invocations=calls)
    assert content_alone(made) is None or sent(made) == ((content,), PER_MESSAGE)


PIECES = st.sampled_from(["a", "b", "ab", "ba", "aab", 'a"b', "a\nb", "abba", "find", "c"])


@given(st.lists(PIECES, max_size=8), st.lists(PIECES, max_size=4), st.lists(PIECES, max_size=8))
def test_what_is_told_anywhere_counts_once_in_whatever_order(
    content: list[str], given_to_calls: list[str], kept: list[str]
) -> None:
    calls = [call(native_id="id", arguments={"q": each}) for each in given_to_calls]
    made = turn(content="".join(content), tool_invocations=calls, metadata={"native": {"parts": kept}})
    told = sent(turn(content="".join(content), tool_invocations=calls)).texts
    new = [
        text
        for text in kept
        if not any(text in each or json.dumps(text, ensure_ascii=False)[1:-1] in each for each in told)
    ]
    assert sent(made).texts == (*told, *new)


def test_thousands_of_parts_that_tell_what_the_calls_tell_count_once() -> None:
    calls = [call(f"tool_{number}", native_id=f"c_{number}", arguments={"q": f"v {number}"}) for number in range(2000)]
    parts = [{"name": f"tool_{number}", "input": {"q": f"v {number}"}} for number in range(2000)]
    made = turn(tool_invocations=calls, metadata={"native": {"parts": parts}})
    assert sent(made).texts == sent(turn(tool_invocations=calls)).texts


def test_of_thousands_of_parts_that_are_told_nowhere_each_counts() -> None:
    parts = [f"thought {number}" for number in range(20_000)]
    assert len(sent(turn(content="said " * 4000, metadata={"native": {"parts": parts}})).texts) == 20_001
