"""What holds of every narrowed payload: its shape and its graph stay, its content goes, and twice is once."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.capture.validation import validate_payload
from agent.content.narrowing import narrowed
from agent.content.omitted import Omitting
from agent.content.policy import ContentPolicy
from agent.content.redacted import Redacting
from agent.core.canonical import encode
from agent.core.graph import build_graph
from tests.content.found_texts import find
from tests.strategies import json_values, payloads

KEY = b"a key of sixteen"
POLICY = ContentPolicy("none", KEY, frozenset({"ssn"}))
SPOKEN = "ann@example.org"
modes = pytest.mark.parametrize("mode", ["redacted", "none"])
texts = st.lists(
    st.sampled_from(
        [SPOKEN, "4111111111111111", '"ssn": ', "12", "null", "[redacted:email]", "sk-0123456789", "@", "\\", '"']
    )
    | st.text(max_size=4),
    max_size=6,
).map("".join)
escapes = st.sampled_from(
    [
        "\\ud83d",
        "\\ude00",
        "\\u0040",
        "ann\\u0040example.org",
        '\\"',
        "\\\\",
        "\\n",
        '\\"ssn\\": ',
        '"\\u0073sn":',
        '""',
        "x",
        ",",
    ]
)
named = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from(["ssn", "a", SPOKEN]) | st.text(max_size=3), children, max_size=3)
    ),
    max_leaves=10,
)


def kept(payload: Any, mode: str) -> Any:
    return narrowed(payload, mode, POLICY, find).payload


def shape(value: Any) -> Any:
    """What of a payload has to stay: of what is content only that it is there."""
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else None


@modes
@given(payload=payloads())
def test_a_narrowed_payload_is_one_that_could_have_been_sent(mode, payload):
    validate_payload(kept(payload, mode))


@modes
@given(payload=payloads())
def test_the_graph_of_a_narrowed_payload_is_that_of_the_payload(mode, payload):
    assert build_graph(kept(payload, mode)) == build_graph(payload)


@modes
@given(payload=payloads())
def test_a_payload_that_is_narrowed_twice_is_narrowed_once(mode, payload):
    # A hash that came with a text is not ours to the second time: only the length stays.
    once = kept(payload, mode) if mode == "redacted" else kept(kept(payload, mode), mode)
    assert encode(kept(once, mode)) == encode(once)
    keyless = narrowed(payload, mode, POLICY._replace(hash_key=None), find).payload
    assert encode(kept(keyless, mode)) == encode(keyless)


@modes
@given(payload=payloads())
def test_but_for_arguments_all_that_is_there_stays_there(mode, payload):
    held = kept(payload, mode)
    for turn in [*payload["turns"], *held["turns"]]:
        for call in turn.get("tool_invocations", ()):
            call.pop("arguments", None)
    assert shape(held) == shape(payload)


@given(payload=payloads(), planted=st.text(st.characters(codec="utf-8"), max_size=40))
def test_of_content_arguments_and_metadata_nothing_is_left_in_the_mode_none(payload, planted):
    # With a head that nothing else has: a text of hexadecimal digits is in every hash.
    planted = f"\u00a7planted\u00a7{planted}"
    turn = payload["turns"][0]
    turn |= {
        "content": planted,
        "note": [planted],
        "metadata": {"a": {"b": planted}, "memory": {"params": {"p": planted}, "last_result": planted}},
        "tool_invocations": [
            {"tool_name": "t", "invocation_id": payload["conversation_id"], "arguments": {planted: planted}}
        ],
    }
    payload["native"] = {"kept": planted}
    assert "planted" not in encode(kept(payload, "none")).decode()


@given(value=named | json_values)
def test_what_is_redacted_once_has_nothing_left_to_redact(value):
    rule = Redacting(find, frozenset({"ssn"}))
    once = rule.member("x", value)
    again = Redacting(find, frozenset({"ssn"}))
    assert again.member("x", once) == once
    assert again.counts == {}


@given(value=named, spelling=st.sampled_from([{}, {"ensure_ascii": False}, {"indent": 2}]))
def test_a_text_that_is_json_is_json_when_it_is_redacted(value, spelling):
    text = json.dumps([value], **spelling)
    after = Redacting(find, frozenset({"ssn"})).text(text)
    json.loads(after)


@given(value=json_values)
def test_what_is_omitted_keeps_keys_nulls_and_booleans(value):
    held = Omitting(KEY).member("x", value)
    assert shape(held) == shape(value)
    held = Omitting(None).member("x", value)
    assert Omitting(KEY).member("x", held) == held


@modes
@given(
    text=texts | st.text(st.characters(codec="utf-8")) | st.lists(escapes, max_size=8).map("".join),
    is_json=st.booleans(),
)
def test_a_text_that_the_edge_takes_is_one_that_can_be_stored(mode, text, is_json):
    sent = f'{{"a": "{text}"}}' if is_json else text
    held = kept({"turns": [{"content": sent, "metadata": {"m": sent, "ssn": sent}, "note": [sent]}]}, mode)
    encode(held).decode()


@given(parts=st.lists(escapes | texts, max_size=8))
def test_a_text_with_escapes_that_is_redacted_once_has_nothing_left_to_redact(parts):
    once = Redacting(find, frozenset({"ssn"})).text("".join(parts))
    again = Redacting(find, frozenset({"ssn"}))
    assert again.text(once) == once
    assert again.counts == {}


def test_deep_nesting_and_many_values_are_narrowed():
    deep: Any = SPOKEN
    for _ in range(64):
        deep = [{"a": deep}]
    many = [{"n": place, "s": SPOKEN} for place in range(80_000)]
    payload = {"turns": [{"metadata": {"deep": deep, "many": many}}]}
    for mode in ("redacted", "none"):
        held = kept(payload, mode)["turns"][0]["metadata"]
        assert len(held["many"]) == 80_000
        assert SPOKEN not in encode(held).decode()
