"""docs/operate/queue.md: what can be run here is run as it stands, and what it names is there."""

import ast
import json
import re
import subprocess
from pathlib import Path

import pytest

from agent.capture.events.delivery import MAX_DELIVERY_BYTES, MAX_ENVELOPE_BYTES
from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY
from tests.live.host import free_port

PAGE = REPOSITORY / "docs/operate/queue.md"
TEXT = PAGE.read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_commands_for_here_capture_one_conversation_and_find_it_a_duplicate(tmp_path: Path) -> None:
    [commands] = [text for _, text in BLOCKS if "127.0.0.1" in text]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-mc", commands.replace("8082", str(free_port()))],
        cwd=REPOSITORY,
        env=process_environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    health, *answers = [json.loads(line) for line in re.sub(r"\}\{", "}\n{", done.stdout).splitlines()]
    assert health["status"] == "ok"
    assert [answer["receipt"]["duplicate"] for answer in answers] == [False, True]


def test_its_programs_are_python() -> None:
    programs = [text for language, text in BLOCKS if language == "python"]
    assert len(programs) == 2
    for program in programs:
        ast.parse(program)


def test_its_links_lead_somewhere_and_its_bounds_are_those_of_the_code() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT) if not link.startswith("https:")]
    assert len(links) > 3
    assert [link for link in links if not (PAGE.parent / link).exists()] == []
    assert f"{MAX_ENVELOPE_BYTES // 1024} KiB" in TEXT
    assert f"{MAX_DELIVERY_BYTES // 2**20} MiB" in TEXT
