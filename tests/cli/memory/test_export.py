"""``export`` in this process, on an embedded store of its own."""

import json
import os
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.bootstrap import store_client
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.capturing.capture import CaptureCommand
from agent.cli.memory.sessions.export import ExportCommand
from agent.cli.memory.sessions.output_file import OutputFile
from agent.cli.output_format import Format
from agent.config import Settings
from agent.errors import ValidationError
from tests.cli.streams import BOOKING, EXAMPLE, PREFIX, Screen, invocation, printed, run_process, terminal
from tests.strategies import fresh_payload

GOLDEN = Path(__file__).parent / "golden"
SESSION = json.loads(EXAMPLE.read_bytes())["session_id"]
BOOKED = json.loads(BOOKING.read_bytes())
MISSING = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"


def capture(body: Any, store: Path, form: str = "native") -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    command = CaptureCommand("-", form, None)
    assert invocation(terminal(stdin=data), store=str(store)).run(command, interrupted="") == ExitCode.OK


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with the example in it, in a folder of its own."""
    path = tmp_path / "store.db"
    capture(EXAMPLE.read_bytes(), path)
    return path


def exported(
    store: Path,
    session: str = SESSION,
    *,
    to: str = "native",
    conversation: str | None = None,
    output: str | Path = "-",
    force: bool = False,
    output_format: Format = Format.TABLE,
    jsonl: bool = False,
    stdout: Screen | None = None,
) -> tuple[ExitCode, str, str]:
    """Export and return the exit code, the results, and all else that was printed."""
    at = terminal(stdout=stdout)
    command = ExportCommand(session, conversation, to, str(output), force=force)
    run = replace(invocation(at, Format.JSON if jsonl else output_format, store=str(store)), jsonl=jsonl)
    return run.run(command, interrupted=command.interrupted), *printed(at)


def erase(store: Path, turn_id: str) -> None:
    with closing(store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{store}"}))) as client:
        client.erasure.turn(turn_id)


@pytest.mark.parametrize(
    ("target", "golden"),
    [
        ("native", "export-native.json.txt"),
        ("openai-chat", "export-openai-chat.json.txt"),
        ("markdown", "export.markdown.txt"),
        ("text", "export.text.txt"),
    ],
)
def test_each_format_prints_what_its_golden_file_holds(target: str, golden: str, store: Path) -> None:
    code, out, err = exported(store, to=target)
    assert code == ExitCode.OK
    assert out == (GOLDEN / golden).read_text()
    if target in ("markdown", "text"):
        said = f"{target} does not say all of it, and leaves out:"
        assert err == f"memory-graph: {said}\n  contexts  5\n  token usage  2\n"


@pytest.mark.parametrize("output_format", list(Format))
def test_what_went_to_a_file_is_printed_as_its_golden_file_holds(
    output_format: Format, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store.parent)
    code, out, err = exported(store, to="markdown", output="parcel.md", output_format=output_format)
    # What is left out is in the results, and not said twice.
    assert (code, err) == (ExitCode.OK, "")
    assert out == (GOLDEN / f"export-file.{output_format.value}.txt").read_text()
    assert (store.parent / "parcel.md").read_text() == (GOLDEN / "export.markdown.txt").read_text()


def test_yaml_says_what_json_says(store: Path) -> None:
    file = store.parent / "a.json"
    _, as_json, _ = exported(store, output=file, output_format=Format.JSON)
    _, as_yaml, _ = exported(store, output=file, output_format=Format.YAML, force=True)
    assert yaml.safe_load(as_yaml) == json.loads(as_json)


def test_a_native_export_says_all_and_is_captured_again_from_a_pipe(store: Path, tmp_path: Path) -> None:
    code, out, err = exported(store)
    assert (code, err) == (ExitCode.OK, "")
    other = tmp_path / "other.db"
    capture(out.encode(), other)
    assert exported(other)[1] == out


def test_a_foreign_list_is_captured_again_from_an_export(tmp_path: Path) -> None:
    store, other = tmp_path / "store.db", tmp_path / "other.db"
    capture(BOOKED, store, "openai-chat")
    _, out, _ = exported(store, BOOKED["session_id"], to="openai-chat")
    assert json.loads(out)["messages"] == BOOKED["messages"]
    assert json.loads(out)["session_id"] == BOOKED["session_id"]
    capture(out.encode(), other, "openai-chat")
    assert exported(other, BOOKED["session_id"], to="openai-chat")[1] == out


def two_captures(store: Path) -> dict[str, Any]:
    """A session that takes two captures to say: two conversations."""
    first, second = fresh_payload(), fresh_payload()
    second["session_id"] = first["session_id"]
    capture(first, store)
    capture(second, store)
    return first


def test_several_captures_are_printed_as_json_lines_only_where_that_is_asked(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    session = two_captures(store)["session_id"]
    code, out, err = exported(store, session)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err == (
        "memory-graph: it takes 2 captures to say this session exactly: --jsonl prints them, one JSON document a line\n"
    )
    code, out, _ = exported(store, session, jsonl=True)
    assert code == ExitCode.OK
    assert [len(json.loads(line)["turns"]) for line in out.splitlines()] == [2, 2]
    other = tmp_path / "other.db"
    for line in out.splitlines():
        capture(line.encode(), other)
    assert exported(other, session, jsonl=True)[1] == out


def test_one_conversation_of_a_session_is_exported_alone(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    first = two_captures(store)
    _, out, _ = exported(store, first["session_id"], conversation=first["conversation_id"].upper())
    assert json.loads(out)["conversation_id"] == first["conversation_id"]
    assert [turn["turn_id"] for turn in json.loads(out)["turns"]] == [turn["turn_id"] for turn in first["turns"]]


@pytest.mark.parametrize("target", ["markdown", "text"])
def test_json_lines_of_what_is_no_json_are_refused(target: str, store: Path) -> None:
    code, out, err = exported(store, to=target, jsonl=True)
    assert (code, out) == (ExitCode.USAGE, "")
    assert f"--jsonl prints JSON documents, and {target} is none" in err


@pytest.mark.parametrize(
    ("session", "conversation", "said"),
    [
        (MISSING, None, f"there is no session {MISSING} in this store"),
        (SESSION, MISSING, f"there is no conversation {MISSING} in this session"),
    ],
)
def test_what_is_not_there_is_said(session: str, conversation: str | None, said: str, store: Path) -> None:
    assert exported(store, session, conversation=conversation) == (
        ExitCode.NOT_POSSIBLE,
        "",
        f"memory-graph: {said}\n",
    )


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    code, _, err = exported(tmp_path / "none.db")
    assert code == ExitCode.NOT_POSSIBLE
    assert "there is no store at" in err
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("native", "1 of 5 turns are erased: they are not in the export"),
        ("openai-chat", "1 of 5 turns are erased: they are not in the export"),
        ("markdown", "1 of 5 turns are erased: the export says where"),
        ("text", "1 of 5 turns are erased: the export says where"),
    ],
)
def test_a_session_that_is_erased_in_part_is_exported_in_part(target: str, said: str, store: Path) -> None:
    erase(store, json.loads(EXAMPLE.read_bytes())["turns"][1]["turn_id"])
    code, out, err = exported(store, to=target)
    assert code == ExitCode.PARTLY
    assert err.endswith(f"memory-graph: {said}\n")
    assert "Where is parcel 4471?" not in out
    assert "arrives tomorrow" in out


@pytest.mark.parametrize("target", ["native", "openai-chat", "markdown", "text"])
def test_of_a_session_that_is_erased_nothing_is_exported(target: str, store: Path) -> None:
    for turn in json.loads(EXAMPLE.read_bytes())["turns"]:
        erase(store, turn["turn_id"])
    assert exported(store, to=target) == (
        ExitCode.NOT_POSSIBLE,
        "",
        f"memory-graph: there is nothing to export: every turn of session {SESSION} is erased\n",
    )


def test_a_conversation_that_was_cleared_has_no_history_to_export(tmp_path: Path) -> None:
    store, payload = tmp_path / "store.db", fresh_payload()
    cleared = {"role": "system", "content": "", "metadata": {"memory": {"reset": "all", "state_only": True}}}
    payload["turns"][1] |= cleared
    capture(payload, store)
    code, _, err = exported(store, payload["session_id"], to="text", conversation=payload["conversation_id"])
    assert code == ExitCode.NOT_POSSIBLE
    named = f"conversation {payload['conversation_id']} of session {payload['session_id']}"
    assert err == f"memory-graph: there is nothing to export: the history of {named} is empty (--to native has all)\n"
    assert exported(store, payload["session_id"])[0] == ExitCode.OK


def test_what_a_turn_calls_as_the_store_does_is_kept(tmp_path: Path) -> None:
    store, payload = tmp_path / "store.db", fresh_payload()
    payload["turns"][0] |= {"seq": 7, "version": "mine", "erased": True}
    capture(payload, store)
    turn = json.loads(exported(store, payload["session_id"])[1])["turns"][0]
    assert (turn["seq"], turn["version"], turn["erased"]) == (7, "mine", True)


def hostile_payload() -> dict[str, Any]:
    payload = fresh_payload(1, content="\x1b[2J\x1b]0;gone\x07\u202egone\n\ttab ✅\x9b")
    payload["context"] = {"agent_id": "\x1b[1m`"}
    payload["turns"][0]["role"] = "assistant"
    return payload


@pytest.mark.parametrize("target", ["native", "openai-chat", "markdown", "text"])
def test_nothing_acts_on_a_terminal_and_a_pipe_gets_the_exact_text(target: str, tmp_path: Path) -> None:
    store, payload = tmp_path / "store.db", hostile_payload()
    capture(payload, store)
    _, shown, _ = exported(store, payload["session_id"], to=target, stdout=Screen(tty=True))
    assert not set(shown) & set("\x1b\x07\u202e\x9b\t\x85")
    _, piped, _ = exported(store, payload["session_id"], to=target)
    exported(store, payload["session_id"], to=target, output=tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == piped.encode()


def test_a_text_with_tabs_and_wide_characters_is_exact_in_a_pipe(tmp_path: Path) -> None:
    store, payload = tmp_path / "store.db", fresh_payload(1, content="\ta\u200d ✅ 完成  \n")
    capture(payload, store)
    assert "\n    \ta\u200d ✅ 完成  \n    \n" in exported(store, payload["session_id"], to="text")[1]


@pytest.mark.parametrize("target", ["native", "openai-chat", "markdown", "text"])
def test_a_pipe_gets_utf_8_whatever_its_encoding_and_a_terminal_gets_escapes(target: str, tmp_path: Path) -> None:
    store, payload = tmp_path / "store.db", fresh_payload(1, content="✅ done é")
    capture(payload, store)
    pipe, screen = Screen("cp1252"), Screen("cp1252", tty=True)
    assert exported(store, payload["session_id"], to=target, stdout=pipe)[0] == ExitCode.OK
    assert "✅ done é" in pipe.bytes().decode()
    assert exported(store, payload["session_id"], to=target, stdout=screen)[0] == ExitCode.OK
    assert "\\u2705 done é" in screen.text()


# The file that -o names.


def test_a_file_that_exists_is_replaced_only_by_force_and_keeps_its_mode(store: Path) -> None:
    file = store.parent / "notes.md"
    file.write_text("mine")
    file.chmod(0o604)
    code, out, err = exported(store, to="markdown", output=file)
    assert (code, out, err) == (ExitCode.USAGE, "", f"memory-graph: {file} exists: --force writes over it\n")
    assert file.read_text() == "mine"
    assert exported(store, to="markdown", output=file, force=True)[0] == ExitCode.OK
    assert file.read_text().startswith("# Session ")
    assert stat.S_IMODE(file.stat().st_mode) == 0o604
    assert sorted(each.name for each in store.parent.iterdir()) == ["notes.md", "store.db"]


def test_behind_a_symbolic_link_the_file_is_written_and_the_link_stays(store: Path) -> None:
    link = store.parent / "link.md"
    link.symlink_to(store.parent / "there.md")
    assert exported(store, to="markdown", output=link)[0] == ExitCode.OK
    assert link.is_symlink()
    assert (store.parent / "there.md").is_file()


def test_a_name_that_no_file_can_have_is_refused_before_the_store_is_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name, why in [
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "a.md", "its folder does not exist"),
        (tmp_path / "file" / "a.md", "its folder does not exist"),
        (tmp_path / ("x" * 300), "File name too long"),
        ("/dev/null", "it is no regular file; without -o the document goes to standard output"),
    ]:
        code, out, err = exported(tmp_path / "none.db", output=name, force=True)
        assert (code, out) == (ExitCode.USAGE, "")
        assert err == f"memory-graph: cannot write {name}: {why}\n"
    assert exported(tmp_path / "none.db", output="", force=True)[2] == "memory-graph: --output names no file\n"


def test_a_failure_is_one_document_where_the_results_would_be(store: Path) -> None:
    _, out, err = exported(store, output=store.parent, output_format=Format.JSON)
    assert out == ""
    assert json.loads(err)["error"]["error_code"] == "VALIDATION_ERROR"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_called_so(store: Path) -> None:
    locked = store.parent / "locked"
    locked.mkdir(mode=0o500)
    _, _, err = exported(store, output=locked / "a.md")
    assert err.endswith(": its folder may not be written\n")


def test_a_file_that_the_system_does_not_take_is_said_in_one_line(store: Path) -> None:
    # /proc is a folder in which nobody makes a file.
    code, out, err = exported(store, to="markdown", output="/proc/export.md")
    assert (code, out) in {(ExitCode.NOT_WRITTEN, ""), (ExitCode.USAGE, "")}
    assert err.startswith("memory-graph: cannot write /proc/export.md: ")
    assert err.count("\n") == 1


def test_a_file_that_comes_in_the_meantime_stays_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    file = OutputFile.checked(str(tmp_path / "a.md"), replace=False)
    (tmp_path / "a.md").write_text("mine")
    with pytest.raises(ValidationError, match="exists"):
        file.write(b"ours", token="t")
    assert [each.name for each in tmp_path.iterdir()] == ["a.md"]
    assert (tmp_path / "a.md").read_text() == "mine"


@pytest.mark.slow
def test_the_options_reach_the_command(store: Path) -> None:
    done = run_process(store.parent, *PREFIX, "export", "--session-id", SESSION, "--store", "store.db", "--to", "text",
                       "-o", "a.txt", "--format", "json")  # fmt: skip
    assert (done.code, json.loads(done.out)["format"]) == (0, "text")
    again = run_process(store.parent, *PREFIX, "export", "--session-id", SESSION, "--store", "store.db", "--to", "text",
                        "--output", "a.txt", "--force")  # fmt: skip
    assert again.code == 0
    assert (store.parent / "a.txt").read_bytes() == (GOLDEN / "export.text.txt").read_bytes()
    piped = run_process(store.parent, *PREFIX, "export", "--session-id", SESSION, "--store", "store.db", "--jsonl")
    assert piped.out == (GOLDEN / "export-native.json.txt").read_bytes()
