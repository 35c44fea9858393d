"""Values of redacted parameters, and what is like them and none: odd numbers, names of members, longer numbers."""

import json

import pytest

from agent.content.narrowing import narrowed
from agent.content.policy import ContentPolicy
from agent.core.canonical import encode
from tests.content.found_texts import find

LEFT = "[redacted:param]"
OF_400_DIGITS = int("1" + "0" * 399)
# More than Python makes an integer of, or writes: as a member no edge takes it (CONTRACT 2).
OF_5000_DIGITS = "1" + "0" * 4999


def narrow(turn, mode="redacted"):
    payload, redactions = narrowed({"turns": [turn]}, mode, ContentPolicy("redacted", params=frozenset({"pin"})), find)
    encode(payload)
    return payload["turns"][0], redactions


@pytest.mark.parametrize("mode", ["redacted", "none"])
@pytest.mark.parametrize("number", [OF_400_DIGITS, -OF_400_DIGITS, 10**4299, -0.0, 1e308, -1e308, 1e-320])
@pytest.mark.parametrize("pin", ["O-12345", None])
def test_a_number_of_any_size_is_taken_under_a_parameter_and_beside_it(mode, number, pin):
    member = {"pin": number if pin is None else pin, "n": number, "in": [{"pin": [number]}, number]}
    turn = {
        "content": json.dumps(member),
        "metadata": {**member, "memory": {"params": member, "last_result": number}},
        "tool_invocations": [{"arguments": member, "result": json.dumps(member)}, {"arguments": number}],
        "note": number,
    }
    held, _ = narrow(turn, mode)
    if mode == "redacted":
        assert [held["metadata"]["pin"], held["metadata"]["in"][0]] == [LEFT, {"pin": LEFT}]
        assert json.loads(held["content"])["pin"] == LEFT


@pytest.mark.parametrize(
    "spelled", [OF_5000_DIGITS, f"-{OF_5000_DIGITS}", "1e999", "-0.0", "1e-999", "NaN", "-Infinity"]
)
@pytest.mark.parametrize(
    "text", ['{"pin": %s}', '{"pin": [%s]}', '{"n": %s, "pin": "O-12345"}', '[%s, {"pin": {"a": %s}}]', '"pin": %s, %s']
)
def test_a_number_that_nobody_makes_one_of_is_taken_in_a_text(spelled, text):
    said = text.replace("%s", spelled)
    held, _ = narrow(
        {"content": said, "metadata": {"said": said, "pin": said}, "tool_invocations": [{"arguments": said}]}
    )
    assert LEFT in held["content"]
    assert "O-12345" not in json.dumps(held)


def test_a_number_is_a_value_only_whole():
    held, redactions = narrow({"content": "", "note": {"pin": 8566, "at": [48.8566, 0.8566, 8566.5, 8566.0, -8566]}})
    assert held["note"] == {"pin": LEFT, "at": [48.8566, 0.8566, 8566.5, LEFT, LEFT]}
    assert redactions == {"param": 3}
    held, _ = narrow({"content": '{"at":[48.8566,0.8566,8566.0,8566,[8566,5]]}', "note": {"pin": "8566"}})
    assert held["content"] == f'{{"at":[48.8566,0.8566,"{LEFT}","{LEFT}",["{LEFT}",5]]}}'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"alice":1,"bobby" : {"alice":"alice"}}', '{"alice":1,"bobby" : {"alice":"%s"}}'),
        ('{"\\u0061lice":"\\u0061lice","a":"alice"}', '{"\\u0061lice":"%s","a":"%s"}'),
        ('{"an \\"alice\\"":"an \\"alice\\""}', '{"an \\"alice\\"":"an \\"%s\\""}'),
        ('[{"x":"bobby"},["alice",{"alice ann@example.org":"alice"}]]',
         '[{"x":"%s"},["%s",{"alice [redacted:email]":"%s"}]]'),
        ('{"pin":"alice","alice":[]}', '{"pin":"%s","alice":[]}'),
        ('{"dave@example.org":"dave@example.org"}', '{"[redacted:email]":"%s"}'),
        ('{"a":"x y","b y":"x y"}', '{"a":"%s","b y":"x y"}'),
    ],
)  # fmt: skip
def test_names_of_members_stay_in_a_text_that_is_json(text, left):
    values = ["alice", "bobby", "dave@example.org", 'x y","b y']
    held, _ = narrow({"content": text, "note": {"pin": values}, "tool_invocations": [{"arguments": {"alice": text}}]})
    assert held["content"] == left.replace("%s", LEFT)
    assert held["tool_invocations"][0]["arguments"] == {"alice": held["content"]}
    json.loads(held["content"])


def test_what_stays_as_a_name_goes_as_a_value_of_the_same_spelling():
    inner = json.dumps({"a": "alice \\ e"})
    text = json.dumps({inner: inner, "b": inner})
    held, redactions = narrow({"content": text, "note": {"pin": "alice"}})
    gone = inner.replace("alice", LEFT)
    assert json.loads(held["content"]) == {inner: gone, "b": gone}
    assert redactions == {"param": 3}


def test_none_of_a_program_stays_beside_a_parameter_that_has_no_value():
    code = "def f(unit=None):\n    return None if unit is undefined else unit"
    assert narrow({"content": code, "note": {"pin": ["None", "undefined"]}})[0]["content"] == code
