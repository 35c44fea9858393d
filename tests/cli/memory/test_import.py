"""``import`` in this process: every container, what cannot be read, and what the store holds afterwards."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.core.canonical import inputs_hash
from agent.core.ids import session_uuid
from tests.cli.memory.importing import MESSAGES, chat, events, imported, lines, said, shown, stored
from tests.cli.streams import EXAMPLE, Screen, terminal

CHATS = [chat(number) for number in range(3)]
SAID = [("user", "Can I change my flight?"), ("assistant", ""), ("tool", "found"), ("assistant", "Yes, to Friday.")]
# Whole, as it might be downloaded; the second conversation names itself.
NODES = {"root": {"id": "root", "message": None, "parent": None, "children": ["a"]}} | {
    name: {
        "id": name, "parent": parent, "children": children,
        "message": {"id": name, "author": {"role": role}, "content": {"content_type": "text", "parts": [text]}},
    }
    for name, parent, children, role, text in [("a", "root", ["b"], "user", "Hi"), ("b", "a", [], "assistant", "Ho")]
}  # fmt: skip
EXPORT = [{"id": "conv-1", "title": "A greeting", "mapping": NODES, "current_node": "b"}]


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return path


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", lines(*CHATS)),
        ("a.jsonl", b"\xef\xbb\xbf" + lines(*CHATS).replace(b"\n", b"\r\n\r\n \t\r\n")),
        ("a.jsonl", lines(*CHATS).rstrip()),
        ("a.json", json.dumps(CHATS).encode()),
        ("a.json", json.dumps(CHATS, indent=2).encode()),
        ("a.json", "\n".join(json.dumps(each, indent=1) for each in CHATS).encode()),
        ("a.jsonl.gz", gzip.compress(lines(*CHATS))),
        ("export.bin", gzip.compress(json.dumps(CHATS).encode())),
    ],
    ids=["lines", "crlf", "no last break", "array", "indented", "objects", "gz", "gz array"],
)
def test_every_container_gives_its_conversations(name: str, data: bytes, tmp_path: Path) -> None:
    file, store = tmp_path / name, tmp_path / "store.db"
    file.write_bytes(data)
    done = imported(store, file)
    assert (done.code, done.err) == (ExitCode.OK, "")
    assert [result["place"] for result in done.taken] == [0, 1, 2]
    assert done.sum("new") == 15
    assert said(store) == {f"{name}#{place}": [("user", f"Conversation {place}"), *SAID] for place in range(3)}


def test_one_object_and_one_list_of_messages_are_one_conversation_each(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    (tmp_path / "object.json").write_text(json.dumps(chat(1)))
    (tmp_path / "list.json").write_text(json.dumps(MESSAGES))
    (tmp_path / "messages.jsonl").write_bytes(lines({"role": "system", "content": "Be brief."}, *MESSAGES))
    assert imported(store, tmp_path).code is ExitCode.OK
    assert said(store) == {
        "object.json#0": [("user", "Conversation 1"), *SAID],
        "list.json#0": SAID,
        "messages.jsonl#0": [("system", "Be brief."), *SAID],
    }


def test_of_a_zip_export_the_conversations_are_read_and_the_other_files_are_counted(tmp_path: Path) -> None:
    store, data = tmp_path / "store.db", json.dumps(EXPORT).encode()
    archive = zipped(tmp_path / "export.zip", user__json=b"{}", conversations__json=data, chat__html=b"<html>")
    done = imported(store, archive)
    assert done.code is ExitCode.OK
    assert [(each["format"], each["native_session_id"], each["new"]) for each in done.taken] == [
        ("chatgpt-export", "conv-1", 2)
    ]
    assert done.taken[0]["file"] == f"{archive}/conversations.json"
    assert "2  other files of the archive" in shown(store, archive)[1]
    # The same conversations unpacked are the same events.
    (tmp_path / "conversations.json").write_bytes(data)
    assert imported(store, tmp_path / "conversations.json").taken[0]["duplicate"]


def test_an_archive_without_an_export_is_read_by_its_files(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "all.zip", one__jsonl=lines(chat(1)), two__json=json.dumps(chat(2)).encode())
    assert imported(tmp_path / "store.db", archive).sum("new") == 10
    assert set(stored(tmp_path / "store.db")) == {"one.jsonl#0", "two.json#0"}


def test_a_folder_is_read_with_all_below_it_and_a_pattern_too_each_file_once(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    for name in ("b.jsonl", "deep/a.JSON", "notes.md", ".hidden/c.json", "deep/.d.json"):
        (folder / name).write_bytes(lines(chat(len(name))))
    done = imported(tmp_path / "store.db", folder, folder / "*.jsonl", f"{folder}/**/*.JSON")
    assert [result["file"] for result in done.taken] == [str(folder / "b.jsonl"), str(folder / "deep/a.JSON")]


@pytest.mark.parametrize(
    ("name", "said_of_it"),
    [
        ("missing.json", "there is no such file"),
        ("*.json", "no file matches"),
        ("", "a file without a name"),
        ("empty", "holds no file that an import reads"),
    ],
)
def test_a_name_that_leads_to_nothing_is_refused_before_anything_is_read(
    name: str, said_of_it: str, tmp_path: Path
) -> None:
    (tmp_path / "good.jsonl").write_bytes(lines(*CHATS))
    (tmp_path / "empty").mkdir()
    code, out, err = shown(tmp_path / "store.db", tmp_path / "good.jsonl", str(tmp_path / name) if name else "")
    assert (code, out) == (ExitCode.USAGE, "")
    assert said_of_it in err
    assert not (tmp_path / "store.db").exists()


def test_what_cannot_be_read_is_named_and_stops_nothing(tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    deep = b'{"messages": ' + b"[" * 200 + b"]" * 200 + b"}"
    bad = [
        ("not JSON", b"not json SECRET"),
        ("not JSON", b'{"messages": [{"role": "user", "content": NaN}]}'),
        ("a key twice", b'{"messages": [], "messages": []}'),
        ("half of a surrogate pair", b'{"messages": [{"role": "user", "content": "\\ud800"}]}'),
        ("nested deeper than 128", deep),
        ("a number out of range", b'{"messages": [{"role": "user", "content": "x", "n": 1e999}]}'),
        ("not UTF-8", b'{"messages": [{"role": "user", "content": "\xff"}]}'),
        ("junk", b'"SECRET"'),
        ("junk", b"42"),
        ("junk", b"{}"),
        ("junk", b"null"),
        ("no conversation that we read", b'{"SECRET": "SECRET"}'),
        ("refused by its format", json.dumps({"messages": [{"role": "user", "content": 7}]}).encode()),
        ("cut off", b'{"messages": [{"role": "user", "content": "SECR'),
    ]
    file.write_bytes(lines(chat(1), *(line for _, line in bad[:-1]), chat(2)) + bad[-1][1])
    done = imported(tmp_path / "store.db", file)
    assert done.code is ExitCode.PARTLY
    assert done.kinds == [kind for kind, _ in bad]
    # Places count what was a document, also where it could not be read.
    assert [result["place"] for result in done.taken] == [0, len(bad)]
    assert set(said(tmp_path / "store.db")) == {"mixed.jsonl#0", f"mixed.jsonl#{len(bad)}"}
    code, out, err = shown(tmp_path / "store.db", file)
    assert code is ExitCode.PARTLY
    assert "SECR" not in json.dumps(done.results) + out + err
    assert "skipped  4  junk" in out
    assert f"{file}#1: not JSON" in err
    assert "... and more" in err


def test_an_array_that_breaks_off_gives_what_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "cut.json"
    file.write_bytes(json.dumps(CHATS).encode()[:-40])
    done = imported(tmp_path / "store.db", file)
    assert (done.code, len(done.taken), done.kinds) == (ExitCode.PARTLY, 2, ["cut off"])
    packed = tmp_path / "cut.jsonl.gz"
    packed.write_bytes(
        gzip.compress(lines(*(chat(number, session_id=f"s-{number}") for number in range(2000))))[:-4000]
    )
    done = imported(tmp_path / "other.db", packed)
    assert done.code is ExitCode.PARTLY
    assert 0 < len(done.taken) < 2000
    assert "1  the archive is damaged" in shown(tmp_path / "other.db", packed)[1]


@pytest.mark.parametrize(
    ("data", "said_of_it"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"[]", "holds no conversation (a JSON array, empty)"),
        (b"User: hello\nBot: hi\n", "not JSON"),
        ('[{"messages": []}]'.encode("utf-16"), "UTF-16 or UTF-32, and JSON is UTF-8"),
        (b'{"SECRET": 1}', "not a conversation format that we read (a JSON object)"),
        (lines({"SECRET": 1}, ["SECRET"], 3), "not a conversation format that we read (JSON lines, 1 object, 1 list, "),
        (b'[\n{"SECRET": 1},\n{"SECRET": 2}]', "not a conversation format that we read (a JSON array, 2 objects)"),
        (lines({"messages": [{"role": "user", "content": 7}]}), "1 refused, the first with: 1 problem; first: $.mess"),
        (b"PK\x03\x04" + b"\0" * 40, "the archive is damaged"),
        (b"\x1f\x8b\x08\x00 no gzip", "the archive is damaged"),
    ],
)
def test_a_file_that_is_no_conversation_is_named_in_one_line(data: bytes, said_of_it: str, tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(data)
    code, out, err = shown(tmp_path / "store.db", file)
    assert code is ExitCode.NOT_POSSIBLE
    assert err.startswith(f"{file}: {said_of_it}")
    # Messages may stand in it where no format looks.
    hints = int("not a conversation format" in said_of_it)
    assert err.count("\n") == 1 + hints
    assert err.count("--at KEY") == hints
    assert "SECRET" not in out + err
    # Among others it is part of what was done.
    (tmp_path / "good.jsonl").write_bytes(lines(*CHATS))
    code = imported(tmp_path / "store.db", file, tmp_path / "good.jsonl").code
    nothing_in_it = said_of_it.startswith(("empty", "holds no"))
    assert code is (ExitCode.OK if nothing_in_it else ExitCode.PARTLY)


def test_importing_twice_changes_nothing_and_a_grown_file_adds_what_grew(tmp_path: Path) -> None:
    file, store = tmp_path / "chats.jsonl", tmp_path / "store.db"
    file.write_bytes(lines(*CHATS))
    imported(store, file)
    before = events(store), stored(store)
    again = imported(store, file)
    assert (events(store), stored(store)) == before
    assert [(result["duplicate"], result["new"], result["known"]) for result in again.taken] == [(True, 0, 5)] * 3
    more = {"role": "user", "content": "Thanks."}
    file.write_bytes(lines(CHATS[0], chat(1, [*MESSAGES, more]), CHATS[2], chat(3)))
    grown = imported(store, file)
    assert [(result["duplicate"], result["new"], result["known"]) for result in grown.taken] == [
        (True, 0, 5),
        (False, 1, 5),
        (True, 0, 5),
        (False, 5, 0),
    ]
    assert said(store)["chats.jsonl#1"][-1] == ("user", "Thanks.")
    # What was there is as it was, revised by nothing.
    assert stored(store)["chats.jsonl#1"][:-1] == before[1]["chats.jsonl#1"]


def test_the_hash_is_that_of_the_conversation_as_it_stands_in_the_file(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    wrapped = {"task_id": 7, "big": [1, 2], "traj": MESSAGES}
    (tmp_path / "a.jsonl").write_bytes(lines(chat(1), wrapped))
    (tmp_path / "list.json").write_text(json.dumps(MESSAGES))
    done = imported(store, tmp_path)
    found = {event["inputs"]["native_session_id"]: event for event in events(store)}
    assert found["a.jsonl#0"]["inputs_hash"] == inputs_hash(chat(1))
    assert found["a.jsonl#1"]["inputs_hash"] == inputs_hash(wrapped)
    assert found["list.json#0"]["inputs_hash"] == inputs_hash(MESSAGES)
    assert all("ids_derived" in event["constraints_applied"] for event in found.values())
    # What stands beside the messages is kept where it is small, and else counted.
    assert found["a.jsonl#1"]["inputs"]["native"] == {
        "format": "openai-chat",
        "beside": {"wrapper": {"task_id": 7}},
    }
    assert done.taken[1]["ignored"] == {"members beside the conversation": 1}


def test_a_session_is_named_by_the_document_else_by_the_source_and_the_place(tmp_path: Path) -> None:
    file, store = tmp_path / "a.jsonl", tmp_path / "store.db"
    named = chat(1, session_id="chat-7", conversation_id="c-1", context={"user_id": "anna"}, model="gpt-4o")
    file.write_bytes(lines(named, chat(2)))
    done = imported(store, file, source_name="support")
    assert set(stored(store)) == {"chat-7", "support#1"}
    assert done.taken[0]["session_id"] == session_uuid("chat-7")
    (first,) = [event["inputs"] for event in events(store) if event["inputs"]["native_session_id"] == "chat-7"]
    assert (first["native_conversation_id"], first["context"]) == ("c-1", {"user_id": "anna"})
    assert [turn.get("model") for turn in first["turns"]] == [None, None, "gpt-4o", None, "gpt-4o"]


def test_a_body_that_only_adds_is_taken_as_when_it_is_posted(tmp_path: Path) -> None:
    file, store = tmp_path / "a.jsonl", tmp_path / "store.db"
    delta = {"session_id": "chat-7", "mode": "delta", "request_id": "r-1", "messages": MESSAGES[-1:]}
    wrong = {"session_id": "chat-8", "mode": "delta", "messages": MESSAGES[-1:]}
    file.write_bytes(lines(chat(1, session_id="chat-7"), delta, wrong))
    assert imported(store, file).kinds == ["refused by its format"]
    assert said(store)["chat-7"] == [("user", "Conversation 1"), *SAID, SAID[-1]]


def test_native_captures_are_taken_with_their_exact_text(tmp_path: Path) -> None:
    store, payload = tmp_path / "store.db", json.loads(EXAMPLE.read_bytes())
    spaced = json.dumps(payload | {"more": 1.50}, separators=(" ,", " :  "))
    (tmp_path / "a.jsonl").write_text(f'{spaced}\n{{"payload": {json.dumps(payload)}}}\n{{"session_id": 1}}\n')
    done = imported(store, tmp_path / "a.jsonl")
    assert [result["format"] for result in done.taken] == ["native", "native"]
    assert events(store)[0]["inputs_hash"] == inputs_hash(payload | {"more": 1.5})
    assert [event["inputs_hash"] == event["stored_inputs_hash"] for event in events(store)] == [True, True]
    (tmp_path / "b.json").write_text(json.dumps([payload, payload | {"turns": [{"role": "SECRET"}]}]))
    again = imported(store, tmp_path / "b.json")
    assert [result["duplicate"] for result in again.taken] == [True]
    assert "$.turns[0].content" in {problem["path"] for problem in again.results[1]["error"]["errors"]}


def test_a_conversation_of_25_000_turns_becomes_captures_in_order(tmp_path: Path) -> None:
    file, store = tmp_path / "long.jsonl", tmp_path / "store.db"
    messages = [{"role": "user", "content": str(number)} for number in range(25_000)]
    file.write_bytes(lines({"messages": messages}))
    (result,) = imported(store, file).taken
    assert (result["captures"], result["turns"], result["new"]) == (3, 25_000, 25_000)
    (turns,) = stored(store).values()
    assert [turn.content for turn in turns] == [str(number) for number in range(25_000)]
    assert [turn.parent_turn_id for turn in turns[1:]] == [turn.turn_id for turn in turns[:-1]]
    assert len({event["inputs_hash"] for event in events(store)}) == 3
    (again,) = imported(store, file).taken
    assert (again["duplicate"], again["new"]) == (True, 0)


def test_a_large_conversation_becomes_captures_that_a_store_takes(tmp_path: Path) -> None:
    file, store = tmp_path / "large.jsonl", tmp_path / "store.db"
    messages = [{"role": "user", "content": f"{number}{'x' * 3_000_000}"} for number in range(14)]
    huge = [{"role": "user", "content": "x" * 34_000_000}]
    file.write_bytes(lines({"messages": messages}, {"messages": huge}, chat(1)))
    done = imported(store, file)
    assert [(result["captures"], result["new"]) for result in done.taken] == [(7, 14), (1, 5)]
    assert done.kinds == ["larger than a store takes"]
    assert [turn.content[:3] for turn in stored(store)["large.jsonl#0"]] == [each["content"][:3] for each in messages]


def test_two_conversations_of_one_document_are_told_apart(tmp_path: Path) -> None:
    def call(*texts: str) -> dict[str, Any]:
        sent = [{"role": "user", "content": text} for text in texts]
        answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": f"to {texts[-1]}"}}]}
        return {"request": {"model": "m", "messages": sent}, "response": answer}

    file, store = tmp_path / "calls.jsonl", tmp_path / "store.db"
    document = {"interactions": [call("a"), call("b")]}
    file.write_bytes(lines(document))
    done = imported(store, file)
    assert [(result["place"], result["number"], result["new"]) for result in done.taken] == [(0, 0, 2), (0, 1, 2)]
    assert [event["inputs_hash"] == inputs_hash(document) for event in events(store)] == [True, False]
    assert len({result["session_id"] for result in done.taken}) == 1
    assert len({result["conversation_id"] for result in done.taken}) == 2
    assert imported(store, file).sum("new") == 0


def test_records_are_read_conversation_by_conversation_wherever_they_stand(tmp_path: Path) -> None:
    def record(session: str, number: int) -> dict[str, Any]:
        return {
            "type": "user", "sessionId": session, "uuid": f"{session}-{number}", "cwd": "/x", "version": "1",
            "parentUuid": f"{session}-{number - 1}" if number else None, "timestamp": f"2026-03-02T08:15:0{number}Z",
            "message": {"role": "user", "content": f"{session} says {number}"},
        }  # fmt: skip

    mixed = [record(session, number) for number in range(3) for session in ("one", "two")]
    store = tmp_path / "store.db"
    data = lines({"type": "summary", "summary": "x", "leafUuid": "y"}, *mixed[:3], b"SECRET", b"7", *mixed[3:])
    (tmp_path / "a.jsonl").write_bytes(data)
    done = imported(store, tmp_path / "a.jsonl")
    assert done.code is ExitCode.PARTLY
    assert done.kinds == ["not JSON", "junk"]
    assert [(result["place"], result["format"], result["new"]) for result in done.taken] == [
        (0, "claude-code", 3),
        (1, "claude-code", 3),
    ]
    assert said(store) == {name: [("user", f"{name} says {n}") for n in range(3)] for name in ("one", "two")}
    hashes = {event["inputs"]["native_session_id"]: event["inputs_hash"] for event in events(store)}
    assert hashes["two"] == inputs_hash([each for each in mixed if each["sessionId"] == "two"])
    # Packed, and as an array, they are the same records.
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(data))
    (tmp_path / "c.json").write_text(json.dumps([json.loads(line) for line in data.splitlines() if line != b"SECRET"]))
    for other in ("b.jsonl.gz", "c.json"):
        assert [result["duplicate"] for result in imported(store, tmp_path / other).taken] == [True, True]


def test_messages_are_found_where_at_says(tmp_path: Path) -> None:
    file, store = tmp_path / "a.json", tmp_path / "store.db"
    grown = [MESSAGES[:1], MESSAGES[:3], MESSAGES]
    file.write_text(json.dumps([{"run": {"turns": MESSAGES, "id": 1}}, {"run": {"turns": grown}}, {"run": 3}]))
    done = imported(store, file, at="run.turns")
    assert said(store) == {"a.json#0": SAID, "a.json#1": SAID}
    assert done.kinds == ["refused by its format"]
    assert done.results[2]["error"]["errors"] == [{"path": "$.run.turns", "rule": "required"}]
    code, _, err = shown(store, file, at="run.none")
    assert code is ExitCode.NOT_POSSIBLE
    assert err == f"{file}: 3 refused, the first with: 1 problem; first: $.run.none: is required\n"


def test_a_log_of_inspect_names_its_functions_in_place_of_them_and_says_which_results_are_errors(
    tmp_path: Path,
) -> None:
    call = {"id": "bash_1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}
    result = {
        "role": "tool",
        "content": "no",
        "tool_call_id": "bash_1",
        "function": "bash",
        "error": {"type": "timeout"},
    }
    sample = {"id": 1, "messages": [*MESSAGES[:1], {"role": "assistant", "content": "", "tool_calls": [call]}, result]}
    (tmp_path / "log.json").write_text(json.dumps({"samples": [sample], **sample}))
    done = imported(tmp_path / "store.db", tmp_path / "log.json", at="messages")
    assert (done.code, done.sum("calls")) == (ExitCode.OK, 1)
    _, called, answered = (turn.model_dump() for turn in stored(tmp_path / "store.db")["log.json#0"])
    (made,), (given,) = called["tool_invocations"], answered["tool_invocations"]
    assert (made["tool_name"], made["arguments"]) == ("bash", {"cmd": "ls"})
    assert (given["invocation_id"], given["success"], given["tool_name"]) == (made["invocation_id"], False, "bash")
    assert called["metadata"]["native"] == {"tool_calls": [call]}


def test_a_recording_of_several_providers_is_read_by_each(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "Hi"}]
    openai = {
        "request": {"model": "m", "messages": asked},
        "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Ho"}}]},
    }
    gemini = {
        "request": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Ha"}]}}], "modelVersion": "g"},
    }
    other = {"request": {"input": 1}, "response": {"output": 2}}
    file = tmp_path / "calls.jsonl"
    file.write_bytes(lines({"interactions": [openai, gemini, other]}))
    done = imported(tmp_path / "store.db", file)
    assert sorted(result["format"] for result in done.taken) == ["gemini", "openai-chat"]
    assert len({result["conversation_id"] for result in done.taken}) == 2
    # The one call that nobody takes is counted once.
    assert sum(result["ignored"].get("calls of something else", 0) for result in done.taken) == 1


def test_a_named_format_is_read_as_that_and_its_errors_are_told(tmp_path: Path) -> None:
    file, store = tmp_path / "a.jsonl", tmp_path / "store.db"
    file.write_bytes(lines(chat(1)))
    assert imported(store, file, asked="openai-chat").code is ExitCode.OK
    assert imported(store, file, asked="native").code is ExitCode.NOT_POSSIBLE
    code, _, err = shown(store, file, asked="chatgpt-export")
    assert code is ExitCode.NOT_POSSIBLE
    assert err.startswith(f"{file}: ")


def test_a_dry_run_gives_the_same_account_without_a_store(tmp_path: Path) -> None:
    file, store = tmp_path / "a.jsonl", tmp_path / "store.db"
    file.write_bytes(lines(*CHATS, "junk", {"messages": [{"role": "user", "content": 7}]}))
    dry = imported(store, file, dry_run=True)
    assert not store.exists()
    wet = imported(store, file)
    assert dry.code is wet.code is ExitCode.PARTLY
    for one, other in zip(dry.results, wet.results, strict=True):
        # Who asks no store does not know what is new.
        assert one == {name: value for name, value in other.items() if name in one}
    assert dry.kinds == wet.kinds


def test_a_person_sees_a_row_a_file_and_the_sum(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(lines(chat(len(name), session_id=name)))
    code, out, err = shown(tmp_path / "store.db", tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert (code, err) == (ExitCode.OK, "")
    where, *rows = [line.split() for line in out.splitlines()]
    assert where == ["in", f"{tmp_path}/"]
    assert [row[0] for row in rows[1:]] == ["a.jsonl", "b.jsonl", "all"]
    # What counts nothing has no column.
    assert rows[0] == ["file", "format", "conversations", "turns", "new", "calls"]
    assert rows[-1] == ["all", "2", "10", "10", "2"]
    (tmp_path / "no.json").write_text("{}")
    code, out, _ = shown(tmp_path / "store.db", tmp_path / "a.jsonl", tmp_path / "no.json", dry_run=True)
    _, *rows = [line.split() for line in out.splitlines()]
    assert rows == [
        ["file", "format", "conversations", "turns", "calls", "unreadable"],
        ["a.jsonl", "openai-chat", "1", "5", "1", "0"],
        ["no.json", "-", "0", "0", "0", "1"],
        ["all", "1", "5", "1", "1"],
        ["skipped", "1", "junk"],
        ["dry", "run:", "nothing", "was", "stored"],
    ]


def test_on_80_columns_no_name_of_a_format_is_broken(tmp_path: Path) -> None:
    file = tmp_path / "recording-of-some-afternoon.json"
    sent, answer = [{"role": "user", "content": "Hi"}], {"role": "assistant", "content": "Ho"}
    responses = {"object": "response", "output": [{"type": "message", **answer}]}
    calls = [
        {"request": {"input": "Hi"}, "response": responses},
        {"request": {"messages": sent}, "response": {"choices": [{"message": answer}]}},
    ]
    file.write_text(json.dumps({"interactions": calls}))
    shown(tmp_path / "store.db", file)
    code, out, _ = shown(tmp_path / "store.db", file, screen=terminal(environ={"COLUMNS": "80"}))
    assert code is ExitCode.OK
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r" openai-responses,? ", out)
    assert re.search(r" openai-chat( |,|$)", out, re.MULTILINE)


@pytest.mark.parametrize("key", ["", "x[0]", "a..b", "a.", "samples[0].messages", "$.a[*].b"])
def test_what_is_no_path_of_members_is_refused_in_words(key: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(chat(1)))
    code, out, err = shown(tmp_path / "store.db", tmp_path / "a.json", at=key)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err == "memory-graph: --at takes the names of members, as data.messages\n"


def test_json_and_yaml_are_one_document_with_the_sums_of_each_file(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(*CHATS, "junk"))
    _, out, _ = shown(tmp_path / "store.db", file, form=Format.JSON)
    document = json.loads(out)
    assert [len(document["conversations"]), document["complete"], document["dry_run"]] == [4, True, False]
    (of_file,) = document["files"]
    assert of_file["file"] == str(file)
    assert document["total"] == {name: value for name, value in of_file.items() if name != "file"}
    assert (document["total"]["conversations"], document["total"]["new"]) == (3, 15)
    assert document["total"]["skipped"] == {"junk": 1}
    assert shown(tmp_path / "store.db", file, form=Format.YAML)[1].startswith("conversations:")


def test_names_from_files_are_escaped_on_a_terminal_and_a_bar_is_shown_there(tmp_path: Path) -> None:
    file = tmp_path / "a\x1b[31m.jsonl"
    file.write_bytes(lines(*CHATS, {"x": 1}))
    at = terminal(stdout=Screen(tty=True), environ={"TERM": "xterm"})
    at = type(at)(at.environ, at.stdin, at.stdout, Screen(tty=True))
    code, out, err = shown(tmp_path / "store.db", file, screen=at)
    assert code is ExitCode.PARTLY
    assert "\x1b[31m.jsonl" not in out + err
    assert "a\\x1b[31m.jsonl#3: no conversation" in err
