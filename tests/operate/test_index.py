"""The index of docs/operate leads to every page of the folder, and the pages keep to their form."""

import re

import pytest

from tests.operate.page import PAGES, text_of

OURS = ("README", "scaling", "costs", "moving-in", "encryption")


def test_the_index_names_every_page_once():
    named = re.findall(r"\]\(([a-z-]+\.md)\)", text_of("README"))
    assert sorted(named) == sorted(path.name for path in PAGES.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("name", OURS)
def test_a_row_of_a_table_has_as_many_cells_as_its_head(name):
    for table in re.findall(r"(?:^\|.*\|\n)+", text_of(name), re.MULTILINE):
        # A bar inside of code is a bar.
        rows = [re.sub(r"`[^`]*`", "code", row).count("|") for row in table.splitlines()]
        assert set(rows) == {rows[0]}, table
