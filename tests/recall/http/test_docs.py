"""docs/recall.md: every command in it runs, and every request in it is answered as it says there."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agent.formats import WRITES
from agent.recall.http.export import FILES
from agent.recall.http.routing import FIXED, OF_A_SESSION
from agent.recall.semantic.settings import semantic_cache, semantic_model
from agent.window_settings import ContextSettings
from tests.conftest import REPOSITORY
from tests.live.host import free_port
from tests.recall.http.examples import PAGE, example_site, payloads, stable
from tests.test_readme import run_with_servers

PORT = "8084"
BLOCK = re.compile(r"^```(\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
# An instant of capture: the page's turns say theirs in whole seconds.
CAPTURED_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
# The line of ``/stats`` says the date where it is not the clock's.
ON_ANOTHER_DAY = re.compile(r"(?<=oldest from \d\d:\d\d) on \d{4}-\d\d-\d\d")


class Exchange(NamedTuple):
    """A request as the page has it, and the answer, of this kind, that is to come."""

    method: str
    path: str
    body: str
    kind: str
    answer: str


def steps() -> list[str | Exchange]:
    """The page's commands and exchanges, in its order."""
    found: list[str | Exchange] = []
    asked: tuple[str, str, str] | None = None
    for kind, text in BLOCK.findall(PAGE):
        if kind == "sh":
            found.append(text)
        elif kind == "http":
            line, _, body = text.partition("\n\n")
            method, _, path = line.partition(" ")
            asked = method, path, body
        elif asked is not None:
            found.append(Exchange(*asked, kind, text))
            asked = None
    return found


EXCHANGES = [step for step in steps() if isinstance(step, Exchange)]


@pytest.fixture(scope="module")
def answered() -> list[str]:
    """The answers to the page's requests, in order, each with the captures before it."""
    found: list[str] = []
    with example_site() as example:
        for step in steps():
            if isinstance(step, str):
                for payload in payloads(step):
                    example.capture(payload)
            else:
                response = example.made.ask(step.path, step.method, data=step.body.encode())
                assert response.status_code == 200
                found.append(response.get_data(as_text=True))
    return found


@pytest.mark.parametrize("number", range(len(EXCHANGES)), ids=[f"{one.method} {one.path}" for one in EXCHANGES])
def test_a_request_is_answered_as_the_document_says(number: int, answered: list[str]) -> None:
    said, answer = EXCHANGES[number], answered[number]
    if said.kind == "text":
        assert answer.rstrip("\n") == said.answer
    else:
        assert stable(json.loads(answer)) == stable(json.loads(said.answer))


@pytest.mark.slow
def test_the_page_works_as_written_in_one_shell(tmp_path: Path) -> None:
    script = [f"export TMPDIR={tmp_path}"]
    for step in steps():
        if isinstance(step, str):
            script.append(step)
        else:
            body = f" -d {shlex.quote(step.body)}" if step.method == "POST" else ""
            script.append(f"echo; echo ===; curl -sS 'http://127.0.0.1:{PORT}{step.path}'{body}")
    text = "\n".join(script)
    for written, here in {PORT: str(free_port()), ".venv/bin/": f"{Path(sys.executable).parent}/"}.items():
        assert written in text
        text = text.replace(written, here)
    _, *printed = run_with_servers(text, tmp_path).split("\n===\n")
    assert len(printed) == len(EXCHANGES)
    for said, answer in zip(EXCHANGES, printed, strict=True):
        if said.kind == "text":
            assert answer.startswith(said.answer)
        else:
            found, _ = json.JSONDecoder().raw_decode(answer)
            assert anyones(found) == anyones(json.loads(said.answer)), said.path


def anyones(document: dict[str, Any]) -> Any:
    """``document`` without what is another's on another machine."""
    text = CAPTURED_AT.sub("captured", json.dumps(stable(document)))
    return json.loads(ON_ANOTHER_DAY.sub("", text))


def test_every_block_of_a_request_is_one_that_is_made() -> None:
    assert len(EXCHANGES) == PAGE.count("```http") > 10


def test_no_server_of_the_page_listens_to_other_machines_and_none_is_left_behind() -> None:
    commands = [step for step in steps() if isinstance(step, str)]
    assert all("--host 127.0.0.1" in step for step in commands if "functions-framework" in step)
    assert commands[-1] == "kill $(jobs -p)"
    assert not re.search(r"^export ", "\n".join(commands), re.MULTILINE)


def test_every_operation_and_every_format_is_in_the_document() -> None:
    for name in filter(None, OF_A_SESSION):
        assert f"chat-7/{name}" in PAGE, name
    for parts in FIXED:
        assert f"/{'/'.join(parts)}" in PAGE
    for name in {*WRITES, *FILES}:
        assert f"`{name}`" in PAGE


class Asked(dict[str, str]):
    """An environment that sets nothing, and remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return default


def test_every_variable_of_this_side_is_in_the_document() -> None:
    settings = (REPOSITORY / "agent" / "config.py").read_text()
    read = set(re.findall(r'"((?:RECALL|CORS|CONVERSATION|RUVECTOR|LOG)_[A-Z_]+)"', settings)) - {"RUVECTOR_WRITES"}
    windows = Asked()
    ContextSettings.from_env(windows)
    semantic_model(windows)
    semantic_cache(windows)
    assert len(windows.names) >= 10
    assert read | windows.names <= set(
        re.findall(r"`([A-Z_]+)`", PAGE.partition("## Settings")[2].partition("\n## ")[0])
    )
