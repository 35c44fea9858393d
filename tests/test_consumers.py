"""docs/consumers.md is executed as written: servers, a conversation, and one request for each kind of reader."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.live.host import free_port
from tests.test_readme import BLOCK, documents, run_with_servers

PAGE = (REPOSITORY / "docs" / "consumers.md").read_text()
SENT = json.loads((REPOSITORY / "examples" / "native.json").read_bytes())
PORTS = ("8085", "8086", "8087")

# What the shell exports at the end, of what our programs read.
LEFT_BEHIND = "env | grep -E '^(RUVECTOR|STORE|RECALL|CAPTURE)' || echo 'no variable is left behind'"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], str]:
    """What the page's commands print, as one script: the documents, and what stands behind them. Only ports differ."""
    folder = tmp_path_factory.mktemp("consumers")
    script = "".join(text for language, text in BLOCK.findall(PAGE) if language == "sh")
    for port in PORTS:
        assert port in script
        script = script.replace(port, str(free_port()))
    script = f"export TMPDIR={folder}\n{script}\n{LEFT_BEHIND}"
    return documents(run_with_servers(here(script), folder))


def here(script: str) -> str:
    """``script`` with the programs of the environment that runs the tests."""

    assert ".venv/bin/" in script
    return script.replace(".venv/bin/", f"{Path(sys.executable).parent}/")


def test_every_kind_of_reader_has_a_section_of_its_own_with_a_request() -> None:
    sections = re.findall(r"^## (\w+):.*?$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in sections] == ["Orchestrator", "Copilot", "Bundles", "Auditor"]
    assert all("```sh\n" in text for _, text in sections)


def test_the_servers_are_up_and_the_conversation_is_captured(printed: tuple[list[Any], str]) -> None:
    ready, health, captured, *_ = printed[0]
    assert (ready["status"], health["status"]) == ("ready", "ok")
    assert captured["receipt"]["turns"]["new"] == len(SENT["turns"])


def test_the_orchestrator_is_fed_the_capture_and_where_to_go_on(printed: tuple[list[Any], str]) -> None:
    captured, feed = printed[0][2:4]
    [event] = feed["events"]
    assert event["runId"] == captured["decision_event"]["execution_ref"]
    assert event["payload"]["inputs"] == SENT
    assert feed["next_cursor"]


def test_the_copilot_gets_the_messages_as_a_model_takes_them(printed: tuple[list[Any], str]) -> None:
    history = printed[0][4]
    said = [(message["role"], message.get("content") or "") for message in history["messages"]]
    assert said == [(turn["role"], turn["content"]) for turn in SENT["turns"]]


def test_the_chat_service_gets_them_with_the_current_message_behind(printed: tuple[list[Any], str]) -> None:
    hydrated = printed[0][5]
    said = [message["content"] for message in hydrated["messages"]]
    assert said == [*(turn["content"] for turn in SENT["turns"]), "And when does it come?"]


def test_bundles_get_every_event_of_the_type(printed: tuple[list[Any], str]) -> None:
    feed, bundle = printed[0][3], printed[0][6]
    assert bundle["events"] == feed["events"]


def test_the_auditor_is_told_that_the_event_is_what_was_sent(printed: tuple[list[Any], str]) -> None:
    rest = printed[1]
    assert re.search(r"^result +nothing differs$", rest, re.MULTILINE), rest
    captured = printed[0][2]
    assert captured["decision_event"]["execution_ref"] in rest
    # As wide as the terminal is said to be, it may go on in the next line.
    assert captured["decision_event"]["inputs_hash"] in "".join(rest.split())


def test_it_leaves_no_variable_behind_that_would_send_other_commands_to_its_store(
    printed: tuple[list[Any], str],
) -> None:
    assert printed[1].rstrip().endswith("no variable is left behind")


def test_its_servers_are_for_this_machine_and_on_ports_that_no_other_page_takes() -> None:
    commands = "".join(text for language, text in BLOCK.findall(PAGE) if language == "sh")
    for line in re.findall(r"^.*functions-framework.*$", commands, re.MULTILINE):
        assert "--host 127.0.0.1" in line
    for page in ("README.md", "docs/recall.md", "docs/store.md"):
        assert not [port for port in PORTS if port in (REPOSITORY / page).read_text()], page
