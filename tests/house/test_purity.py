"""What no import rule sees: a clock, a random id or a file behind a module that the pure parts may import."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PURE = sorted([*(PROJECT / "agent/core").rglob("*.py"), *(PROJECT / "agent/formats").rglob("*.py")])
PURE.append(PROJECT / "agent/errors.py")

# Names that reach for the clock, randomness or the outside, whichever object they are looked up on.
IMPURE_ATTRIBUTES = {"now", "utcnow", "today", "uuid1", "uuid4", "uuid6", "uuid7", "getnode", "environ"}
IMPURE_CALLS = {"open", "print", "input", "eval", "exec", "__import__", "breakpoint"}


def impurities(source: str) -> list[str]:
    """The names in ``source`` that make it depend on more than its arguments."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in IMPURE_ATTRIBUTES:
            found.append(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found += [alias.name for alias in node.names if alias.name in IMPURE_ATTRIBUTES]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            found.append(node.func.id)
    return found


@pytest.mark.parametrize("file", PURE, ids=lambda file: str(file.relative_to(PROJECT)))
def test_a_pure_file_asks_no_clock_no_randomness_and_no_system(file: Path) -> None:
    assert impurities(file.read_text()) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import datetime\ndatetime.datetime.now(datetime.UTC)", "now"),
        ("from datetime import date\ndate.today()", "today"),
        ("import uuid\nuuid.uuid4()", "uuid4"),
        ("from uuid import uuid4", "uuid4"),
        ("make = __import__('uuid').uuid1", "__import__"),
        ("def read(path):\n    return open(path)", "open"),
        ("print(1)", "print"),
    ],
)
def test_a_planted_impurity_is_found(source: str, name: str) -> None:
    assert name in impurities(source)


def test_the_entry_point_imports_only_the_agent_the_environment_and_the_host() -> None:
    tree = ast.parse((PROJECT / "main.py").read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= {"agent", "flask", "os"}
