"""The runbook's sections on content, typed as who has to erase something types them, against a running deployment."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.live.payloads import encoded, own_session
from tests.monitoring.deployment import Deployment
from tests.monitoring.desk import CONTENT, lines, typed
from tests.monitoring.queries import RUNBOOK

PERSON = "ann@example.com"
WORD = "zebra"


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    with ExitStack() as running:
        yield Deployment(tmp_path, running)


def said(deployment: Deployment, user: str, content: str) -> dict[str, Any]:
    """Capture a session of ``user`` whose first turn says ``content``; the payload."""
    payload = own_session()
    payload["turns"][0]["content"] = content
    payload["context"] = {"user_id": user}
    assert deployment.send([encoded(payload)]) == {200}
    return payload


def test_each_section_on_content_is_one_of_the_page() -> None:
    below = RUNBOOK.read_text().partition("\n## Content\n")[2]
    assert tuple(re.findall(r"^### (.+)$", below, re.MULTILINE)) == CONTENT


def test_a_person_is_erased_by_what_the_page_says(deployment: Deployment) -> None:
    said(deployment, PERSON, "I am ann")
    bobs = said(deployment, "bob", "I am bob")
    look, erase, afterwards = lines("Erase a person")
    assert "I am ann" in deployment.desk.type(look).out
    done = deployment.desk.type("set -e\n" + look + erase + afterwards)
    assert done.code == 0, done.err
    assert "no session found" in done.err
    assert re.search(r"^files +rewritten$", done.out, re.MULTILINE)
    digest = hashlib.sha256(PERSON.encode()).hexdigest()[:32]
    assert re.search(rf" erase_user +{digest} ", done.out)
    (ledger,) = deployment.desk.home.glob("erasures-*.jsonl")
    assert json.loads(ledger.read_text().splitlines()[0])["subject"] == digest
    assert [row["first_user_content"] for row in deployment.sessions if row["first_user_content"]] == ["I am bob"]
    assert bobs["session_id"] in [row["session_id"] for row in deployment.sessions]


def test_a_turn_with_a_secret_is_found_by_a_word_and_erased_and_no_other(deployment: Deployment) -> None:
    payload = said(deployment, PERSON, f"the {WORD} is sk-4711")
    other = said(deployment, "bob", "another matter")
    find, turns, erase = lines("A secret was captured in clear")
    assert payload["session_id"] in deployment.desk.type(find).out
    turns = re.sub(r"^SESSION=.*$", f"SESSION={payload['session_id']}", turns, flags=re.MULTILINE)
    found = deployment.desk.type(find + turns)
    assert found.out.splitlines()[-1] == payload["turns"][0]["turn_id"]
    done = deployment.desk.type("set -e\n" + find + turns + erase)
    assert done.code == 0, done.err
    assert "no session found" in done.err
    history = f"memory-graph agent conversation-memory history --session-id {payload['session_id']} --jsonl"
    left = [json.loads(line) for line in deployment.desk.type(history).out.splitlines() if line.startswith("{")]
    assert [turn.get("content") for turn in left] == [None, payload["turns"][1]["content"]]
    assert other["session_id"] in deployment.desk.type("memory-graph agent conversation-memory sessions").out


def test_a_word_in_a_log_is_found_with_the_service_that_wrote_it(deployment: Deployment) -> None:
    said(deployment, PERSON, f"the {WORD} is sk-4711")
    find = typed("Content seen in a log", 0)
    assert deployment.desk.type(find).out.splitlines()[1:] == []
    with Path(deployment.desk.world.logs["conversation-memory"]).open("a") as log:
        log.write('{"message": "a zebra of a library"}\n')
    (line,) = deployment.desk.type(find).out.splitlines()[1:]
    assert line.split("\t")[:2] == ["conversation-memory", "projects/my-project/logs/run.googleapis.com%2Fstderr"]
