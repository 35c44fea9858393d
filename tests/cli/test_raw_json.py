import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.raw_json import decoded, laid_out, members, one_line, value_of, without
from tests.strategies import json_values, text

objects = st.dictionaries(text, json_values, max_size=4)
indents = st.sampled_from([None, 0, 2])


@given(json_values, indents, st.booleans())
def test_a_value_laid_out_or_on_one_line_is_the_same_value(value: Any, indent: int | None, ascii_only: bool) -> None:
    written = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert json.loads(laid_out(written)) == value
    assert json.loads(one_line(written)) == value
    assert "\n" not in one_line(written)


@given(json_values)
def test_laid_out_is_how_python_indents(value: Any) -> None:
    assert laid_out(json.dumps(value)) == json.dumps(value, indent=2)


def test_numbers_and_escapes_stay_as_they_were_written() -> None:
    written = '{"n":[12345678901234567890123456789.10,1E400,-0.0],"s":"\\u0041\\/","":{}}'
    shown = laid_out(written)
    assert shown.replace("\n", "").replace(" ", "") == written
    assert shown.splitlines()[2] == "    12345678901234567890123456789.10,"


def test_a_control_that_stands_raw_in_a_string_is_escaped_so_that_every_parser_takes_it() -> None:
    written = '{\n\t"a": "x\x1b\x00\ty\n"}'
    assert json.loads(one_line(written)) == {"a": "x\x1b\x00 y "}
    assert json.loads(laid_out(written)) == {"a": "x\x1b\x00 y "}


def test_what_is_no_json_is_laid_out_all_the_same() -> None:
    assert laid_out('{"a":"never closed') == '{\n  "a": "never closed'
    assert laid_out("]}") == "\n]\n}"


@given(objects, indents)
def test_members_are_found_with_the_texts_of_their_values(value: dict[str, Any], indent: int | None) -> None:
    found = members(json.dumps(value, indent=indent))
    assert {name: json.loads(each) for name, each in found.items()} == value


def test_of_a_member_that_comes_twice_the_last_counts_as_for_a_parser() -> None:
    assert members('{"a":1,"a":2}') == {"a": "2"}


@pytest.mark.parametrize("other", ["[]", "1", '"{}"', " null"])
def test_a_value_that_is_no_object_has_no_members(other: str) -> None:
    assert members(other) == {}


@given(objects, json_values, indents)
def test_one_member_is_left_out_and_nothing_else_changes(
    others: dict[str, Any], value: Any, indent: int | None
) -> None:
    others.pop("gone", None)
    written = json.dumps({**others, "gone": value}, indent=indent)
    assert json.loads(without(written, "gone")) == others
    nested = json.dumps({**others, "outer": {**others, "gone": value}}, indent=indent)
    assert json.loads(without(nested, "outer", "gone")) == {**others, "outer": others}


def test_a_text_without_the_member_is_given_back_as_it_is() -> None:
    for written in ('{ "a" : 1 }', '{"a":{"c":1}}', '{"a":[{"b":1}]}', "[]"):
        assert without(written, "a", "b") is written
    assert without('{ "a" : 1 }', "b") == '{ "a" : 1 }'


def test_a_name_that_no_encoding_holds_is_written_as_an_escape() -> None:
    assert without('{"\\ud800":1.50,"b":2}', "b") == '{"\\ud800":1.50}'


def test_a_value_is_read_with_integers_of_any_size() -> None:
    assert value_of(f"[{10**400}, 1.5]") == [10**400, 1.5]
    assert value_of("9" * 5000) == "9" * 5000


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert decoded(b'"\xff\xc3\xa9"') == '"\ufffdé"'
