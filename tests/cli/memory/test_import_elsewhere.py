"""The same document at several places, and the same place read in another way: each is what it is, and none is lost."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path

import pytest

from agent.bootstrap import store_client
from agent.cli.exit_codes import ExitCode
from agent.config import Settings
from agent.core.canonical import inputs_hash
from agent.core.ids import session_uuid
from tests.cli.memory.importing import MESSAGES, Imported, chat, events, imported, lines, said, stored

TURNS = [("user", "Conversation 1"), ("user", "Can I change my flight?"), ("assistant", ""), ("tool", "found"),
         ("assistant", "Yes, to Friday.")]  # fmt: skip


def test_equal_documents_are_a_session_at_every_place(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    (tmp_path / "a.jsonl").write_bytes(lines(chat(1), chat(1)))
    (tmp_path / "b.json").write_text(json.dumps(chat(1), indent=2))

    def run() -> list[Imported]:
        return [
            imported(store, tmp_path / "a.jsonl"),
            imported(store, tmp_path / "b.json"),
            imported(store, tmp_path / "b.json", source_name="support"),
        ]

    first = run()
    names = {"a.jsonl#0", "a.jsonl#1", "b.json#0", "support#0"}
    assert said(store) == dict.fromkeys(names, TURNS)
    # What was told of is there, and is new.
    assert {result["session_id"] for done in first for result in done.taken} == set(map(session_uuid, names))
    assert sum(done.sum("new") for done in first) == 20
    hashes = [event["inputs_hash"] for event in events(store)]
    assert len(set(hashes)) == 4
    assert inputs_hash(chat(1)) in hashes
    before = events(store), stored(store)
    assert [result["duplicate"] for done in run() for result in done.taken] == [True] * 4
    assert (events(store), stored(store)) == before


def test_the_first_keeps_the_hash_of_the_document_and_the_others_have_one_of_their_own(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(chat(1)))
        imported(store, tmp_path / name)
    own = {
        "document": inputs_hash(chat(1)), "conversation": 0, "piece": 0, "session": session_uuid("b.json#0"),
        "format": "openai-chat",
    }  # fmt: skip
    assert [event["inputs_hash"] for event in events(store)] == [own["document"], inputs_hash(own)]


def test_every_piece_of_a_long_conversation_is_at_every_place(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    data = lines({"messages": [{"role": "user", "content": str(number)} for number in range(10_001)]})
    (tmp_path / "a.jsonl").write_bytes(data)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(data))
    done = imported(store, tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz")
    assert [(result["captures"], result["new"], result["duplicate"]) for result in done.taken] == [
        (2, 10_001, False)
    ] * 2
    again = imported(store, tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz")
    assert [(result["new"], result["known"], result["duplicate"]) for result in again.taken] == [(0, 10_001, True)] * 2


def test_a_document_that_names_its_session_is_one_wherever_it_stands(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(chat(1, session_id="s-1")))
    first, second = (imported(store, tmp_path / name).taken[0] for name in ("a.json", "b.json"))
    assert (first["duplicate"], second["duplicate"], len(events(store))) == (False, True, 1)


def test_an_import_in_the_right_format_revises_one_in_a_wrong_format(tmp_path: Path) -> None:
    store, file = tmp_path / "store.db", tmp_path / "a.json"
    blocks = [{"type": "text", "text": "Look."}, {"type": "tool_use", "id": "t1", "name": "find", "input": {"q": 1}}]
    file.write_text(
        json.dumps({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": blocks}]})
    )
    assert imported(store, file, asked="openai-chat").sum("calls") == 0
    right = imported(store, file)
    (result,) = right.taken
    assert (result["format"], result["calls"], result["new"], result["revised"]) == ("anthropic", 1, 0, 2)
    (turns,) = stored(store).values()
    assert [each["tool_name"] for each in turns[1].model_dump()["tool_invocations"]] == ["find"]
    before = events(store), stored(store)
    for asked in ("anthropic", "auto", "openai-chat"):
        assert imported(store, file, asked=asked).taken[0]["duplicate"]
    assert (events(store), stored(store)) == before


def test_an_import_from_the_right_member_revises_one_from_a_wrong_member(tmp_path: Path) -> None:
    store, file = tmp_path / "store.db", tmp_path / "a.json"
    file.write_text(json.dumps({"draft": MESSAGES[:1], "final": [{"role": "user", "content": "Hello"}, *MESSAGES[1:]]}))
    imported(store, file, at="draft")
    (result,) = imported(store, file, at="final").taken
    assert (result["new"], result["revised"]) == (3, 1)
    (turns,) = said(store).values()
    assert [text for _, text in turns] == ["Hello", "", "found", "Yes, to Friday."]
    assert imported(store, file, at="final").taken[0]["duplicate"]


def test_names_of_one_file_that_another_may_have_had_are_told_once(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    for folder, number in (("a", 0), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "chats.jsonl").write_bytes(lines(chat(number), chat(number + 1)))
    assert imported(store, tmp_path / "a" / "chats.jsonl").err == ""
    done = imported(store, tmp_path / "b" / "chats.jsonl")
    assert (done.code, done.sum("revised")) == (ExitCode.OK, 2)
    assert done.err.startswith(f"{tmp_path}/b/chats.jsonl: turns of chats.jsonl#0 were revised: ")
    assert "--source NAME" in done.err
    assert done.err.count("\n") == 1
    # Where the document names its session, nothing stands for it but that.
    for text in ("One", "Two"):
        (tmp_path / "c.json").write_text(
            json.dumps({"session_id": "s", "messages": [{"role": "user", "content": text}]})
        )
        done = imported(store, tmp_path / "c.json")
    assert (done.sum("revised"), done.err) == (1, "")


@pytest.mark.parametrize("content", ["session", "turn"])
def test_what_was_erased_is_not_imported_again(content: str, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(chat(1)))
    (taken,) = imported(store, tmp_path / "a.json").taken
    with closing(store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{store}"}))) as client:
        if content == "session":
            client.erasure.session(taken["session_id"])
        else:
            client.erasure.turn(stored(store)["a.json#0"][0].turn_id)
    before = len(events(store))
    assert imported(store, tmp_path / "a.json").taken[0]["duplicate"]
    assert len(events(store)) == before
    # Elsewhere it is another session, which nobody erased.
    assert imported(store, tmp_path / "b.json").sum("new") == 5
