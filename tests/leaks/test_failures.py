"""Every failure of the product is provoked with canaries, and tells nothing of them: a new class without that fails."""

from __future__ import annotations

import ast
import json
import re

import pytest

from agent.errors import AgentError
from store.errors import StoreAnswerError
from tests.conftest import REPOSITORY
from tests.leak_watch import SECRET
from tests.leaks.canaries import ALL, first_found
from tests.leaks.doors import ANSWERED, without_paths
from tests.leaks.provoked import PROVOKED, of_a_peer
from tests.leaks.world import World
from tests.ruvector.peer import answer, close_without_answer, raw

# Told at a start, not to a caller: tests/leaks/test_settings.py.
AT_THE_START = {"agent.errors.ConfigurationError"}


def named(kind: type[Exception]) -> str:
    return f"{kind.__module__}.{kind.__name__}"


def trees() -> dict[str, str]:
    """Every class of both error trees, wherever it stands in our code, with the class that it is made of."""
    code = {
        ".".join(file.relative_to(REPOSITORY).with_suffix("").parts): ast.parse(file.read_text())
        for folder in ("agent", "store")
        for file in sorted((REPOSITORY / folder).rglob("*.py"))
    }
    found = {f"{root.__module__}.{root.__name__}": "" for root in (AgentError, StoreAnswerError)}
    classes = [
        (
            f"{module}.{node.name}",
            module.partition(".")[0],
            [base.id for base in node.bases if isinstance(base, ast.Name)],
        )
        for module, tree in code.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    while True:
        # By the base's own name: what another package calls so is no base of ours.
        below = {
            name: over
            for name, package, bases in classes
            for over in found
            if over.startswith(package) and over.rpartition(".")[2] in bases
        }
        if below.keys() <= found.keys():
            return found
        found |= below


def made() -> set[str]:
    """Those of them that our code makes; a class that is there for its subclasses alone is none of them."""
    tree = trees()
    code = "\n".join(
        file.read_text() for folder in ("agent", "store") for file in sorted((REPOSITORY / folder).rglob("*.py"))
    )
    bases = set(tree.values())
    return {name for name in tree if name not in bases or re.search(rf"\b{name.rpartition('.')[2]}\((?!\w+\):)", code)}


def test_each_failure_is_provoked_here() -> None:
    assert made() - AT_THE_START == {named(kind) for kind in PROVOKED}


def silent(answers: list[tuple[int, bytes, str]]) -> None:
    for status, body, headers in answers:
        told = headers + (without_paths(body) if status >= 400 else "")
        assert first_found(told) is None


@pytest.mark.parametrize("kind", PROVOKED, ids=named)
def test_a_failure_tells_nothing_of_what_it_failed_at(kind: type[Exception], world: World) -> None:
    ANSWERED.clear()
    answers = [(each.status_code, each.get_data(), repr(dict(each.headers))) for each in PROVOKED[kind](world)]
    assert kind in ANSWERED, ANSWERED
    silent(answers)


SAID = {
    "a status": answer(500, ALL.encode(), X_Said=SECRET),
    "a limit": answer(429, ALL.encode(), Retry_After="3600", X_Said=SECRET),
    "no key": answer(401, json.dumps({"error": ALL, "message": ALL}).encode()),
    "no acknowledgement": answer(201, json.dumps({ALL: ALL, "status": ALL, "eventId": [ALL]}).encode()),
    "no JSON": answer(200, ALL.encode()),
    "no HTTP": raw(f"{SECRET} {ALL}\r\n\r\n".encode()),
    "a header that is none": raw(f"HTTP/1.1 200 {SECRET}\r\n{ALL}\r\n\r\n".encode()),
    "half an answer": raw(f"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{ALL}".encode()),
    "a redirect": answer(302, b"", Location=f"https://{SECRET}.example/{SECRET}"),
    "nothing": close_without_answer(),
}


@pytest.mark.parametrize("said", SAID)
def test_whatever_a_store_says_nothing_of_it_is_told(said: str, world: World) -> None:
    silent([(each.status_code, each.get_data(), repr(dict(each.headers))) for each in of_a_peer(SAID[said])(world)])
