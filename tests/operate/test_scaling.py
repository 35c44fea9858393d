"""What docs/operate/scaling.md says of the store and of its database is what the code does, both ways."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from agent.recall.held import MAX_TURNS
from store.engines import postgres
from store.engines.schema import POSTGRESQL, tables
from store.log import group_commit
from tests.conftest import REPOSITORY
from tests.operate.page import text_of

PAGE = text_of("scaling")
FEATURES = PAGE.partition("| feature | for what")[2].partition("\n\n")[0]
ENGINES = REPOSITORY / "store" / "engines"
# What is the server's own and not every relative's, in the text of a statement.
_OWN = re.compile(
    r"\bpg_[a-z_]+|\bxid8\b|^VACUUM\b|\bFULL\b|^CHECKPOINT\b|^COPY\b|(?:^|; )SET (?:LOCAL )?(?:TIME ZONE|[a-z_]+)"
    r"|SET STORAGE|SET STATISTICS|REPEATABLE READ READ ONLY|ON CONFLICT",
    re.MULTILINE,
)


def texts(path: Path) -> Iterator[str]:
    """The string constants of a module, its descriptions left out."""
    tree = ast.parse(path.read_text())
    described = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value


def asked() -> set[str]:
    """Every such feature that a statement of the store has."""
    files = [*sorted(ENGINES.glob("postgres*.py")), ENGINES / "watched_connection.py"]
    said = [text for file in files for text in texts(file)]
    said += tables(POSTGRESQL)
    said += [text for path in (REPOSITORY / "store").rglob("*.py") for text in texts(path) if "ON CONFLICT" in text]
    found = {match[0].strip(" ;") for text in said for match in _OWN.finditer(text)}
    return {"VACUUM FULL" if each == "FULL" else each for each in found}


def test_every_feature_that_the_store_asks_of_postgresql_is_in_the_list():
    assert {each for each in asked() if each not in FEATURES} == set()


def test_every_feature_in_the_list_is_one_that_the_store_asks_for():
    named = re.findall(r"`([^`]+)`", "".join(row.split("|")[1] for row in FEATURES.splitlines()[2:]))
    shown = {re.sub(r"^ALTER TABLE \.\.\. | \.\.\. FROM STDIN", "", each) for each in named}
    known = asked() | {"bytea"}
    assert {each for each in shown if not any(each.endswith(word) for word in known)} == set()
    assert "bytea" in "".join(tables(POSTGRESQL))
    assert " WHERE ours = 0" in "".join(tables(POSTGRESQL))


def test_the_numbers_of_the_page_are_those_of_the_code():
    assert f"at most {postgres._MAX_CONNECTIONS} connections" in PAGE
    assert f"instances x workers x {postgres._MAX_CONNECTIONS}" in PAGE
    assert f"ended after {postgres.IDLE_WRITER_ENDS_S} s" in PAGE
    assert f"at most {group_commit._LARGEST_BATCH}\nappends" in PAGE
    assert f"{group_commit._MOST_TURNS:,} turns".replace(",", " ") in PAGE
    assert f"{MAX_TURNS:,} turns".replace(",", " ") in PAGE


def test_a_transaction_of_appends_has_as_many_statements_as_the_page_says():
    from tests.operate.statements import of_an_append

    statements, copies = of_an_append()
    assert f"is {statements} statements and {copies} `COPY`s" in PAGE


def test_the_connections_that_terraform_asks_for_are_those_of_the_page():
    locals_, variables = (
        (REPOSITORY / "deploy" / "terraform" / f"{name}.tf").read_text() for name in ("locals", "variables")
    )
    each = int(re.search(r"connections_an_instance\s*=\s*(\d+)", locals_)[1])
    kept = int(re.search(r"connections_kept_free\s*=\s*(\d+)", locals_)[1])
    stores = int(re.search(r'"store_max_instances" \{[^}]*default\s*=\s*(\d+)', variables)[1])
    assert each == postgres._MAX_CONNECTIONS
    assert f"2 x instances x {each} + {kept}: {2 * stores * each + kept} for {stores} instances" in PAGE
