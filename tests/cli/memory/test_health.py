import json
from pathlib import Path

import pytest
import yaml

from agent import __version__
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.health import show_health
from agent.cli.output_format import Format
from tests.cli.streams import invocation, printed, terminal
from tests.live.host import free_port


def health(store: str, output_format: Format = Format.TABLE) -> tuple[ExitCode, str, str]:
    at = terminal()
    code = invocation(at, output_format, store=store).run(show_health, interrupted="interrupted")
    return code, *printed(at)


def test_a_store_that_is_up_is_0(tmp_path: Path) -> None:
    code, out, err = health(str(tmp_path / "store.db"))
    assert (code, err) == (ExitCode.OK, "")
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert lines[:3] == [
        ["status", "ok"],
        ["agent", "conversation-memory-agent 1.0.0 (MEMORY_WRITE)"],
        ["release", __version__],
    ]
    assert lines[3][1].startswith("ok (embedded, ")
    assert lines[4:] == [["content", "full"]]


@pytest.mark.parametrize("output_format", [Format.JSON, Format.YAML])
def test_a_store_that_is_down_is_1_and_the_document_says_so(output_format: Format) -> None:
    code, out, err = health(f"http://127.0.0.1:{free_port()}", output_format)
    assert (code, err) == (ExitCode.STORE, "")
    document = json.loads(out) if output_format is Format.JSON else yaml.safe_load(out)
    latency = document["store"].pop("latency_ms")
    assert isinstance(latency, int)
    assert document == {
        "status": "degraded",
        "agent_id": "conversation-memory-agent",
        "agent_version": "1.0.0",
        "classification": "MEMORY_WRITE",
        "release": __version__,
        "store": {"status": "unreachable", "kind": "http"},
        "content": "full",
    }


def test_a_path_that_can_hold_no_store_is_1_with_the_reason_beside_the_document(tmp_path: Path) -> None:
    code, out, err = health(str(tmp_path), Format.JSON)
    assert code == ExitCode.STORE
    assert json.loads(out)["status"] == "degraded"
    assert err == f"memory-graph: the embedded store {tmp_path} cannot be opened: Is a directory\n"
