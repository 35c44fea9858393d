"""The table of a run, and that it goes where an earlier one stood and nowhere else."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.chaos.ledger import CALM, Ledger, Row
from tests.chaos.parts import Life, Use
from tests.chaos.proof import Findings
from tests.chaos.report import BEGIN, END, Told, markdown, put_between_markers

TOLD = Told("make chaos", datetime(2026, 3, 2, tzinfo=UTC), 90.0, "abc1234", "v1", 3.0, 5.0, 0.5, 1)


def test_a_row_says_how_often_and_what_came_of_it_and_the_last_adds_up() -> None:
    ledger = Ledger()
    ledger.rows[CALM] = Row(captures=5, at_first=5, requests=5, slowest=0.1)
    answers = Counter({"502 RUVECTOR_CONNECTION_ERROR": 2})
    ledger.rows["store: 503"] = Row(2, 3, 1, 1, 1, 0, 6, answers, 2.5, 0.25)
    text = markdown(TOLD, ledger, Findings(events=8), [Life("store", 9.0, Use(2**20, 1, 2), Use(2**21, 3, 4))])
    lines = text.splitlines()
    assert "| store: 503 | 2 | 3 | 1 | 1 | 1 | 0 | 6 | 502 RUVECTOR_CONNECTION_ERROR 2 | 2.50 | 0.25 |" in lines
    assert "| **all** | 2 | 8 | 6 | 1 | 1 | 0 | 11 | 502 RUVECTOR_CONNECTION_ERROR 2 | 2.50 | 0.25 |" in lines
    assert "- slowest request 2.50 s; the bound is 5.0 s (`RUVECTOR_DEADLINE_S=3`, and 2.0 s for all else)." in lines
    assert "| store | 9 | 1 → 2 | 1 → 3 | 2 → 4 |" in lines


def test_a_table_replaces_the_one_between_the_markers(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put_between_markers(document, "new")
    put_between_markers(document, "newer")
    assert document.read_text() == f"before\n{BEGIN}\n\nnewer\n\n{END}\nafter\n"


def test_a_document_without_a_place_for_it_is_left_alone(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("before")
    with pytest.raises(ValueError, match=r"page\.md has no place"):
        put_between_markers(document, "new")
    assert document.read_text() == "before"
