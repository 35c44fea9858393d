"""What the documents say of settings, services and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import REPOSITORY

README = REPOSITORY / "README.md"
OPERATE = REPOSITORY / "docs/operate"
_VARIABLE = re.compile(r"(?<![\w$-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)")
# Names with these beginnings are ours, so each has to be one that somebody reads.
_OURS = re.compile(r"(RUVECTOR|CAPTURE|RECALL|CONVERSATION|TELEMETRY|METRICS|LLM|SEMANTIC|CORS|INTENTS)_")
_RESOURCE = re.compile(r"(?<![\w/.-])conversation-[a-z-]+")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def documents() -> list[Path]:
    """Every document that tells how to run the product."""
    return [README, *sorted((REPOSITORY / "docs").glob("*.md")), *operate_documents()]


def operate_documents() -> list[Path]:
    """Those for who operates it."""
    return [*sorted(OPERATE.glob("*.md")), REPOSITORY / "deploy/terraform/README.md"]


def settings_of(path: Path) -> set[str]:
    """The variables in the first column of the document's tables of settings."""
    rows = re.findall(r"^\| (`[A-Z][A-Z_0-9]+`(?:, `[A-Z][A-Z_0-9]+`)*) \|", path.read_text(), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"\w+", row) if not name.endswith(("_ERROR", "_EXCEEDED"))}


def variables_named(path: Path) -> set[str]:
    """Whatever in the document's code is written as a variable."""
    return {name for code in _CODE.findall(path.read_text()) for name in _VARIABLE.findall(code)}


def ours(names: set[str]) -> set[str]:
    """Those that can only be settings of ours."""
    return {name for name in names if _OURS.match(name)}


def resources_named(path: Path) -> set[str]:
    """The names in the document's code that are written as those of our services, accounts, secrets and topics."""
    return {name.rstrip("-") for code in _CODE.findall(path.read_text()) for name in _RESOURCE.findall(code)}


def roles_named(path: Path) -> set[str]:
    """The roles of Google's IAM that the document names."""
    return set(re.findall(r"roles/[a-zA-Z.]+\w", path.read_text()))


def deploy_commands(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Each ``gcloud functions deploy`` of the document: the service, and its flags with their values."""
    text = path.read_text().replace("\\\n", " ")
    found = []
    for command in re.findall(r"^ *gcloud functions deploy .+$", text, re.MULTILINE):
        words = shlex.split(command)
        flags = {}
        for place, word in enumerate(words):
            if word.startswith("--"):
                name, _, value = word[2:].partition("=")
                flags[name] = value or (words[place + 1] if place + 1 < len(words) else "")
        found.append((words[3], flags))
    return found


def service_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of tables that have a column ``service``: the cells by the words of the head."""
    lines = path.read_text().splitlines()
    for place, line in enumerate(lines):
        head = _cells(line)
        if "service" in head and lines[place + 1].startswith("|---"):
            for row in lines[place + 2 :]:
                if not row.startswith("|"):
                    break
                yield dict(zip(head, _cells(row), strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip("| ").split("|")] if line.startswith("|") else []
