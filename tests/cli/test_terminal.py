import errno
import io
import json
import os
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from agent.cli.exit_codes import ExitCode
from agent.cli.terminal import OutputError, Terminal
from tests.cli.streams import Lost, Screen, printed, terminal


def table(*cells: str) -> Table:
    made = Table.grid(padding=(0, 2))
    made.add_row(*cells)
    return made


def test_a_table_is_plain_in_a_pipe_and_coloured_on_a_terminal() -> None:
    pipe = terminal()
    pipe.show(Text("bold", style="bold"), table("a", "b"))
    assert printed(pipe) == ("bold\na  b\n", "")
    screen = terminal(stdout=Screen(tty=True), environ={"TERM": "xterm"})
    screen.show(Text("bold", style="bold"))
    assert printed(screen)[0] == "\x1b[1mbold\x1b[0m\n"


def test_no_color_is_honoured_from_the_environment_that_is_given() -> None:
    screen = terminal(stdout=Screen(tty=True), environ={"TERM": "xterm", "NO_COLOR": "1"})
    screen.show(Text("red", style="red"))
    assert printed(screen)[0] == "red\n"


def test_text_is_never_taken_for_markup_or_an_emoji_code() -> None:
    pipe = terminal()
    pipe.show("[bold]x[/bold] :smile:")
    assert printed(pipe)[0] == "[bold]x[/bold] :smile:\n"


def test_a_string_is_one_line_however_long_so_that_a_command_can_be_copied() -> None:
    pipe = terminal()
    pipe.show("word " * 100 + "end")
    assert printed(pipe)[0] == "word " * 100 + "end\n"


@pytest.mark.parametrize(("columns", "width"), [("40", 40), ("", 110), ("0", 110), ("wide", 110), ("\u0664", 110)])
def test_a_pipe_is_as_wide_as_columns_says(columns: str, width: int) -> None:
    assert terminal(environ={"COLUMNS": columns}).width == width


def test_the_width_of_a_terminal_is_its_own() -> None:
    screen = terminal(stdout=Screen(tty=True), environ={"TERM": "xterm", "COLUMNS": "77", "LINES": "20"})
    assert screen.width == 77


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_what_an_encoding_cannot_write_is_escaped_and_the_rest_is_intact(encoding: str) -> None:
    narrow = terminal(stdout=Screen(encoding))
    narrow.show("done ✅")
    narrow.document('"done ✅ 🚀"\n')
    assert printed(narrow)[0] == 'done \\u2705\n"done \\u2705 \\ud83d\\ude80"\n'


def test_a_document_goes_into_a_pipe_as_it_is_and_onto_a_terminal_made_safe() -> None:
    document = '"\u202e\x9b2J ✅"\n'
    pipe, screen = terminal(), terminal(stdout=Screen(tty=True))
    pipe.document(document)
    screen.document(document)
    assert printed(pipe)[0] == document
    assert printed(screen)[0] == '"\\u202e\\u009b2J ✅"\n'


def test_a_document_is_ascii_where_its_encoding_is_no_form_of_unicode() -> None:
    at = terminal(stdout=Screen("cp1252"))
    at.document('{"a": "é ✅"}\n')
    assert at.stdout.bytes() == b'{"a": "\\u00e9 \\u2705"}\n'  # type: ignore[attr-defined]  # a Screen


def test_a_file_s_text_is_utf_8_in_a_pipe_and_safe_on_a_terminal() -> None:
    pipe, screen = Screen("latin-1"), Screen(tty=True)
    terminal(stdout=pipe).exact("é ✅ \x1b[2J\n")
    assert pipe.bytes() == "é ✅ \x1b[2J\n".encode()
    terminal(stdout=screen).exact("é ✅ \x1b[2J\n")
    assert screen.text() == "é ✅ \\u001b[2J\n"


def test_a_file_s_text_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        with pytest.raises(OutputError, match="No space left"):
            Terminal({}, None, full, Screen()).exact("text")
        # What is buffered is dropped, as give_up does: the stream would fail once more when it closes.
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), full.fileno())


def test_what_is_said_stands_on_standard_error_under_the_program_s_name_and_is_safe() -> None:
    pipe = terminal()
    pipe.say("cannot read \x1b[2J", "  $.a\nb  rule")
    assert printed(pipe) == ("", "memory-graph: cannot read \\x1b[2J\n  $.a\\x0ab  rule\n")


def test_standard_error_of_another_encoding_is_written_all_the_same() -> None:
    narrow = Terminal({}, None, Screen(), Screen("ascii"))
    narrow.say("no ✅")
    assert printed(narrow)[1] == "memory-graph: no \\u2705\n"


def test_a_failure_document_stays_json_whatever_standard_error_can_write() -> None:
    narrow = Terminal({}, None, Screen(), Screen("cp1252"))
    narrow.failure_document('{"message": "✅ 🚀"}\n')
    assert json.loads(printed(narrow)[1]) == {"message": "✅ 🚀"}


def test_a_lost_standard_error_stops_nothing() -> None:
    quiet = Terminal({}, None, Screen(), Lost(BrokenPipeError()))
    quiet.say("nobody hears it")
    quiet.show("result")
    assert isinstance(quiet.stdout, Screen)
    assert quiet.stdout.text() == "result\n"


def test_a_closed_pipe_has_its_own_line_and_exit_code() -> None:
    lost = terminal(stdout=Lost(BrokenPipeError()))
    with pytest.raises(OutputError) as caught:
        lost.document("{}\n")
    assert lost.give_up(caught.value) == ExitCode.CLOSED_PIPE
    assert printed(lost)[1] == "memory-graph: the reader of the results closed the pipe\n"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (io.UnsupportedOperation("not writable"), "not writable"),
    ],
)
def test_results_that_cannot_be_written_are_said_with_the_system_s_reason(error: OSError, reason: str) -> None:
    lost = terminal(stdout=Lost(error))
    with pytest.raises(OutputError) as caught:
        lost.show("result")
    assert lost.give_up(caught.value) == ExitCode.NOT_WRITTEN
    assert printed(lost)[1] == f"memory-graph: cannot write the results: {reason}\n"


def test_a_traceback_is_printed_with_its_causes() -> None:
    pipe = terminal()
    error = ValueError("ours")
    error.__cause__ = KeyError("theirs")
    pipe.trace(error)
    assert "KeyError" in printed(pipe)[1]
    assert printed(pipe)[1].endswith("ValueError: ours\n")


def test_the_streams_of_the_process_are_used_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Screen(), Screen()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"in")))
    process = Terminal.of_process()
    assert (process.stdout, process.stderr) == (out, err)
    assert process.stdin is not None
    assert process.stdin.read() == b"in"


def test_a_process_without_streams_cannot_write_results_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    process = Terminal.of_process()
    with process.stdout, process.stderr:
        assert process.stdin is None
        process.say("nobody hears it")
        with pytest.raises(OutputError):
            process.document("{}\n")
