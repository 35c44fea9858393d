"""Tool calls: strict arguments within bounds, and every form in which clients hold a call."""

import pytest

from agent.errors import Problem
from agent.formats.tool_calls import (
    MAX_ARGUMENT_DEPTH,
    ArgumentReader,
    ToolCall,
    arguments_text,
    read_function_call,
    read_tool_calls,
)


def read(*calls):
    problems = []
    found = read_tool_calls(list(calls), "$.t", ArgumentReader(), problems)
    assert problems == []
    return found


def function(name="track", arguments="{}", **fields):
    return {"id": "call_7", "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"n":4471}', {"n": 4471}),
        (' {"n": [1.5, null, true]} ', {"n": [1.5, None, True]}),
        ("[]", []),
        ("null", None),
        ("12345678901234567890123", 12345678901234567890123),
        ('{"s":"\\ud83d\\ude80"}', {"s": "🚀"}),
        ('{"s":"\\u0000"}', {"s": "\0"}),
    ],
)
def test_arguments_that_are_json_are_parsed(text, value):
    assert ArgumentReader().read(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "n=1",
        "{'n': 1}",
        '{"n": 1',
        '{"n": 1} x',
        '{"n":1,"n":2}',
        '{"n":1,"\\u006e":2}',
        "NaN",
        '{"n": -Infinity}',
        "[1e400]",
        '"\\ud83d"',
        '"a JSON string"',
        "9" * 4301,
        "\ufeff{}",
        "[" * (MAX_ARGUMENT_DEPTH + 1) + "]" * (MAX_ARGUMENT_DEPTH + 1),
        "[" * 5000 + "]" * 5000,
    ],
)
def test_arguments_that_are_not_strict_json_stay_the_text_they_are(text):
    assert ArgumentReader().read(text) is text


def test_arguments_may_nest_as_deep_as_a_document_lets_them():
    text = "[" * MAX_ARGUMENT_DEPTH + "]" * MAX_ARGUMENT_DEPTH
    assert arguments_text(ArgumentReader().read(text)) == text


def test_the_arguments_of_one_body_share_the_bound_on_values():
    arguments = ArgumentReader(max_values=10)
    assert arguments.read("[1,2,3,4]") == [1, 2, 3, 4]
    assert arguments.read("[1,2,3,4,5]") == "[1,2,3,4,5]"
    assert arguments.read("[1,2,3,4]") == [1, 2, 3, 4]
    assert arguments.read("{}") == "{}"


def test_text_that_cannot_fit_the_bound_is_not_parsed_at_all():
    arguments = ArgumentReader(max_values=10)
    assert arguments.read("[" + ",".join("1" * 20) + "]") == "[" + ",".join("1" * 20) + "]"
    assert arguments.read("[1]") == [1]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (function(arguments='{"n":4471}'), ToolCall("track", "call_7", True, {"n": 4471}, exact=True)),
        (function(arguments='{"n": 4471}'), ToolCall("track", "call_7", True, {"n": 4471}, exact=False)),
        (function(arguments=""), ToolCall("track", "call_7", True, "", exact=True)),
        (function(arguments="null"), ToolCall("track", "call_7", True, None, exact=True)),
        (function(arguments={"n": 1}), ToolCall("track", "call_7", True, {"n": 1}, exact=False)),
        (function(arguments=None), ToolCall("track", "call_7", False, None, exact=False)),
        (function(id=""), ToolCall("track", "", True, {}, exact=True)),
        (function(id=None), ToolCall("track", "track", True, {}, exact=False)),
        (function(name=""), ToolCall("unknown", "call_7", True, {}, exact=False)),
        (function(name=5), ToolCall("unknown", "call_7", True, {}, exact=False)),
        (function(index=0), ToolCall("track", "call_7", True, {}, exact=False)),
        (function(type="tool"), ToolCall("track", "call_7", True, {}, exact=False)),
        ({"function": {}}, ToolCall("unknown", None, False, None, exact=False)),
        ({"id": "a", "name": "flat", "arguments": "[1]"}, ToolCall("flat", "a", True, [1], exact=False)),
        (
            {"id": "a", "type": "custom", "custom": {"name": "sh", "input": "[1]"}},
            ToolCall("sh", "a", True, "[1]", exact=False),
        ),
        ({"id": "a", "type": "custom", "custom": {}}, ToolCall("unknown", "a", False, None, exact=False)),
    ],
)
def test_a_call_in_each_form(call, expected):
    assert read(call) == [expected]


@pytest.mark.parametrize(
    ("calls", "path"),
    [
        ({}, "$.t"),
        ("x", "$.t"),
        ([None], "$.t[0]"),
        ([function(), "x"], "$.t[1]"),
        ([{"function": "track"}], "$.t[0].function"),
        ([{"function": None}], "$.t[0].function"),
        ([{"custom": []}], "$.t[0].custom"),
        ([function(id=7)], "$.t[0].id"),
    ],
)
def test_what_is_no_call_is_refused_at_its_path(calls, path):
    problems = []
    read_tool_calls(calls, "$.t", ArgumentReader(), problems)
    assert problems == [Problem(path, "type")]


def test_null_is_no_calls():
    problems = []
    assert read_tool_calls(None, "$.t", ArgumentReader(), problems) == []
    assert problems == []


def test_an_old_function_call_has_its_name_as_its_id():
    call = read_function_call({"name": "track", "arguments": "{}"}, ArgumentReader())
    assert call == ToolCall("track", "track", True, {}, exact=False)
    assert read_function_call({}, ArgumentReader()) == ToolCall("unknown", None, False, None, exact=False)
