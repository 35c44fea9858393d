"""What a redacted parameter holds goes from the whole capture, also from what somebody said (CONTRACT 8)."""

import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.content.gathered import Gathering
from agent.content.narrowing import narrowed
from agent.content.param_values import SHORTEST, is_value
from agent.content.policy import ContentPolicy
from agent.content.redacted import MOST_EFFORT
from agent.core.canonical import encode
from agent.sdk import ConversationMemory
from tests.closed_clients import clients_closed  # noqa: F401 - a fixture of every test here
from tests.conftest import REPOSITORY
from tests.content.found_texts import find

PARAMS = frozenset({"pin", "größe", "last name"})
POLICY = ContentPolicy("redacted", params=PARAMS)
LEFT = "[redacted:param]"


def narrow(*turns, **fields):
    payload, redactions = narrowed({"turns": list(turns), **fields}, "redacted", POLICY, find)
    again, more = narrowed(payload, "redacted", POLICY, find)
    assert (encode(again), more) == (encode(payload), {})
    return payload, redactions


def said(content, **params):
    return {"content": content, "metadata": {"memory": {"params": params}}}


def test_what_somebody_said_is_no_longer_said_beside_the_parameter_that_it_became():
    payload, redactions = narrow(said("It is 0012 3456 78", pin="0012345678"))
    assert payload["turns"] == [said(f"It is {LEFT}", pin=LEFT)]
    assert redactions == {"param": 2}


def test_with_the_example_of_intents_neither_an_agent_nor_the_log_keeps_an_answer(tmp_path):
    environ = {
        "RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 's.db'}",
        "CAPTURE_CONTENT": "redacted",
        "INTENTS_CONFIG": str(REPOSITORY / "config" / "intents.example.yaml"),
    }
    with ConversationMemory(environ=environ) as memory:
        session = memory.for_session("s-1")
        session.ask("account_number")
        assert session.answer("It is 0012 3456 78").params == {"account_number": "0012345678"}
        assert session.params() == {"account_number": LEFT}
        assert session.history()[-1].content == f"It is {LEFT}"
    assert not any(b"3456 78" in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "turn",
    [
        {"content": "", "tool_invocations": [{"arguments": {"a": [{"pin": "O-12345"}]}}]},
        {"content": "", "tool_invocations": [{"arguments": '{"pin": "O-12345"}'}]},
        {"content": "", "tool_invocations": [{"arguments": {}, "result": {"rows": [{"pin": ["O-12345"]}]}}]},
        {"content": "", "metadata": {"memory": {"last_result": {"pin": {"no": "O-12345"}}}}},
        {"content": "", "metadata": {"native": {"pin": "O-12345"}}},
        {"content": 'found {"pin": "O-12345", "a": 1}.'},
        {"content": json.dumps(json.dumps({"a": json.dumps({"pin": "O-12345"})}))},
        {"content": 'say {"\\u0070in": "O\\u002d12345"}'},
        {"content": "", "note": {"pin": "O-12345"}},
    ],
)
def test_wherever_it_stands_by_its_name_it_goes_wherever_it_stands_without(turn):
    other = {
        "content": "my O-12345, not o-12345 or O-123456",
        "tool_invocations": [
            {"arguments": {"to": "O-12345", "in": '{"x": "O\\u002d12345"}'}, "result": ["is O-12345"]}
        ],
        "metadata": {"seen": {"O-12345": "(O-12345)"}},
    }
    payload, _ = narrow(turn, other)
    assert payload["turns"][1] == {
        "content": f"my {LEFT}, not o-12345 or O-123456",
        "tool_invocations": [{"arguments": {"to": LEFT, "in": f'{{"x": "{LEFT}"}}'}, "result": [f"is {LEFT}"]}],
        "metadata": {"seen": {"O-12345": f"({LEFT})"}},
    }
    assert "O-12345" not in json.dumps(payload["turns"][0])


@pytest.mark.parametrize("value", [4711, "4711", 4711.0])
def test_numbers_match_their_own_digits(value):
    payload, _ = narrow(
        said("4711 or 47115", pin=value), n=[4711, 4711.0, -4711, 47115, 4711.5], text='{"a": [4711, 47115]}'
    )
    assert payload["turns"][0]["content"] == f"{LEFT} or 47115"
    assert payload["n"] == [LEFT, LEFT, LEFT, 47115, 4711.5]
    assert payload["text"] == f'{{"a": ["{LEFT}", 47115]}}'


@pytest.mark.parametrize("value", ["abc", 123, True, None, "true", "null", "", LEFT, "[omitted:4711]", [], {}])
def test_what_is_no_value_goes_nowhere_else(value):
    payload, _ = narrow(said("abc 123 true null 4711 omitted redacted:param", pin=value))
    assert payload["turns"][0]["content"] == "abc 123 true null 4711 omitted redacted:param"


@pytest.mark.parametrize(
    "text",
    [
        '{"pin": password, "a": 1}',
        '{"pin": os.environ["word"]}',
        '{"pin": {"type": "string", "is": "password"}',
        '{"pin": "passw',
    ],
)
def test_in_the_text_of_a_program_no_value_stands(text):
    payload, _ = narrow({"content": text}, {"content": "the password of os.environ"})
    assert payload["turns"][1]["content"] == "the password of os.environ"


def test_a_schema_that_describes_a_parameter_holds_no_value_of_it():
    schema = {"properties": {"pin": {"type": "string", "description": "a secret"}, "b": {"type": ["string", "null"]}}}
    payload, _ = narrow(said("a secret string"), tools=[schema])
    assert payload["turns"][0]["content"] == "a secret string"
    assert payload["tools"] == [{"properties": {"pin": LEFT, "b": {"type": ["string", "null"]}}}]
    payload, _ = narrow(said("a secret string", pin={"type": "word", "is": "a secret"}))
    assert payload["turns"][0]["content"] == f"{LEFT} string"


def test_what_a_detector_finds_goes_with_a_value_that_it_is_a_part_of():
    payload, redactions = narrow(said("say ann@example.org for ever! ann@example.org", pin="ann@example.org for ever!"))
    assert payload["turns"][0]["content"] == f"say {LEFT} [redacted:email]"
    assert redactions == {"email": 1, "param": 2}


def test_a_placeholder_is_never_replaced_or_cut():
    payload, _ = narrow(
        said("[redacted:email] is redacted email, [omitted:4711] 4711", pin=["redacted", "email", "4711"])
    )
    assert payload["turns"][0]["content"] == f"[redacted:email] is {LEFT} {LEFT}, [omitted:4711] {LEFT}"


def test_other_modes_and_other_captures_know_nothing_of_it():
    turn = said("It is O-12345", pin="O-12345")
    assert narrowed({"turns": [turn]}, "none", POLICY, find).payload["turns"][0]["content"] == "[omitted:13]"
    assert narrow(said("It is O-12345"))[0]["turns"] == [said("It is O-12345")]
    nobody = narrowed({"turns": [turn]}, "redacted", ContentPolicy("redacted"), find)
    assert nobody == ({"turns": [turn]}, {})


def test_ids_names_and_tags_stay_as_they_do():
    payload, _ = narrow(
        {**said("", pin="planner"), "model": "planner"}, context={"tags": ["planner"], "note": "planner"}
    )
    assert payload["turns"][0]["model"] == "planner"
    assert payload["context"] == {"tags": ["planner"], "note": LEFT}


def gathered(value, **more):
    gathering = Gathering(PARAMS, **{"most_effort": MOST_EFFORT, **more})
    assert gathering.member("x", value) is value
    return gathering


def test_values_come_in_the_order_in_which_they_stand_each_once():
    value = [{"pin": ["b", {"c": 1, "d": "b"}]}, {"größe": "a"}, '"last name": 0012 34, "pin": "z"']
    assert list(gathered(value).values) == ["b", "1", "a", "0012 34", "z"]


def test_no_text_is_read_on_when_no_looks_are_left():
    gathering = gathered(['"pin": 1234, ' * 10, '"pin": 5678'], most_effort=100)
    assert list(gathering.values) == ["1234"]
    assert gathering.effort == 600


def test_a_value_that_nests_deep_is_read():
    deep = sys.getrecursionlimit() // 2
    assert list(gathered({"pin": "x"}).values) == ["x"]
    assert gathered(f'"pin": {"[" * deep}"1234"{"]" * deep}').effort > 0


texts = st.lists(
    st.sampled_from(
        ["0012 3456 78", "4711", "word", " ", ", ", '"', '"pin": ', "\\u0070", "\\", LEFT, "a@b.c", "-", "\n"]
    )
    | st.text(st.characters(codec="utf-8"), max_size=3),
    max_size=8,
).map("".join)
held = st.sampled_from(["0012345678", "4711", "word", "a word", "pass 4711", "张伟明先"]) | st.text(
    st.characters(codec="utf-8", categories=["L", "Nd"]), min_size=SHORTEST, max_size=8
)


@given(content=texts, argument=texts, value=held, around=st.sampled_from([" ", "\n", ", "]))
def test_no_value_of_a_redacted_parameter_is_left_in_any_text(content, argument, value, around):
    spoken = f"{content}{around}{value}{around}{argument}"
    turn = said(spoken, pin=value)
    turn |= {"tool_invocations": [{"arguments": {"a": [spoken]}, "result": spoken}], "note": {"b": spoken}}
    turn["metadata"]["kept"] = json.dumps({"c": spoken})
    payload, redactions = narrow(turn)
    if is_value(value):
        left = re.sub(r"\[(?:redacted|omitted):[^\]]*\]", " [] ", "\n".join(strings(payload)))
        # With a dot or comma and digits on the other side it is a piece of another number.
        assert re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(value)}(?![.,]?\w)", left) is None
        assert redactions["param"] >= 2


def strings(value):
    """Each text in ``value``, and in the JSON that it may be."""
    if isinstance(value, str):
        yield value
        value = json.loads(value) if value.startswith('{"c"') else None
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(each)


@given(st.recursive(texts | held | st.integers() | st.booleans() | st.none(), lambda inner: (
    st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["pin", "a", "größe", "word"]), inner, max_size=3)
), max_leaves=12))  # fmt: skip
def test_what_is_redacted_once_has_nothing_left_to_redact(value):
    narrow(said(json.dumps(value)), kept=value)
