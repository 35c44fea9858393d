"""docs/recall.md: every request in it is made, and is answered as it says there."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import pytest

from agent.formats import WRITES
from agent.recall.http.routing import FIXED, OF_A_SESSION
from tests.conftest import REPOSITORY
from tests.recall.http.examples import example_site, stable

TEXT = (REPOSITORY / "docs" / "recall.md").read_text()


class Exchange(NamedTuple):
    """A request as the document has it, and the answer, of this kind, that is to come."""

    method: str
    path: str
    body: str
    kind: str
    answer: str


def exchanges() -> list[Exchange]:
    pattern = r"```http\n(GET|POST) (\S+)\n(?:\n(.*?)\n)?```\n\n```(json|text)\n(.*?)\n```"
    return [Exchange(*found) for found in re.findall(pattern, TEXT, re.DOTALL)]


@pytest.mark.parametrize("exchange", exchanges(), ids=lambda exchange: f"{exchange.method} {exchange.path}")
def test_a_request_is_answered_as_the_document_says(exchange: Exchange) -> None:
    with example_site() as made:
        response = made.ask(exchange.path, exchange.method, data=exchange.body.encode())
        assert response.status_code == 200
        answer = response.get_data(as_text=True)
    if exchange.kind == "text":
        assert answer.rstrip("\n") == exchange.answer
    else:
        assert stable(json.loads(answer)) == stable(json.loads(exchange.answer))


def test_every_block_of_a_request_is_one_that_is_made() -> None:
    assert len(exchanges()) == TEXT.count("```http") > 10


def test_every_operation_and_every_format_is_in_the_document() -> None:
    for name in filter(None, OF_A_SESSION):
        assert f"chat-7/{name}" in TEXT, name
    for parts in FIXED:
        assert f"/{'/'.join(parts)}" in TEXT
    for name in WRITES:
        assert f"`{name}`" in TEXT


def test_every_variable_of_this_side_is_in_the_document() -> None:
    settings = (REPOSITORY / "agent" / "config.py").read_text()
    read = set(re.findall(r'"((?:RECALL|CORS|CONVERSATION|RUVECTOR|LOG)_[A-Z_]+)"', settings)) - {"RUVECTOR_WRITES"}
    assert read <= set(re.findall(r"`([A-Z_]+)`", TEXT.partition("## Settings")[2].partition("\n## ")[0]))
