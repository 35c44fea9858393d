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
from agent.cli.memory.health import show_health
from agent.cli.output_format import Format
from store.engines.sqlite import SqliteStore
from tests.cli.streams import invocation, printed, terminal
from tests.live.host import free_port

GOLDEN = Path(__file__).parent / "golden"
READERS: dict[Format, Callable[[str], Any]] = {Format.JSON: json.loads, Format.YAML: yaml.safe_load}
_UNSTABLE = (
    (re.compile(r'(latency_ms"?: ?)\d+|\d+( ms)'), r"\1<latency>\2"),
    (re.compile(r'((?:release|python)"?(?::? ?"| +))[0-9][0-9a-z.+]*'), r"\1<version>"),
    (re.compile(r"embedded:/\S*?/(?=\w+\.db)"), "embedded:"),
)


def health(store: Path | str, output_format: Format = Format.TABLE) -> tuple[ExitCode, str, str]:
    at = terminal()
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
