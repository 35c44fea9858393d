"""The terminal recordings of the README show what the commands print today."""

import importlib.util
import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest
from rich.text import Text

from tests.conftest import REPOSITORY

DOCUMENTS = REPOSITORY / "docs"
NAMES = ("terminal", "import")
UNSTABLE = (
    (re.compile(r"^(\$.* |execution ref +|event id +)[0-9a-f-]{36}"), r"\1<id>"),
    (re.compile(r"[0-9-]{10}T[0-9:.]+Z"), "<time>"),
    (re.compile(r"^(release|duration|stored inputs hash) .*"), r"\1"),
)


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("record_terminal", REPOSITORY / "scripts" / "record_terminal.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def stable(line: str) -> str:
    text = Text.from_ansi(line).plain.rstrip()
    for pattern, replacement in UNSTABLE:
        text = pattern.sub(replacement, text)
    return text


def recorded_lines(name: str) -> list[str]:
    cast = (DOCUMENTS / f"{name}.cast").read_text().splitlines()[1:]
    return [json.loads(line)[2].removesuffix("\r\n") for line in cast]


def test_every_tour_is_recorded(recorder: ModuleType) -> None:
    assert tuple(tour.name for tour in recorder.TOURS) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_the_recording_is_what_the_commands_print_on_a_terminal(
    place: int, recorder: ModuleType, tmp_path: Path
) -> None:
    recorded = recorded_lines(NAMES[place])
    printed = [line.text for line in recorder.record(recorder.TOURS[place], tmp_path)]
    assert [stable(line) for line in printed] == [stable(line) for line in recorded], "make recording"


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_well_formed_and_has_every_line_of_the_recording(name: str) -> None:
    lines = recorded_lines(name)
    texts = [each for each in ET.parse(DOCUMENTS / f"{name}.svg").iter() if each.tag.endswith("}text")]
    assert ["".join(text.itertext()) for text in texts] == [Text.from_ansi(line).plain for line in lines]
