import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.cli.terminal_text import cut, escape, escape_document, preview
from tests.strategies import json_values

hostile = st.text(
    st.characters(codec="utf-8")
    | st.sampled_from("\x1b\x9b\x08\r\n\t\x00\u202e\u2066\u200f\u200d\u2028\u0301\u20dd\u3000完✅")
)
UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
encodings = st.sampled_from(["utf-8", "cp1252", "ascii", "latin-1", "shift_jis"])


def is_safe(line: str) -> bool:
    return not {unicodedata.category(character) for character in line} & UNSAFE


@settings(deadline=None, max_examples=200)
@given(hostile, encodings)
def test_an_escaped_text_is_one_line_that_a_terminal_draws_and_the_stream_can_write(text: str, encoding: str) -> None:
    line = escape(text, encoding)
    assert is_safe(line)
    line.encode(encoding)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, Zoë, 完成, ✅", "plain, Zoë, 完成, ✅"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x9b2J", "\\x9b2J"),
        ("a\bb\x7f", "a\\x08b\\x7f"),
        ("line\nbreak\ttab", "line\\x0abreak\\x09tab"),
        ("\u202eevil", "\\u202eevil"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("\u0301first", "\\u0301first"),
    ],
)
def test_what_a_terminal_would_act_on_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_a_pile_of_combining_marks_is_cut_down_to_what_languages_stack() -> None:
    assert escape("e" + "\u0301" * 5) == "e" + "\u0301" * 3 + "\\u0301" * 2


def test_what_the_stream_cannot_write_is_escaped_too() -> None:
    assert escape("Zoë ✅", "cp1252") == "Zoë \\u2705"


@settings(deadline=None, max_examples=200)
@given(json_values, encodings)
def test_an_escaped_json_document_says_the_same(value: object, encoding: str) -> None:
    document = escape_document(json.dumps(value, ensure_ascii=False) + "\n", encoding)
    document.encode(encoding)
    assert is_safe(document.replace("\n", ""))
    assert json.loads(document) == value


def test_beyond_the_basic_plane_json_is_escaped_as_a_surrogate_pair() -> None:
    assert escape_document('"🚀"', "cp1252") == '"\\ud83d\\ude80"'


@settings(deadline=None, max_examples=300)
@given(hostile, st.integers(-3, 40), encodings)
def test_a_preview_is_never_wider_than_its_room(text: str, width: int, encoding: str) -> None:
    line = preview(text, width, encoding)
    assert is_safe(line)
    assert cell_len(line) <= max(width, 0)


def test_a_preview_shows_white_space_as_single_blanks_and_says_that_there_is_more() -> None:
    assert preview("one\n\n  two\tthree", 20) == "one two three"
    assert preview("one two three", 8) == "one t..."
    assert preview("x" * 10_000_000, 8) == "xxxxx..."


def test_a_long_run_of_blanks_does_not_hide_that_there_is_more() -> None:
    assert preview("a" + " " * 1000 + "b", 20) == "a ..."


def test_a_wide_character_is_never_split() -> None:
    assert cut("完成完成", 6) == "完..."
    assert cut("完成", 4) == "完成"
    assert cut("完成", 2) == ".."
    assert cut("完成", 0) == ""
