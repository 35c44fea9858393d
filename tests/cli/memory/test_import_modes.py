"""A file that is imported again in a narrower mode: what came in full before stays, and the import says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.importing.import_files import ImportCommand
from agent.cli.output_format import Format
from tests.cli.memory.importing import command, lines, said
from tests.cli.streams import invocation, printed, terminal

CARD = "my card is 4111 1111 1111 1111"
LIST = [{"role": "user", "content": CARD}, {"role": "assistant", "content": "Thank you."}]
MORE = {"role": "user", "content": "write to ann@example.org"}


class Importing:
    """Imports of one file, which holds other lists each time, each in a mode of its own."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "store.db"
        self._folder = folder
        self._file = folder / "chats.jsonl"

    def __call__(
        self, mode: str, *lists: Any, form: Format = Format.JSON, jsonl: bool = False, resume: bool = False
    ) -> tuple[str, str]:
        self._file.write_bytes(lines(*({"session_id": f"s-{n}", "messages": each} for n, each in enumerate(lists))))
        at = terminal(environ={"CAPTURE_CONTENT": mode, "XDG_STATE_HOME": str(self._folder / "state")})
        run = replace(invocation(at, form, store=str(self.store)), jsonl=jsonl)
        assert run.run(command(self._file, resume=resume), interrupted=ImportCommand.interrupted) == ExitCode.OK
        return printed(at)


@pytest.fixture
def importing(tmp_path) -> Importing:
    return Importing(tmp_path)


def test_each_file_and_all_are_told_how_many_turns_stay_in_a_fuller_body(importing: Importing) -> None:
    importing("full", LIST, [*LIST, MORE])
    out, err = importing("redacted", [*LIST, MORE], [*LIST, MORE, *LIST])
    document = json.loads(out)
    assert [each.get("kept_fuller") for each in document["conversations"]] == [1, 2]
    for account in (document["files"][0], document["total"]):
        assert (account["new"], account["known"], account["kept_fuller"]) == (3, 5, 3)
    assert err == "3 turns are stored with more than this mode keeps, and stay so: erase them to take that away\n"
    assert said(importing.store)["s-0"][0] == ("user", CARD)


def test_people_have_a_column_and_one_line(importing: Importing) -> None:
    importing("full", LIST)
    out, err = importing("none", [*LIST, MORE], form=Format.TABLE)
    names, row = (line.split() for line in out.splitlines()[:2])
    assert dict(zip(names[2:], row[2:], strict=True))["fuller"] == "2"
    assert err.startswith("2 turns are stored with more than this mode keeps")


def test_nothing_is_said_where_none_does(importing: Importing) -> None:
    importing("redacted", LIST)
    out, err = importing("redacted", [*LIST, MORE], jsonl=True)
    assert ("kept_fuller" in json.loads(out), err) == (False, "")
    out, err = importing("full", [*LIST, MORE], form=Format.TABLE)
    assert ("fuller" in out, err) == (False, "")


def test_the_same_file_again_is_a_duplicate_whose_content_the_first_mode_decided(importing: Importing) -> None:
    importing("full", LIST)
    out, err = importing("redacted", LIST, jsonl=True)
    document = json.loads(out)
    assert (document["duplicate"], "kept_fuller" in document, err) == (True, False, "")
