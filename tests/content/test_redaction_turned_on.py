"""What the page for operators says to do with what was stored in full, done as it is written there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from store.urls import open_store
from tests.cli.memory.importing import lines, said, stored
from tests.cli.streams import run_process
from tests.conftest import REPOSITORY
from tests.operate.page import Ran, blocks, run_script
from tests.store.surface import Surface, envelope, payload, turn

PAGE = (REPOSITORY / "docs" / "content.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## You turned redaction on")[2].partition("\n## ")[0]
ERASING, COPYING = blocks(SECTION)
CARD, MAIL = "4111 1111 1111 1111", "ann@example.org"
LISTS = {
    "chat-7": [{"role": "user", "content": f"my card is {CARD}"}, {"role": "assistant", "content": "Thank you."}],
    "chat-8": [{"role": "user", "content": f"I am {MAIL}"}, {"role": "assistant", "content": "Hello."}],
    "chat-9": [{"role": "user", "content": f"write to {MAIL}"}],
}
MORE = {"role": "user", "content": "and to bert@example.org"}


def documents(**lists: Any) -> bytes:
    return lines(*({"session_id": name, "messages": messages} for name, messages in lists.items()))


class Site:
    """A store that was written in full, and where its commands run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "full.db"
        self.captured(self.store, "full", documents(**LISTS))

    def run(self, script: str, **variables: str) -> Ran:
        given = {"RUVECTOR_SERVICE_URL": f"embedded:{self.store}", **variables}
        return run_script(script, self.folder, {}, **given)

    def erase(self, *what: str) -> None:
        done = self._command("erase", *what, "--yes")
        assert done.code == 0, done.err

    def goes_on(self, store: Path) -> list[dict[str, Any]]:
        """Each list again with one more message, redacted; what the import says of each."""
        return self.captured(store, "redacted", documents(**{name: [*each, MORE] for name, each in LISTS.items()}))

    def captured(self, store: Path, mode: str, body: bytes) -> list[dict[str, Any]]:
        file = self.folder / "lists.jsonl"
        file.write_bytes(body)
        done = self._command("import", str(file), "--jsonl", "--store", str(store), CAPTURE_CONTENT=mode)
        assert done.code == 0, done.err
        return [json.loads(line) for line in done.out.splitlines()]

    def _command(self, *arguments: str, **variables: str) -> Any:
        given = {"RUVECTOR_SERVICE_URL": f"embedded:{self.store}", **variables}
        return run_process(self.folder, "agent", "conversation-memory", *arguments, **given)


@pytest.fixture
def site(tmp_path) -> Site:
    return Site(tmp_path)


def texts(store: Path) -> dict[str, list[str | None]]:
    return {name: [content for _, content in turns] for name, turns in said(store).items()}


def in_files(store: Path, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in store.parent.glob(f"{store.name}*"))


def test_a_list_that_goes_on_redacted_leaves_what_is_stored_and_counts_it(site: Site) -> None:
    told = {each["native_session_id"]: each for each in site.goes_on(site.store)}
    assert {name: each["kept_fuller"] for name, each in told.items()} == dict.fromkeys(LISTS, 1)
    assert texts(site.store)["chat-7"] == [f"my card is {CARD}", "Thank you.", "and to [redacted:email]"]
    assert '`{"path": "$.turns", "rule": "fuller_body_kept"}`' in SECTION


def test_what_is_erased_as_the_page_says_is_gone_and_does_not_come_back(site: Site) -> None:
    surface = Surface(open_store(f"sqlite:///{site.store}"))
    old = envelope(payload(turn(1, "said by dora@example.org")), timestamp="2020-03-02T08:15:00.000000Z")
    assert surface.post(old).status_code == 201
    surface.close()
    ran = site.run(ERASING, TURN=stored(site.store)["chat-8"][0].turn_id)
    assert ran.code == 0, ran.err
    assert [in_files(site.store, text) for text in (CARD, "dora@example.org", f"I am {MAIL}")] == [False] * 3
    assert in_files(site.store, f"write to {MAIL}"), "nobody erased chat-9, which is new"
    told = {each["native_session_id"]: each for each in site.goes_on(site.store)}
    assert [(told[name]["new"], told[name]["erased"]) for name in ("chat-7", "chat-8", "chat-9")] == [
        (1, 2),
        (1, 1),
        (1, 0),
    ]
    assert not in_files(site.store, "card")


def test_the_copy_is_redacted_and_those_who_write_go_on_in_it(site: Site) -> None:
    erased = stored(site.store)["chat-8"][0].turn_id
    site.erase("--turn-id", erased)
    site.erase("--session-id", "chat-9")
    before = {name: [turn.turn_id for turn in turns] for name, turns in stored(site.store).items()}
    ran = site.run(COPYING)
    assert ran.code == 0, ran.err
    assert len(re.findall(r"^erased turns, or none left: \S+$", ran.out, re.MULTILINE)) == 2
    assert re.search(r"^store +clean$", ran.out, re.MULTILINE)
    (copy,) = site.folder.glob("tmp.*/redacted.db")
    assert sorted(path.name for path in copy.parent.iterdir() if path.suffix != ".db") == ["erasures.jsonl"]
    assert texts(copy) == {"chat-7": ["my card is [redacted:card]", "Thank you."], "chat-8": ["Hello."]}
    assert [turn.turn_id for turn in stored(copy)["chat-7"]] == before["chat-7"]
    assert not in_files(copy, CARD)
    told = {each["native_session_id"]: each for each in site.goes_on(copy)}
    assert [each for each in told.values() if "kept_fuller" in each] == []
    assert (told["chat-7"]["known"], told["chat-7"]["new"]) == (2, 1)
    assert [told[name]["erased"] for name in ("chat-8", "chat-9")] == [1, 1], "what was erased stays so"
    assert not in_files(copy, MAIL)


def test_the_same_capture_sent_again_says_nothing(site: Site) -> None:
    told = site.captured(site.store, "redacted", documents(**LISTS))
    assert [(each["duplicate"], "kept_fuller" in each) for each in told] == [(True, False)] * 3
    assert texts(site.store)["chat-7"][0] == f"my card is {CARD}"
