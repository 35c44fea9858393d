import json
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent import __version__
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.checking.health import show_health
from agent.cli.output_format import Format
from store.engines.sqlite import SqliteStore
from tests.cli.streams import invocation, printed, terminal
from tests.live.host import free_port
from tests.ruvector.peer import Peer, Step, answer, silence

GOLDEN = Path(__file__).parent / "golden"
READERS: dict[Format, Callable[[str], Any]] = {Format.JSON: json.loads, Format.YAML: yaml.safe_load}
_UNSTABLE = (
    (re.compile(r'(latency_ms"?: ?)\d+|\d+( ms)'), r"\1<latency>\2"),
    (re.compile(r'((?:release|python)"?(?::? ?"| +))[0-9][0-9a-z.+]*'), r"\1<version>"),
    (re.compile(r"embedded:/\S*?/(?=\w+\.db)"), "embedded:"),
    (re.compile(r"(127\.0\.0\.1:)\d+"), r"\1<port>"),
)


STATS = b'{"sessions":0,"turns":0,"events":0,"bytes":0}'


def health(store: Path | str, output_format: Format = Format.TABLE, **environ: str) -> tuple[ExitCode, str, str]:
    at = terminal(environ=environ)
    code = invocation(at, output_format, store=str(store)).run(show_health, interrupted="interrupted")
    return code, *printed(at)


def normalised(text: str) -> str:
    for pattern, replacement in _UNSTABLE:
        text = pattern.sub(replacement, text)
    return text


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An embedded store that was used."""
    path = tmp_path / "store.db"
    made = SqliteStore(path)
    made.ping()
    made.close()
    return path


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(output_format: Format, store: Path) -> None:
    code, out, err = health(store, output_format)
    assert (code, err) == (ExitCode.OK, "")
    # A path that is long is folded, and is the test's.
    shown = normalised(out.replace(f"{store.parent}", "/x") if output_format is Format.TABLE else out)
    assert shown == (GOLDEN / f"health.{output_format.value}.txt").read_text()


def test_a_store_that_is_up_is_0_with_versions_and_its_address(store: Path) -> None:
    code, out, err = health(store, Format.JSON)
    assert (code, err) == (ExitCode.OK, "")
    document = json.loads(out)
    assert isinstance(document["store"].pop("latency_ms"), int)
    assert document == {
        "status": "ok",
        "agent_id": "conversation-memory-agent",
        "agent_version": "1.0.0",
        "classification": "MEMORY_WRITE",
        "release": __version__,
        "store": {"status": "ok", "kind": "embedded", "address": f"embedded:{store}"},
        "content": "full",
        "python": platform.python_version(),
    }


@pytest.mark.parametrize("output_format", list(READERS))
def test_a_store_that_is_down_is_1_and_the_document_says_so(output_format: Format) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    code, out, err = health(url, output_format)
    assert (code, err) == (ExitCode.STORE, "")
    document = READERS[output_format](out)
    assert isinstance(document["store"].pop("latency_ms"), int)
    assert document["status"] == "degraded"
    assert document["store"] == {"status": "unreachable", "kind": "http", "address": url}


def test_people_see_which_store_is_down() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    code, out, _ = health(url)
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert (code, lines["status"], lines["address"]) == (ExitCode.STORE, "degraded", url)
    assert lines["store"].startswith("unreachable (http, ")


def test_an_embedded_store_that_nobody_captured_to_is_said_so_and_not_made(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    code, out, err = health(path)
    assert (code, err) == (ExitCode.OK, "")
    assert "store    ok (embedded, 0 ms, no database yet: a capture makes it)\n" in out
    assert json.loads(health(path, Format.JSON)[1])["store"]["database"] == "absent"
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_memory_is_asked(tmp_path: Path) -> None:
    code, out, _ = health("embedded::memory:", Format.JSON)
    assert (code, "database" in json.loads(out)["store"]) == (ExitCode.OK, False)


def test_a_path_that_can_hold_no_store_is_1_with_the_reason_beside_the_document(tmp_path: Path) -> None:
    code, out, err = health(tmp_path, Format.JSON)
    assert code == ExitCode.STORE
    assert json.loads(out)["status"] == "degraded"
    assert err == f"memory-graph: the embedded store {tmp_path} cannot be opened: Is a directory\n"


def test_an_address_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    code, out, err = health(tmp_path / "none\x1b[2J" / "store.db")
    assert code == ExitCode.STORE
    assert "\x1b" not in out + err
    assert "its folder does not exist" in err


def keyed(*stats: Step) -> Peer:
    """A store whose health is open, and what it answers to who asks for figures."""
    return Peer(answer(200, b'{"status":"ok"}'), *stats)


@pytest.mark.parametrize("output_format", list(Format))
def test_a_server_that_refuses_the_key_prints_what_its_golden_file_holds(output_format: Format) -> None:
    with keyed(answer(401)) as peer:
        code, out, err = health(peer.url, output_format, RUVECTOR_API_KEY="wrong")
    assert (code, err) == (ExitCode.STORE, "memory-graph: the store refuses the key: check RUVECTOR_API_KEY\n")
    assert normalised(out) == (GOLDEN / f"health-key-refused.{output_format.value}.txt").read_text()


@pytest.mark.parametrize(
    ("status", "body", "state", "said"),
    [
        (200, STATS, "accepted", "accepted"),
        (403, b"", "cannot read", "cannot read: right for one that only appends, as a function's"),
        (404, b"", "unknown", "unknown: the store does not say"),
        (503, b"", "unknown", "unknown: the store does not say"),
        (429, b"", "unknown", "unknown: the store does not say"),
    ],
)
def test_a_server_that_does_not_refuse_the_key_is_0_with_what_is_known(
    status: int, body: bytes, state: str, said: str
) -> None:
    with keyed(answer(status, body)) as peer:
        code, out, err = health(peer.url, Format.JSON, RUVECTOR_API_KEY="key")
        assert [each.path for each in peer.received] == ["/health", "/v1/stats"]
        assert peer.received[1].headers["authorization"] == "Bearer key"
    assert (code, err) == (ExitCode.OK, "")
    assert (json.loads(out)["status"], json.loads(out)["store"]["key"]) == ("ok", state)
    with keyed(answer(status, body)) as peer:
        assert f"\nkey      {said}\n" in health(peer.url, RUVECTOR_API_KEY="key")[1]


def test_a_server_that_asks_for_no_key_is_0_and_said_so() -> None:
    with keyed(answer(200, STATS)) as peer:
        code, out, err = health(peer.url)
    assert (code, err) == (ExitCode.OK, "")
    assert "\nkey      none, and none is asked for\n" in out


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_lets_nobody_in_without_a_key_is_1(status: int) -> None:
    with keyed(answer(status)) as peer:
        code, out, err = health(peer.url, Format.JSON)
    assert (code, json.loads(out)["status"], json.loads(out)["store"]["key"]) == (ExitCode.STORE, "degraded", "refused")
    assert err == "memory-graph: the store wants a key, and there is none: set RUVECTOR_API_KEY\n"


def test_a_server_that_does_not_answer_in_time_leaves_its_key_unknown() -> None:
    with keyed(silence()) as peer:
        code, out, _ = health(peer.url, Format.JSON, RUVECTOR_API_KEY="key")
        assert len(peer.received) == 2
    assert (code, json.loads(out)["store"]["key"]) == (ExitCode.OK, "unknown")


def test_of_a_server_that_is_not_well_no_more_is_asked() -> None:
    with Peer(answer(503)) as peer:
        code, out, _ = health(peer.url, Format.JSON, RUVECTOR_API_KEY="key")
        assert len(peer.received) == 1
    assert (code, "key" in json.loads(out)["store"]) == (ExitCode.STORE, False)


def test_an_embedded_store_whose_tables_cannot_be_read_is_down(store: Path) -> None:
    with store.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (store.stat().st_size - 4096))
    code, out, _ = health(store, Format.JSON)
    assert code == ExitCode.STORE
    assert json.loads(out)["store"]["status"] == "error"


@pytest.mark.parametrize("page", [b"<html>sign in</html>", b"[]", b""])
def test_what_answers_ok_and_is_no_store_is_down(page: bytes) -> None:
    with keyed(answer(200, page)) as peer:
        code, out, err = health(peer.url, Format.JSON)
    assert (code, err) == (ExitCode.STORE, "memory-graph: what answers at this address is no store\n")
    assert json.loads(out)["store"]["status"] == "error"


def test_a_path_that_is_no_text_in_this_system_s_encoding_is_shown_as_far_as_it_is(tmp_path: Path) -> None:
    path = f"{tmp_path}/q\udcff.db"
    assert json.loads(health(path, Format.JSON)[1])["store"]["address"] == f"embedded:{path}"
    assert health(path, Format.YAML)[0] == health(path)[0] == ExitCode.OK
