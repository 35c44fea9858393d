"""The command line as a process: real pipes, real signals, real encodings."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from tests.cli.streams import EXAMPLE, PREFIX, Finished, command_line, process_environment, run_process
from tests.live.host import Reply, stub_store
from tests.strategies import fresh_payload

CAPTURE = (*PREFIX, "capture", "--input")
HEALTH = (*PREFIX, "health")

pytestmark = pytest.mark.slow


def payload(content: str) -> bytes:
    return json.dumps(fresh_payload(content=content)).encode()


def shell(folder: Path, script: str, *arguments: str, stdin: bytes = b"") -> Finished:
    """Run ``script``, in which ``"$@"`` is the command line with ``arguments``, in bash."""
    command = ["bash", "-o", "pipefail", "-c", script, "bash", *command_line(*arguments)]
    done = subprocess.run(
        command,
        cwd=folder,
        env=process_environment(),
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr.decode())


def unread(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run the command line into a pipe whose reader is gone; returns the exit code and standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            command_line(*arguments),
            cwd=folder,
            env=process_environment(),
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("output_format", ["table", "json", "yaml"])
def test_h33_a_cp1252_console_gets_what_it_can_write_and_the_rest_as_escapes(
    output_format: str, tmp_path: Path
) -> None:
    arguments = (*CAPTURE, "-", "--format", output_format)
    done = run_process(tmp_path, *arguments, stdin=payload("Zoë ✅ 完成 🚀"), PYTHONIOENCODING="cp1252")
    assert (done.code, done.err) == (0, "")
    out = done.out.decode("cp1252")
    if output_format == "table":
        assert "Zoë \\u2705 \\u5b8c\\u6210 \\U0001f680" in out
        assert "+-- [0] user" in out
    else:
        document = json.loads(out) if output_format == "json" else yaml.safe_load(out)
        assert document["output"]["turn_count"] == 2


@pytest.mark.parametrize("output_format", ["table", "json", "yaml"])
def test_h33_health_and_errors_are_shown_on_a_cp1252_console(output_format: str, tmp_path: Path) -> None:
    done = run_process(tmp_path, *HEALTH, "--format", output_format, PYTHONIOENCODING="cp1252")
    assert (done.code, done.err) == (0, "")
    assert b"embedded" in done.out
    failed = run_process(tmp_path, *CAPTURE, "完成.json", "--format", output_format, PYTHONIOENCODING="cp1252")
    assert (failed.code, failed.out) == (2, b"")
    assert "\\u5b8c\\u6210.json: No such file or directory" in failed.err.replace("B8C", "b8c")


def test_h33_warnings_hold_keys_that_a_cp1252_console_cannot_write(tmp_path: Path) -> None:
    body = json.dumps({**fresh_payload(), "✅🚀": 1}).encode()
    for output_format, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        arguments = (*CAPTURE, "-", "--format", output_format)
        done = run_process(tmp_path, *arguments, stdin=body, PYTHONIOENCODING="cp1252")
        assert (done.code, done.err) == (0, "")
        (warning,) = read(done.out.decode("cp1252"))["warnings"]
        assert "✅🚀" in warning["path"]


@pytest.mark.parametrize(
    "arguments", [("--help",), (*CAPTURE, str(EXAMPLE)), (*CAPTURE, str(EXAMPLE), "--format", "json")]
)
def test_a_closed_pipe_ends_with_141_and_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert unread(tmp_path, *arguments) == (141, "memory-graph: the reader of the results closed the pipe\n")


def test_a_capture_whose_answer_nobody_reads_is_stored_all_the_same(tmp_path: Path) -> None:
    unread(tmp_path, *CAPTURE, str(EXAMPLE))
    again = run_process(tmp_path, *CAPTURE, str(EXAMPLE), "--format", "json")
    assert json.loads(again.out)["receipt"]["duplicate"] is True


def test_a_full_disk_ends_with_74_and_one_line(tmp_path: Path) -> None:
    done = shell(tmp_path, '"$@" >/dev/full', *CAPTURE, str(EXAMPLE))
    assert done.code == 74
    assert done.err == "memory-graph: cannot write the results: No space left on device\n"


@pytest.mark.parametrize("arguments", [("--help",), (*CAPTURE[:-1], "--help"), ("--version",)])
def test_a_help_that_cannot_be_written_ends_with_74_and_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = shell(tmp_path, '"$@" > /dev/full', *arguments)
    assert (done.code, done.err) == (74, "memory-graph: cannot write the results: No space left on device\n")


def test_a_closed_standard_output_ends_with_74_and_one_line(tmp_path: Path) -> None:
    done = shell(tmp_path, '"$@" >&-', *CAPTURE, str(EXAMPLE))
    assert (done.code, done.err) == (74, "memory-graph: cannot write the results: not writable\n")


def test_a_closed_standard_input_is_one_line(tmp_path: Path) -> None:
    done = shell(tmp_path, '"$@" <&-', *CAPTURE, "-")
    assert (done.code, done.out, done.err) == (2, b"", "memory-graph: there is no standard input\n")


def test_what_the_parts_log_is_shown_only_with_debug(tmp_path: Path) -> None:
    # A database whose tables are gone: the embedded store logs each attempt.
    arguments = (*CAPTURE, str(EXAMPLE), "--store", "damaged.db")
    assert run_process(tmp_path, *arguments).code == 0
    with (tmp_path / "damaged.db").open("r+b") as database:
        database.seek(4096)
        database.write(b"\xff" * ((tmp_path / "damaged.db").stat().st_size - 4096))
    quiet = run_process(tmp_path, *arguments, RUVECTOR_DEADLINE_S="1")
    assert (quiet.code, quiet.out) == (1, b"")
    assert quiet.err.startswith("memory-graph: ")
    assert quiet.err.count("\n") == 1
    loud = run_process(tmp_path, *arguments, "--debug", RUVECTOR_DEADLINE_S="1")
    assert loud.code == 1
    assert loud.err.endswith(quiet.err)
    assert "a request failed" in loud.err.partition("Traceback")[0]


def test_ctrl_c_while_the_store_is_waited_for_ends_with_130_and_one_line(tmp_path: Path) -> None:
    received, released = threading.Event(), threading.Event()

    def answer_late(_count: int) -> Reply:
        received.set()
        released.wait(30)
        return Reply()

    with stub_store() as store:
        store.reply = answer_late
        process = subprocess.Popen(
            command_line(*CAPTURE, str(EXAMPLE), "--store", store.url),
            cwd=tmp_path,
            env=process_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert received.wait(30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        released.set()
    assert (process.returncode, out) == (130, b"")
    assert err.decode() == (
        "memory-graph: interrupted: the capture may be stored; the same capture sent again is not stored twice\n"
    )


def test_help_loads_nothing_that_only_a_command_needs(tmp_path: Path) -> None:
    script = """if True:
        import sys
        from agent.cli.app import main
        main(["--help"])
        parts = {"httpx", "rich", "pydantic", "flask", "yaml", "orjson", "jsonschema", "store", "agent.bootstrap"}
        print(sorted(parts & set(sys.modules)), file=sys.stderr)
    """
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=process_environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"[]\n")
