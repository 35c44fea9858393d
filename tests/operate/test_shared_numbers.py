"""What several pages say is said alike, and as the code and the deployment have it; and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent.config import Settings
from agent.ruvector.retry import MAX_ATTEMPTS
from tests.conftest import REPOSITORY
from tests.operate.page import PAGES, text_of

DOCUMENTS = [REPOSITORY / "README.md", *sorted(PAGES.glob("*.md")), REPOSITORY / "deploy/terraform/README.md"]
NUMBERS = {4: "four"}


def default_of(variable: str) -> str:
    """The default of a variable of the Terraform module."""
    text = (REPOSITORY / "deploy/terraform/variables.tf").read_text()
    found = re.search(rf'variable "{variable}" \{{.*?default\s*= "?([\w.-]+)', text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_names_no_other_version_of_the_database_and_no_other_region(document: Path) -> None:
    text = document.read_text()
    assert set(re.findall(r"POSTGRES_\d+", text)) <= {default_of("database_version")}
    assert set(re.findall(r"REGION=(\w+-\w+\d)", text)) <= {"europe-west6"}


def test_moving_in_says_how_long_a_capture_waits_for_a_store_that_is_away() -> None:
    page, deadline = text_of("moving-in"), Settings.from_env({}).deadline_s
    assert f"fails after {NUMBERS[MAX_ATTEMPTS]} attempts" in page
    assert re.findall(r"`RUVECTOR_DEADLINE_S` \((\d+) s\)", page) == [f"{deadline:g}"]


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as they are made by the usual hosts of Markdown."""
    without_code = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", without_code, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda path: path.name)
def test_a_link_to_a_place_in_a_page_leads_there(page: Path) -> None:
    for name, anchor in re.findall(r"\]\(([^)#:]*)#([\w-]+)\)", page.read_text()):
        target = (page.parent / name).resolve() if name else page
        assert anchor in anchors(target.read_text()), f"{name}#{anchor}"
