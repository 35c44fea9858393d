"""docs/python.md: its snippets run as one program, and a type checker at its strictest has nothing to say."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.core.waiting import Resolution
from agent.sdk import ConversationMemory, SessionHandle
from tests.conftest import REPOSITORY
from tests.page_program import printed_by

PAGE = (REPOSITORY / "docs" / "python.md").read_text()
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PROGRAM = "\n".join(SNIPPETS)
# The file that the program names.
(HINTS,) = re.findall(r"^```yaml\n(# shop.yaml.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_snippets_are_a_program_that_runs(tmp_path: Path):
    (tmp_path / "shop.yaml").write_text(HINTS)
    assert printed_by(PROGRAM, tmp_path) == [
        "user: I want to check my order",
        "assistant: With pleasure.",
        "chat-7 2 I want to check my order",
    ]


def test_the_page_names_every_method_of_a_session():
    methods = [name for name in vars(SessionHandle) if not name.startswith("_")]
    properties = {"session_id", "session_uuid", "conversation_uuid"}
    assert [name for name in methods if name not in properties and f"{name}(" not in PAGE] == []


@pytest.mark.parametrize(
    ("named", "documented"),
    [(SessionHandle.record_tool, "{}"), (ConversationMemory.sessions, "{}="), (Resolution, "{}")],
)
def test_the_page_has_a_row_for_every_argument_and_field(named: Callable[..., object], documented: str):
    rows = " ".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("|"))
    for name in inspect.signature(named).parameters:
        assert name == "self" or f"`{documented.format(name)}" in rows, name


def test_links_of_the_page_lead_somewhere():
    for link in re.findall(r"\]\(([\w.-]+)\)", PAGE):
        assert (REPOSITORY / "docs" / link).is_file(), link
