"""``inspect``, ``retrieve`` and ``tail`` as processes: options, pipes, signals, encodings, and memory that is flat."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from agent.core.ids import conversation_uuid, session_uuid
from tests.cli.memory.event_store import PLAN, references, with_store
from tests.cli.memory.test_tail import captures
from tests.cli.streams import PREFIX, command_line, process_environment, run_process
from tests.ruvector.peer import Exchange, Peer, Step, response_bytes
from tests.store.filled import Filling

READ: dict[str, Callable[[str], Any]] = {"json": json.loads, "yaml": yaml.safe_load}
FORMATS = ["table", *READ]
INSPECT, RETRIEVE, TAIL = ((*PREFIX, name) for name in ("inspect", "retrieve", "tail"))
CONTENT = "Zoë ✅ 完成 🚀"

pytestmark = pytest.mark.slow


def long_list(count: int, *, stall_at: int | None = None, stalled: threading.Event | None = None) -> Step:
    """A store with ``count`` events of about 600 bytes; it never answers for those from ``stall_at`` on."""

    def step(exchange: Exchange) -> bool:
        query = {name: values[0] for name, values in parse_qs(urlsplit(exchange.request.path).query).items()}
        start = int(query.get("cursor", "0"))
        if stall_at is not None and start >= stall_at:
            assert stalled is not None
            stalled.set()
            exchange.stop.wait()
            return False
        end = min(start + int(query["limit"]), count)
        events = (
            b'{"position":%d,"type":"t","runId":"run-%d","timestamp":"2026-03-02T08:15:00Z","payload":{"x":"%b"}}'
            % (number + 1, number, b"x" * 500)
            for number in range(start, end)
        )
        cursor = json.dumps(str(end) if end < count else None).encode()
        exchange.connection.sendall(
            response_bytes(200, b'{"events":[%b],"next_cursor":%b}' % (b",".join(events), cursor))
        )
        return True

    return step


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder with the store that is the default there."""
    captures(tmp_path / "memory-graph.db", CONTENT)
    return tmp_path


@pytest.mark.parametrize("output_format", FORMATS)
def test_h33_a_cp1252_console_gets_what_it_can_write_and_the_rest_as_escapes(store: Path, output_format: str) -> None:
    [ref] = references(store / "memory-graph.db")
    commands = [
        (*INSPECT, ref, "--verbose"),
        (*RETRIEVE, "--session-id", "6f1a0000-0000-4000-8000-00000000000a"),
        (*TAIL, "--count", "1"),
    ]
    for command in commands:
        done = run_process(store, *command, "--format", output_format, PYTHONIOENCODING="cp1252")
        assert (done.code, done.err) == (0, "")
        out = done.out.decode("cp1252")
        if output_format != "table":
            assert CONTENT in json.dumps(READ[output_format](out), ensure_ascii=False)
        elif command[2] == "inspect":
            assert "Zoë \\u2705 \\u5b8c\\u6210 \\U0001f680" in out
        else:
            assert ref in out


def test_h33_errors_are_shown_on_a_cp1252_console(store: Path) -> None:
    done = run_process(store, *INSPECT, "完成", PYTHONIOENCODING="cp1252")
    assert (done.code, done.out) == (5, b"")
    assert done.err == "memory-graph: there is no event \\u5b8c\\u6210 in this store; retrieve lists every event\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*RETRIEVE, "--limit", "-1"), ("--limit", "1")),
        ((*RETRIEVE, "--limit", "0"), ("--limit", "1")),
        ((*RETRIEVE, "--limit", "abc"), ("--limit", "integer")),
        ((*RETRIEVE, "--order", "up"), ("--order", "asc", "desc")),
        ((*RETRIEVE, "--from", "now"), ("--from: is neither a date",)),
        ((*TAIL, "--last", "-1"), ("--last", "0")),
        ((*TAIL, "--last", "1001"), ("--last", "1000")),
        ((*TAIL, "--count", "0"), ("--count", "1")),
        ((*TAIL, "--interval", "nan"), ("--interval",)),
        ((*TAIL, "--interval", "x"), ("--interval", "number")),
        (INSPECT, ("EXECUTION_REF",)),
    ],
)
def test_h32_wrong_usage_is_2_and_one_line_that_names_the_option_and_its_range(
    store: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = run_process(store, *arguments)
    assert (done.code, done.out) == (2, b"")
    assert [word for word in words if word not in done.err] == []
    assert done.err.count("\n") == 1


def test_h32_a_million_is_a_limit_like_any_other(store: Path) -> None:
    done = run_process(store, *RETRIEVE, "--limit", "1000000", "--jsonl")
    assert (done.code, done.err, done.out.count(b"\n")) == (0, "", 1)


def test_every_option_reaches_the_query(tmp_path: Path) -> None:
    with Peer(long_list(1)) as peer:
        given = ("--session-id", "S", "--conversation-id", "C", "--from", "2026-03-02", "--to", "2026-03-03T00:00:00Z")
        more = ("--limit", "7", "--order", "desc", "--agent-id", "a b", "--decision-type", "d&e", "--store", peer.url)
        assert run_process(tmp_path, *RETRIEVE, *given, *more).code == 0
        query = parse_qs(urlsplit(peer.received[0].path).query)
    assert query == {
        "order": ["desc"],
        "session_id": [session_uuid("S")],
        "conversation_id": [conversation_uuid("C")],
        "agent_id": ["a b"],
        "decision_type": ["d&e"],
        "from": ["2026-03-02T00:00:00Z"],
        "to": ["2026-03-03T00:00:00Z"],
        "limit": ["7"],
    }


@pytest.mark.parametrize("options", [(), ("--format", "json"), ("--format", "yaml"), ("--jsonl",)])
def test_a_reader_who_wants_one_line_ends_it_with_141_and_one_line(tmp_path: Path, options: tuple[str, ...]) -> None:
    with Peer(long_list(5000)) as peer:
        arguments = command_line(*RETRIEVE, "--limit", "5000", "--store", peer.url, *options)
        done = subprocess.run(
            ["bash", "-c", '"$@" | head -1; exit "${PIPESTATUS[0]}"', "bash", *arguments],
            cwd=tmp_path,
            env=process_environment(),
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 141
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b"memory-graph: the reader of the results closed the pipe\n"


def started(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command_line(*arguments),
        cwd=folder,
        env=process_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("output_format", list(READ))
def test_ctrl_c_while_a_page_is_waited_for_leaves_one_whole_document(tmp_path: Path, output_format: str) -> None:
    stalled = threading.Event()
    with Peer(long_list(1000, stall_at=400, stalled=stalled)) as peer:
        process = started(tmp_path, *RETRIEVE, "--limit", "1000", "--store", peer.url, "--format", output_format)
        taken: list[bytes] = []
        assert process.stdout is not None
        reader = threading.Thread(target=lambda: taken.append(process.stdout.read()))  # type: ignore[union-attr]  # as above
        reader.start()
        assert stalled.wait(30)
        process.send_signal(signal.SIGINT)
        reader.join(30)
        assert process.wait(30) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b"memory-graph: interrupted: the list is not whole\n"
        process.stdout.close()
        process.stderr.close()
    document = READ[output_format](taken[0].decode())
    assert [each["position"] for each in document["events"]] == list(range(1, 401))
    assert document["complete"] is False


def test_ctrl_c_while_the_reader_is_slow_leaves_one_whole_document(tmp_path: Path) -> None:
    with Peer(long_list(1000)) as peer:
        process = started(tmp_path, *RETRIEVE, "--limit", "1000", "--store", peer.url, "--format", "json")
        assert process.stdout is not None
        # The pipe is full, and more is to come.
        first = os.read(process.stdout.fileno(), 1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"memory-graph: interrupted: the list is not whole\n")
    document = json.loads(first + out)
    assert document["complete"] is False
    positions = [each["position"] for each in document["events"]]
    assert positions == list(range(1, len(positions) + 1))
    assert 0 < len(positions) < 1000


def test_tail_follows_a_store_that_others_write_to_until_ctrl_c(store: Path) -> None:
    process = started(store, *TAIL, "--jsonl", "--interval", "0.1")
    assert process.stdout is not None
    assert CONTENT in json.dumps(json.loads(process.stdout.readline()), ensure_ascii=False)
    captures(store / "memory-graph.db", "second", "third!")
    seen = [json.loads(process.stdout.readline())["position"] for _ in range(2)]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, seen, out, err) == (130, [2, 3], b"", b"memory-graph: stopped\n")


# Not getrusage: Linux counts to a process what the one that started it had.
_MEASURED = """if True:
    import re
    import sys
    from pathlib import Path
    from agent.cli.app import main
    code = main(sys.argv[1:])
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
    print(code, peak, file=sys.stderr)
"""


def peak_kilobytes(folder: Path, count: int, *options: str) -> int:
    """The peak memory of a process that retrieves ``count`` events."""
    with Peer(long_list(count)) as peer:
        arguments = (*RETRIEVE, "--limit", "100000", "--store", peer.url, *options)
        with (folder / "out").open("wb") as out:
            done = subprocess.run(
                [sys.executable, "-c", _MEASURED, *arguments],
                cwd=folder,
                env=process_environment(),
                stdout=out,
                stderr=subprocess.PIPE,
                timeout=300,
                check=True,
            )
    assert (folder / "out").stat().st_size > count * 50
    code, peak = done.stderr.split()[-2:]
    assert code == b"0"
    return int(peak)


@pytest.mark.parametrize(
    ("options", "many"), [(("--format", "json"), 100_000), ((), 30_000), (("--format", "yaml"), 5000)]
)
def test_memory_is_flat_however_long_the_list(tmp_path: Path, options: tuple[str, ...], many: int) -> None:
    few = peak_kilobytes(tmp_path, 1000, *options)
    # Kept, these events would be 600 bytes each at the least: 60, 18 and 3 MB; parsed, several times as much.
    assert peak_kilobytes(tmp_path, many, *options) < few + max(many * 600 // 1024 // 6, 2500)


def test_memory_is_flat_on_the_embedded_store(tmp_path: Path) -> None:
    def fill(filling: Filling) -> None:
        for number in range(2000):
            filling.post({**PLAN, "runId": f"r-{number}", "payload": {"x": f"{number} " * 4000}})

    with_store(tmp_path / "memory-graph.db", fill)
    peaks = []
    for limit in ("600", "2000"):
        done = subprocess.run(
            [sys.executable, "-c", _MEASURED, *RETRIEVE, "--limit", limit, "--jsonl"],
            cwd=tmp_path,
            env=process_environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=300,
            check=True,
        )
        peaks.append(int(done.stderr.split()[-1]))
    # A page of 200 is 4 MB, held in a few forms; the 1 400 more are 28 MB in one.
    assert peaks[1] < peaks[0] + 14_000
