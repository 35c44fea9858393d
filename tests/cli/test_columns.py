import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.cli.columns import Column, Columns

THREE = (Column("n", 4, right=True), Column("name", 8), Column("what", 10))
HOSTILE = [
    "\x1b[2J\x1b[1;1Hgone",
    "a\nb\r\nc\td",
    "\u202egnorts\u2066",
    "完成完成完成完成",
    "é" * 30,
    "a" + "\u0301" * 50,
    "x" * 10_000,
    "\x9b2J\x07\b\b\b",
    "\u200b\u2028\ufeff\ud800",
    "",
]


def columns(width: int = 40, encoding: str = "utf-8") -> Columns:
    return Columns(THREE, width=width, encoding=encoding)


def test_titles_stand_over_their_values() -> None:
    assert columns().header() == "   n  name      what"
    assert columns().row(["7", "Ann", "a word"]) == "   7  Ann       a word"


def test_the_last_column_takes_what_room_is_left() -> None:
    assert columns(40).row(["1", "b", "c" * 50]) == "   1  b         " + "c" * 21 + "..."
    assert columns(200).row(["1", "b", "c" * 50]).endswith("c" * 50)


def test_the_last_column_is_never_narrower_than_it_says_nor_than_twenty_cells() -> None:
    assert len(columns(10).row(["1", "b", "c" * 50])) == 16 + 20
    wide = Columns((Column("n", 4), Column("id", 36)), width=10, encoding="utf-8")
    assert wide.row(["1", "c" * 36]) == "1     " + "c" * 36


def test_a_value_that_a_column_cannot_hold_is_cut_with_dots() -> None:
    assert columns().row(["123456", "a long name", "x"]) == "1...  a lon...  x"


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
@pytest.mark.parametrize("evil", HOSTILE)
def test_no_text_breaks_a_column_or_moves_the_cursor(evil: str, encoding: str) -> None:
    made = columns(encoding=encoding)
    assert_in_columns(made.row([evil, evil, evil]), encoding)
    assert_in_columns(made.row([evil, "|", "|"]), encoding)
    line = made.row([evil, evil, "|end"])
    assert cell_len(line.removesuffix("|end")) == 16
    assert line.endswith("|end")


@given(st.lists(st.text(max_size=40), min_size=2, max_size=2))
def test_the_last_value_begins_in_the_same_cell_whatever_stands_before_it(values: list[str]) -> None:
    line = columns().row([*values, "|end"])
    assert_in_columns(line, "utf-8")
    assert cell_len(line.removesuffix("|end")) == 16


def assert_in_columns(line: str, encoding: str) -> None:
    assert cell_len(line) <= 40
    assert not {unicodedata.category(character) for character in line} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert line.encode(encoding).decode(encoding) == line


def test_a_row_has_a_value_for_each_column() -> None:
    with pytest.raises(ValueError, match="shorter"):
        columns().row(["1", "b"])
