"""docs/windows.md: its snippets run as one program, its commands as one script, and its requests are answered so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.core.window.manifest import DROPPED, KEPT
from agent.core.window.policy import THRESHOLDS, Policy
from agent.core.window.strategies import KEEPS
from agent.recall.context import MAX_MESSAGES_IGNORED, OVER_MODEL_LIMIT, UNKNOWN_MODEL
from agent.sdk.context import ContextWindow
from agent.window_settings import ContextSettings
from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY
from tests.page_program import printed_by
from tests.recall.http.examples import CAPTURES, POSTED, example_site

PAGE = (REPOSITORY / "docs" / "windows.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
PROGRAM = "\n".join(text for kind, text in BLOCKS if kind == "python")
(SCRIPT,) = (text for kind, text in BLOCKS if kind == "sh")
(PRINTED,) = (text for kind, text in BLOCKS if kind == "text")
REQUESTS = [text for kind, text in BLOCKS if kind == "http"]
ANSWERS = [json.loads(text) for kind, text in BLOCKS if kind == "json"]
# What an estimate comes to may be told better one day.
ESTIMATED = {"tokens", "total_tokens", "percent_used", "by_role", "hash"}


@pytest.mark.slow
def test_the_snippets_are_a_program_that_runs(tmp_path: Path) -> None:
    system, other, needs = printed_by(PROGRAM, tmp_path)
    assert system == "system True system"
    assert re.fullmatch(r"user False budget", other)
    assert re.fullmatch(r"needs \d+ of 0", needs)


@pytest.mark.slow
def test_the_commands_print_what_the_page_says(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", SCRIPT.replace(".venv/bin/memory-graph", f"{sys.executable} -m agent")],
        cwd=REPOSITORY,
        env=process_environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip("\n") == PRINTED


@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_a_request_is_answered_as_the_page_says(number: int) -> None:
    line, _, body = REQUESTS[number].partition("\n\n")
    method, _, path = line.partition(" ")
    with example_site() as example:
        for payload in CAPTURES:
            example.capture(payload)
        response = example.made.ask(path, method, data=body.encode())
    assert response.status_code == 200
    assert stable(json.loads(response.get_data())) == stable(ANSWERS[number])


def stable(answer: dict[str, Any]) -> dict[str, Any]:
    manifest = answer["manifest"]
    loose = ESTIMATED if manifest["counter"] == "estimate" else {"hash"}
    return {**answer, "manifest": {name: None if name in loose else value for name, value in manifest.items()}}


def test_the_list_that_is_posted_is_that_of_the_description() -> None:
    assert json.loads(REQUESTS[1].partition("\n\n")[2]) == POSTED


def test_the_page_says_of_each_strategy_what_the_command_line_says() -> None:
    for name, text in KEEPS.items():
        assert re.search(rf"^\| `{name}`.* \| {re.escape(text)} \|$", PAGE, re.MULTILINE), name
    assert f"| `{Policy().strategy}` (default) |" in PAGE


def test_the_page_has_every_variable_with_its_default() -> None:
    settings = (REPOSITORY / "agent" / "window_settings.py").read_text()
    read = {f"CONVERSATION_{name}" for name in re.findall(r'whole\("([A-Z_]+)"', settings)}
    read |= set(re.findall(r'"(CONVERSATION_[A-Z_]+)"', settings))
    section = PAGE.partition("## Settings")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(CONVERSATION_[A-Z_]+)`", section)) == read
    defaults = ContextSettings()
    for value in (
        defaults.max_history_messages,
        defaults.max_context_tokens,
        defaults.min_recent,
        defaults.reserved_tokens,
        f"`{defaults.strategy}`",
        f"`{defaults.marker}`",
        f"`{defaults.scope}`",
        ", ".join(f"{100 * share:.0f}" for share in defaults.thresholds),
    ):
        assert f"| {value} |" in section, value


def test_the_page_has_every_member_of_a_manifest_and_every_reason() -> None:
    section = PAGE.partition("## The manifest")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z_0-9]+)`", section))
    assert {*ANSWERS[0]["manifest"], "choices", *KEPT, *DROPPED} <= named


def test_the_page_says_of_every_reason_and_every_warning_what_it_means() -> None:
    section = PAGE.partition("## The manifest")[2].partition("\n## ")[0]
    kept, _, rest = section.partition("Why a turn is in the window:")[2].partition("Why it is left out:")
    dropped, _, told = rest.partition("in `warnings`:")
    rows = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \| ", re.MULTILINE)
    assert set(rows.findall(kept)) == {f"`{name}`" for name in KEPT}
    assert set(rows.findall(dropped)) == {f"`{name}`" for name in DROPPED}
    warnings = {"max_messages", MAX_MESSAGES_IGNORED, UNKNOWN_MODEL, OVER_MODEL_LIMIT}
    warnings |= {f"usage_above_{100 * share:.0f}_percent" for share in THRESHOLDS[:2]}
    assert set(re.findall(r"\w+", " ".join(rows.findall(told)))) == warnings


def test_the_page_names_what_a_window_has_in_python() -> None:
    names = {*ContextWindow.__dataclass_fields__, "warnings"}
    section = PAGE.partition("### Python")[2].partition("\n### ")[0]
    assert {name for name in names if f"`{name}`" not in section} == set()


def test_links_of_the_page_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([\w./-]+)[)#]", PAGE):
        assert (REPOSITORY / "docs" / link).exists(), link
