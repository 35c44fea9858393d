"""What the runbook tells people to type and to look for exists: alerts, log lines, commands, addresses, names."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from functools import cache
from urllib.parse import urlsplit

import pytest

from tests.monitoring.queries import PROJECT, RUNBOOK, alerts, blocks

TEXT = RUNBOOK.read_text()
# docs/operate: what a deployment calls its parts.
NAMES = {
    "conversation-memory", "conversation-memory-events", "conversation-recall", "conversation-store",
    "conversation-store-read-key", "conversation-store-write-key", "conversation-store-keys",
    "conversation-store-metrics-key", "conversation-store-url", "conversation-captures-push",
    "conversation-captures-dead-keep",
}  # fmt: skip
# Of Cloud Logging, and of what the platform puts beside our lines.
PLATFORM_FIELDS = {"message"}
PATHS = ("/health", "/ready", "/metrics")
SERVED = ("openapi.json", "recall.openapi.json", "ruvector.openapi.json")


def commands() -> list[str]:
    """Every command of the runbook, a line each; what is continued is joined."""
    joined = [text.replace("\\\n", " ") for text in blocks(RUNBOOK, "sh")]
    return [line.strip() for text in joined for line in text.splitlines() if line.strip()]


@cache
def literals() -> frozenset[str]:
    """Every string that stands in the product's code."""
    return frozenset(
        node.value
        for package in ("agent", "store")
        for file in sorted((PROJECT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def test_each_alert_has_a_section_and_each_section_below_the_parts_an_alert() -> None:
    assert re.findall(r"^### (\w+)$", TEXT, re.MULTILINE) == [alert.name for alert in alerts()]


def test_each_alert_leads_to_its_section() -> None:
    assert {alert.annotations["runbook"] for alert in alerts()} == {
        f"docs/operate/runbook.md#{alert.name.lower()}" for alert in alerts()
    }


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert.name)
def test_a_section_says_how_urgent_it_is_what_it_means_and_what_to_look_at_and_mend(alert: object) -> None:
    section = TEXT.split(f"### {alert.name}\n")[1].split("\n### ")[0]
    assert section.strip().startswith(f"`{alert.severity}`.")
    for part in ("means:**", "look", "mend"):
        assert f"**{part}" in section.lower(), part


def test_links_inside_lead_somewhere() -> None:
    anchors = {heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([\w-]+)\)", TEXT)) <= anchors


def test_every_log_message_that_is_looked_for_is_written_by_the_code() -> None:
    messages = set(re.findall(r'jsonPayload\.message="([^"]+)"', TEXT))
    assert len(messages) >= 6
    assert messages - literals() == set()


def test_every_field_of_a_log_line_is_written_by_the_code() -> None:
    fields = set(re.findall(r"jsonPayload\.(\w+)", TEXT)) - PLATFORM_FIELDS
    assert len(fields) >= 4
    assert fields - literals() == set()


def test_every_error_code_is_one_of_ours() -> None:
    named = set(re.findall(r"\b(?:RUVECTOR_\w+_ERROR|INTERNAL_ERROR|RATE_LIMIT_EXCEEDED|VALIDATION_ERROR)\b", TEXT))
    assert named - literals() == set()


def test_every_variable_that_is_named_is_read_by_the_code_or_set_above() -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", TEXT))
    codes = {"RUVECTOR_CONNECTION_ERROR", "RUVECTOR_WRITE_ERROR", "INTERNAL_ERROR"}
    set_above = set(re.findall(r"^([A-Z_]+)=", "\n".join(commands()), re.MULTILINE))
    assert named - codes - literals() - set_above == set()


def memory_graph() -> list[list[str]]:
    """The words behind each ``memory-graph``."""
    found = (re.search(r"(?<![\w/.-])memory-graph ([a-z].*?)(?= &&|$)", line) for line in commands())
    return [shlex.split(each[1]) for each in found if each and not each.string.startswith("echo")]


@pytest.mark.parametrize("words", memory_graph(), ids=" ".join)
def test_a_command_of_ours_exists_with_its_options(words: list[str]) -> None:
    command = words[: 3 if words[0] == "agent" else 2]
    options = {word for word in words if word.startswith("--")}
    shown = subprocess.run(
        [sys.executable, "-m", "agent", *command, "--help"], capture_output=True, text=True, cwd=PROJECT, check=True
    )
    assert options - set(re.findall(r"--[a-z-]+", shown.stdout)) == set()


def test_every_address_that_is_asked_is_one_that_we_serve() -> None:
    asked = {urlsplit(found).path for found in re.findall(r'"\$\w+_URL(/[a-z]+)"', TEXT)}
    assert asked == set(PATHS)
    documents = [json.loads((PROJECT / "schemas" / name).read_text()) for name in SERVED]
    assert asked <= {path for document in documents for path in document["paths"]}


def test_every_part_of_a_deployment_has_its_name() -> None:
    of_others = "\n".join(line for line in commands() if "memory-graph " not in line)
    assert set(re.findall(r"\bconversation-[a-z-]+", of_others)) <= NAMES


def test_every_command_is_whole_for_a_shell() -> None:
    for text in blocks(RUNBOOK, "sh"):
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
