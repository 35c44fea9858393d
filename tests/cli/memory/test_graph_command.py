"""``graph`` on an embedded store, from its options to every form of its output."""

import json
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.bootstrap import capture_service_on, new_id, store_client
from agent.capture.service import CaptureRequest
from agent.cli.commands import app
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.drawings.form import Form
from agent.cli.memory.drawings.graph import GraphCommand
from agent.cli.output_format import Format
from agent.config import Settings
from agent.content.policy import FULL
from agent.core.ids import conversation_uuid, session_uuid
from agent.observability.tracing import NoSpans
from agent.ruvector.client import RuvectorClient
from tests.cli.memory.dot_reader import read_digraph
from tests.cli.memory.hostile import PIECES
from tests.cli.memory.mermaid_reader import read_flowchart
from tests.cli.streams import BOOKING, EXAMPLE, PREFIX, Screen, invocation, printed, terminal
from tests.conftest import vectors
from tests.strategies import fresh_payload

GOLDEN = Path(__file__).parent / "golden"
NATIVE = "3f1c9a52-7d0e-4c57-9b1e-5a0f6b7c8d21"
BOOKED = "tau-bench/gpt-4o-airline/task-0-trial-2"
SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
CASES = {case["name"]: case for case in vectors("session")}
DRAWN = ["03-regenerated-answer", "04-back-to-the-old-branch", "06-two-conversations",
         "16-fork-into-another-conversation", "17-parents-in-a-ring"]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def client_of(store: Path) -> RuvectorClient:
    return store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{store}"}))


def capture(store: Path, *payloads: Any, form: str = "native") -> None:
    with closing(client_of(store)) as client:
        for payload in payloads:
            body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
            request = CaptureRequest(body=body, format=form, idempotency_key=None, execution_ref=new_id())
            capture_service_on(lambda: client, FULL).capture(request, NoSpans())


def graph(
    store: Path | str,
    session: str = SESSION,
    form: Form | None = None,
    output_format: Format = Format.TABLE,
    *,
    conversation: str | None = None,
    stdout: Screen | None = None,
) -> tuple[ExitCode, str, str]:
    """Run the command and return the exit code, the results, and all else that was printed."""
    at = terminal(stdout=stdout)
    command = GraphCommand(session, conversation, form)
    code = invocation(at, output_format, store=str(store)).run(command, interrupted=command.interrupted)
    return code, *printed(at)


def command_line(*arguments: str) -> tuple[int, str, str]:
    """The command from its options on."""
    at = terminal()
    code: int = app([*PREFIX, "graph", *arguments], standalone_mode=False, obj=at)
    return code, *printed(at)


def golden(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(output_format: Format, store: Path) -> None:
    capture(store, EXAMPLE.read_bytes())
    code, out, err = graph(store, NATIVE, None, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert out == golden(f"graph-native.{output_format.value}")


@pytest.mark.parametrize("form", [Form.TREE, Form.MERMAID, Form.DOT])
def test_a_real_conversation_with_tools_is_drawn_as_its_golden_files_hold(form: Form, store: Path) -> None:
    capture(store, BOOKING.read_bytes(), form="openai-chat")
    code, out, err = graph(store, BOOKED, form)
    assert (code, err) == (ExitCode.OK, "")
    assert out == golden(f"graph-booking.{form.value}")


@pytest.mark.parametrize("name", DRAWN)
def test_the_branches_of_a_golden_session_are_drawn_as_its_golden_file_holds(name: str, store: Path) -> None:
    capture(store, *CASES[name]["captures"])
    code, out, err = graph(store)
    assert (code, err) == (ExitCode.OK, "")
    assert out == golden(f"graph-{name}.table")


@pytest.mark.parametrize("name", CASES)
def test_every_golden_session_marks_its_history_and_is_valid_in_both_languages(name: str, store: Path) -> None:
    case = CASES[name]
    capture(store, *case["captures"])
    marked = [line for line in graph(store)[1].splitlines() if line.startswith("* ")]
    assert len(marked) == len(case["expected"]["history"])
    chart, digraph = (
        read_flowchart(graph(store, SESSION, Form.MERMAID)[1]),
        read_digraph(graph(store, SESSION, Form.DOT)[1]),
    )
    assert len(chart.classes["currentNode"]) == len(case["expected"]["history"])
    assert chart.nodes.keys() == digraph.nodes.keys()
    for conversation, history in case["expected"]["history_by_conversation"].items():
        _, out, _ = graph(store, conversation=conversation)
        assert sum(line.startswith("* ") for line in out.splitlines()) == len(history)


def test_a_result_of_a_later_capture_is_drawn_with_its_call(store: Path) -> None:
    def part(*messages: dict[str, Any], request: str) -> dict[str, Any]:
        return {"session_id": "chat-7", "mode": "delta", "request_id": request, "messages": list(messages)}

    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
    asked = {"role": "user", "content": "Where?"}
    calls = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "Bern"}
    capture(store, part(asked, calls, request="r1"), part(result, request="r2"), form="openai-chat")
    assert graph(store, "chat-7")[1].splitlines()[2:] == [
        "* #1 user      Where?",
        "* #2 assistant  (answers #1)",
        "     calls look(n=1)  (result in #3)",
        "* #3 tool      Bern  (result for #2)",
    ]


def test_a_conversation_by_its_own_name_has_its_turns_and_those_that_they_continue(store: Path) -> None:
    first = {
        **fresh_payload(2),
        "session_id": "chat-7",
        "conversation_id": "main",
        "capture_options": {"derive_ids": True},
    }
    follower = fresh_payload(1, content="what if")
    follower["turns"][0]["parent_turn_id"] = first["turns"][0]["turn_id"]
    fork = {**first, "conversation_id": "fork", "turns": follower["turns"]}
    capture(store, first, fork)
    code, out, _ = graph(store, "chat-7", None, Format.JSON, conversation="fork")
    assert code == ExitCode.OK
    document = json.loads(out)
    assert document["session_id"] == session_uuid("chat-7")
    assert [node.get("conversation_id") for node in document["nodes"]] == [
        None,
        conversation_uuid("main"),
        conversation_uuid("fork"),
    ]


def test_erased_turns_stay_as_nodes_without_text(store: Path) -> None:
    capture(store, EXAMPLE.read_bytes())
    turn = json.loads(EXAMPLE.read_bytes())["turns"][1]
    with closing(client_of(store)) as client:
        client.erasure.turn(turn["turn_id"])
    outs = [graph(store, NATIVE, form)[1] for form in (Form.TREE, Form.MERMAID, Form.DOT)]
    assert "* #2 user       (erased)\n" in outs[0]
    assert read_flowchart(outs[1]).classes["erasedNode"] == ["n1"]
    assert read_digraph(outs[2]).nodes["n1"]["label"] == "#2 user (erased)"
    assert all(turn["content"][:12] not in out for out in outs)


def test_a_session_that_is_not_there_is_5(store: Path) -> None:
    capture(store, fresh_payload())
    session = "chat-8\x1b[2J"
    code, out, err = graph(store, session)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err == f"memory-graph: there is no session chat-8\\x1b[2J ({session_uuid(session)}) in this store\n"


def test_a_conversation_that_is_not_there_is_5(store: Path) -> None:
    payload = fresh_payload()
    capture(store, payload)
    code, out, err = graph(store, payload["session_id"], conversation=SESSION)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err == f"memory-graph: there is no conversation {SESSION} in this session\n"


def test_a_store_that_is_not_there_is_5_and_is_not_made(store: Path) -> None:
    assert graph(store)[0] == ExitCode.NOT_POSSIBLE
    assert not store.exists()


@pytest.mark.parametrize("form", ["tree", "mermaid", "dot"])
@pytest.mark.parametrize("output_format", ["json", "yaml"])
def test_a_drawing_in_a_format_of_documents_is_refused(form: str, output_format: str, store: Path) -> None:
    code, out, err = command_line("--session-id", "s", "--as", form, "--format", output_format, "--store", str(store))
    assert (code, out) == (ExitCode.USAGE, "")
    assert f"--as: {form} is text for itself: leave --format {output_format} out" in err


def test_as_json_is_format_json_and_goes_with_yaml(store: Path) -> None:
    capture(store, EXAMPLE.read_bytes())
    asked = ("--session-id", NATIVE.upper(), "--store", str(store))
    code, out, err = command_line(*asked, "--as", "json")
    assert (code, err) == (0, "")
    assert (
        (code, out, err)
        == command_line(*asked, "--format", "json")
        == command_line(*asked, "--as", "json", "--format", "json")
    )
    as_yaml = command_line(*asked, "--as", "json", "--format", "yaml")[1]
    assert yaml.safe_load(as_yaml) == json.loads(out)
    assert command_line(*asked)[1] == command_line(*asked, "--as", "tree")[1] == golden("graph-native.table")


def test_the_documents_hold_no_content(store: Path) -> None:
    capture(store, EXAMPLE.read_bytes())
    _, out, _ = graph(store, NATIVE, None, Format.JSON)
    contents = [turn["content"] for turn in json.loads(EXAMPLE.read_bytes())["turns"]]
    assert all(content not in out for content in contents if content)
    assert "4471" not in out


@pytest.mark.parametrize("first", range(0, len(PIECES), 10))
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_hostile_content_is_drawn_as_text_from_capture_to_screen(first: int, encoding: str, store: Path) -> None:
    text = " ".join(PIECES[first : first + 10])
    payload = {**fresh_payload(2, content=text), "session_id": text, "capture_options": {"derive_ids": True}}
    payload["turns"][1]["tool_invocations"] = [
        {"tool_name": text, "invocation_id": "c1", "arguments": {text: [text, 10**30]}}
    ]
    capture(store, payload)
    for form, read in ((Form.TREE, str), (Form.MERMAID, read_flowchart), (Form.DOT, read_digraph)):
        code, out, err = graph(store, text, form, stdout=Screen(encoding))
        assert (code, err) == (ExitCode.OK, "")
        read(out)
        assert not {unicodedata.category(character) for character in out.replace("\n", "")} & {
            "Cc",
            "Cf",
            "Cs",
            "Co",
            "Cn",
        }
    code, out, _ = graph(store, text, None, Format.JSON, stdout=Screen(encoding))
    assert code == ExitCode.OK
    assert json.loads(out)["nodes"][-1]["tool_name"] == text
