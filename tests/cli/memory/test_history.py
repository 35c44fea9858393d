"""``history`` on an embedded store, from its options to every form of its output."""

import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.bootstrap import capture_service_on, new_id, store_client
from agent.capture.service import CaptureRequest
from agent.cli.commands import app
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.sessions.history import HistoryCommand
from agent.cli.memory.sessions.turn_text import Page
from agent.cli.output_format import Format
from agent.cli.terminal_text import escape
from agent.config import Settings
from agent.content.policy import FULL
from agent.core.ids import conversation_uuid, session_uuid, turn_uuid
from agent.observability.tracing import NoSpans
from agent.ruvector.client import RuvectorClient
from tests.cli.streams import BOOKING, EXAMPLE, PREFIX, Screen, invocation, printed, terminal
from tests.core.session_turns import ONE, TWO, state_only, turn, turn_id
from tests.strategies import fresh_payload
from tests.strategies import text as any_text

GOLDEN = Path(__file__).parent / "golden"
NATIVE_SESSION = "3f1c9a52-7d0e-4c57-9b1e-5a0f6b7c8d21"
BOOKING_SESSION = "tau-bench/gpt-4o-airline/task-0-trial-2"
SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_UNSTABLE = (
    (re.compile(r'(captured_at"?: ?)"[^"]+"'), r"\1<time>"),
    (re.compile(r'(execution_ref"?: ?)"[^"]+"'), r"\1<execution ref>"),
)
# The booking's messages have no time of their own: it is that of the capture.
_DERIVED = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")


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


def payload(*turns: dict[str, Any], conversation: str = ONE) -> dict[str, Any]:
    return {"session_id": SESSION, "conversation_id": conversation, "turns": list(turns)}


def said(number: int, content: str = "words", **more: Any) -> dict[str, Any]:
    """A turn as it is captured."""
    given = {"turn_id": turn_id(number), "role": "user", "content": content, "timestamp": "2026-03-02T08:15:00Z"}
    return {**given, **more}


def history(
    store: Path | str,
    session: str = SESSION,
    output_format: Format = Format.TABLE,
    *,
    conversation: str | None = None,
    leaf: str | None = None,
    last: int | None = None,
    verbose: bool = False,
    stdout: Screen | None = None,
    **environ: str,
) -> tuple[ExitCode, str, str]:
    """Run the command and return the exit code, the results, and all else that was printed."""
    at = terminal(stdout=stdout, environ=environ)
    command = HistoryCommand(session, conversation, leaf, last, verbose)
    code = invocation(at, output_format, store=str(store)).run(command, interrupted=command.interrupted)
    return code, *printed(at)


def command_line(*arguments: str) -> tuple[int, str, str]:
    """The command from its options on."""
    at = terminal()
    code: int = app([*PREFIX, "history", "--debug", *arguments], standalone_mode=False, obj=at)
    return code, *printed(at)


def rows(out: str) -> list[tuple[str, str, str]]:
    """The table as seq, role and text."""
    assert out.startswith("   seq  time                       role       text\n")
    return [(line[:6].strip(), line[35:44].strip(), line[46:]) for line in out.splitlines()[1:]]


def documents(store: Path, **asked: Any) -> list[dict[str, Any]]:
    code, out, err = history(store, output_format=Format.JSON, **asked)
    assert (code, err) == (ExitCode.OK, "")
    turns: list[dict[str, Any]] = json.loads(out)["turns"]
    return turns


def normalised(text: str) -> str:
    for pattern, replacement in _UNSTABLE:
        text = pattern.sub(replacement, text)
    return text


def golden(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(output_format: Format, store: Path) -> None:
    capture(store, EXAMPLE.read_bytes())
    code, out, err = history(store, NATIVE_SESSION, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert normalised(out) == golden(f"history-native.{output_format.value}")


def test_json_lines_are_the_turns_alone(store: Path) -> None:
    capture(store, EXAMPLE.read_bytes())
    code, out, err = command_line("--store", str(store), "--session-id", NATIVE_SESSION, "--jsonl")
    assert (code, err) == (ExitCode.OK, "")
    assert normalised(out) == golden("history-native.jsonl")


def test_verbose_prints_what_its_golden_file_holds(store: Path) -> None:
    capture(store, EXAMPLE.read_bytes())
    assert history(store, NATIVE_SESSION, verbose=True) == (ExitCode.OK, golden("history-native-verbose.table"), "")


def test_a_real_conversation_prints_what_its_golden_file_holds(store: Path) -> None:
    capture(store, BOOKING.read_bytes(), form="openai-chat")
    code, out, err = history(store, BOOKING_SESSION)
    assert (code, err) == (ExitCode.OK, "")
    assert _DERIVED.sub("<time>".ljust(20), out) == golden("history-booking.table")


def test_yaml_says_what_json_says_and_verbose_adds_nothing_to_either(store: Path) -> None:
    capture(store, EXAMPLE.read_bytes())
    _, as_json, _ = history(store, NATIVE_SESSION, Format.JSON)
    _, as_yaml, _ = history(store, NATIVE_SESSION, Format.YAML)
    assert yaml.safe_load(as_yaml) == json.loads(as_json)
    assert history(store, NATIVE_SESSION, Format.JSON, verbose=True)[1] == as_json


def test_the_document_holds_the_records_of_the_store_and_what_was_asked_for(store: Path) -> None:
    capture(store, payload(said(1), said(2)))
    _, out, _ = history(store, output_format=Format.JSON, conversation=ONE.upper())
    document = json.loads(out)
    assert list(document) == ["turns", "session_id", "conversation_id", "complete"]
    assert (document["session_id"], document["conversation_id"], document["complete"]) == (SESSION, ONE, True)
    with closing(client_of(store)) as client:
        page = client.reads.turns(SESSION)
    assert document["turns"] == [record.model_dump(exclude_unset=True) for record in page.turns]


def test_native_ids_name_the_session_the_conversation_and_the_leaf(store: Path) -> None:
    turns = [{**said(number), "turn_id": f"m{number}"} for number in (1, 2)]
    chat = {"session_id": "chat-7", "conversation_id": "c-1", "turns": turns, "capture_options": {"derive_ids": True}}
    capture(store, chat)
    code, out, _ = history(store, "chat-7", Format.JSON, conversation="c-1", leaf="m1")
    document = json.loads(out)
    assert code == ExitCode.OK
    assert (document["session_id"], document["conversation_id"]) == (session_uuid("chat-7"), conversation_uuid("c-1"))
    assert [each["native_id"] for each in document["turns"]] == ["m1"]
    assert document["turns"][0]["turn_id"] == turn_uuid(session_uuid("chat-7"), "m1")


def test_a_session_shows_its_current_branch_and_any_other_that_is_asked_for(store: Path) -> None:
    capture(store, payload(said(1), said(2, "old")), payload(said(10, "new", parent_turn_id=turn_id(1))))
    assert [row[2] for row in rows(history(store)[1])] == ["words", "new"]
    assert [row[2] for row in rows(history(store, leaf=turn_id(2))[1])] == ["words", "old"]
    assert [row[2] for row in rows(history(store, leaf=turn_id(10).upper(), conversation=ONE)[1])] == ["words", "new"]


def test_conversations_are_merged_unless_one_is_asked_for(store: Path) -> None:
    capture(store, payload(said(1, "a")), payload(said(2, "x"), conversation=TWO), payload(said(3, "b")))
    assert [row[2] for row in rows(history(store)[1])] == ["a", "x", "b"]
    assert [row[2] for row in rows(history(store, conversation=TWO)[1])] == ["x"]
    assert f"\n\n#2 user  2026-03-02T08:15:00Z  {turn_id(2)}  conversation {TWO}\n" in history(store, verbose=True)[1]
    assert "  conversation " not in history(store, verbose=True, conversation=TWO)[1]


@pytest.mark.parametrize(("last", "expected"), [(1, ["4"]), (3, ["2", "3", "4"]), (4, ["1", "2", "3", "4"])])
def test_last_takes_the_newest_of_what_is_shown(last: int, expected: list[str], store: Path) -> None:
    capture(store, payload(*(said(number) for number in range(1, 5))))
    assert [row[0] for row in rows(history(store, last=last)[1])] == expected
    assert history(store, last=last, verbose=True)[1].count("#") == last


def test_h32_more_than_there_are_is_all_of_them(store: Path) -> None:
    capture(store, payload(*(said(number) for number in range(1, 5))))
    for last in ("1000000", str(10**30)):
        code, out, err = command_line("--store", str(store), "--session-id", SESSION, "--last", last)
        assert (code, len(rows(out)), err) == (0, 4, "")


@pytest.mark.parametrize("last", ["-1", "0", "abc", "", "1.5"])
def test_h32_a_count_that_is_none_is_wrong_usage(last: str) -> None:
    with pytest.raises(typer.TyperException) as caught:
        command_line("--session-id", SESSION, "--last", last)
    assert caught.value.exit_code == ExitCode.USAGE


def test_every_option_reaches_the_command(store: Path) -> None:
    capture(store, payload(said(1, "one"), said(2, "two")))
    asked = ("--store", str(store), "--session-id", SESSION, "--conversation-id", ONE, "--leaf", turn_id(2))
    code, out, err = command_line(*asked, "--last", "1", "-v")
    assert (code, err) == (0, "")
    assert out == f"#2 user  2026-03-02T08:15:00Z  {turn_id(2)}\n    two\n"
    code, out, _ = command_line(*asked, "--format", "yaml")
    assert (code, [each["seq"] for each in yaml.safe_load(out)["turns"]]) == (0, [1, 2])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"session": TWO}, f"there is no session {TWO} in this store"),
        ({"session": "chat-7"}, f"there is no session chat-7 ({session_uuid('chat-7')}) in this store"),
        ({"conversation": TWO.upper()}, f"there is no conversation {TWO} in this session"),
        ({"conversation": "c"}, f"there is no conversation c ({conversation_uuid('c')}) in this session"),
        ({"leaf": turn_id(9)}, f"there is no turn {turn_id(9)} in this session"),
        ({"leaf": "m9"}, f"there is no turn m9 ({turn_uuid(SESSION, 'm9')}) in this session"),
        (
            {"leaf": turn_id(1), "conversation": "c-2"},
            f"the turn {turn_id(1)} is not in the conversation {conversation_uuid('c-2')}",
        ),
    ],
)
def test_what_is_not_there_is_5_and_one_line(asked: dict[str, str], message: str, store: Path) -> None:
    capture(store, payload(said(1)), payload(said(2), conversation=conversation_uuid("c-2")))
    assert history(store, **asked) == (ExitCode.NOT_POSSIBLE, "", f"memory-graph: {message}\n")  # type: ignore[arg-type]  # every value is text
    code, out, err = history(store, output_format=Format.JSON, **asked)  # type: ignore[arg-type]  # every value is text
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert json.loads(err)["error"]["message"] == message


def test_a_store_that_is_not_there_is_5_and_none_is_made(store: Path) -> None:
    code, out, err = history(store)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err == f"memory-graph: there is no store at {store}: a capture makes one\n"
    assert not store.exists()


@pytest.mark.parametrize("asked", [{"session": ""}, {"conversation": "x" * 257}, {"leaf": ""}, {"leaf": "\udce9"}])
def test_what_can_be_no_id_is_wrong_usage(asked: dict[str, str], store: Path) -> None:
    code, out, err = history(store, **asked)  # type: ignore[arg-type]  # every value is text
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith(f"memory-graph: --{next(iter(asked))}")


@pytest.mark.parametrize("verbose", [False, True])
def test_a_cleared_history_is_empty_and_says_so_beside_the_results(verbose: bool, store: Path) -> None:
    clear = {"metadata": {"memory": {"state_only": True, "reset": "all"}}}
    capture(store, payload(said(1)), payload(said(2, "", role="system", **clear)))
    code, out, err = history(store, verbose=verbose)
    assert code == ExitCode.OK
    assert err == "memory-graph: the history is empty: of the session's turns (2) it shows none\n"
    assert out == "" if verbose else rows(out) == []
    code, out, err = history(store, output_format=Format.JSON)
    assert (code, json.loads(out)) == (ExitCode.OK, {"turns": [], "session_id": SESSION, "complete": True})
    assert err.startswith("memory-graph: the history is empty")


def test_an_erased_turn_is_shown_in_its_place(store: Path) -> None:
    call = {"tool_name": "look", "invocation_id": turn_id(20)}
    capture(store, payload(said(1), said(2, "secret", role="assistant", tool_invocations=[call]), said(3)))
    with closing(client_of(store)) as client:
        client.erasure.turn(turn_id(2))
    assert rows(history(store)[1])[1] == ("2", "assistant", "[erased]")
    assert f"#2 assistant  {turn_id(2)}\n    [erased]\n\n#3 user" in history(store, verbose=True)[1]
    erased = documents(store)[1]
    assert (erased["erased"], erased.get("content")) == (True, None)


def test_calls_are_shown_behind_what_the_turn_says_and_results_below_it(store: Path) -> None:
    calls = [
        {"tool_name": "look", "invocation_id": turn_id(20), "arguments": {"city": "Lyon", "n": 2}},
        {"tool_name": "wait", "invocation_id": turn_id(21)},
    ]
    result = {"tool_name": "look", "invocation_id": turn_id(20), "success": True}
    asks = said(1, "I look.", role="assistant", tool_invocations=calls)
    capture(store, payload(asks, said(2, "sunny", role="tool", tool_invocations=[result])))
    shown = [row[2] for row in rows(history(store)[1])]
    assert shown == ['I look. look(city="Lyon", n=2) wait()', "sunny"]
    whole = history(store, verbose=True)[1]
    assert '\n    I look.\n  > look(city="Lyon", n=2)\n  > wait()\n' in whole
    assert whole.endswith("\n    sunny\n  < look\n  success: true\n")


def test_a_revised_turn_says_so(store: Path) -> None:
    capture(store, payload(said(1, "first")), payload(said(1, "second")))
    out = history(store, verbose=True)[1]
    assert out == f"#1 user  2026-03-02T08:15:00Z  {turn_id(1)}  revision 2\n    second\n"


@pytest.mark.parametrize("content", ["Zo\u00eb", "Zoe\u0308"])
def test_h16_both_forms_of_unicode_come_back_byte_for_byte(content: str, store: Path) -> None:
    capture(store, payload(said(1, content)))
    _, out, _ = history(store, output_format=Format.JSON)
    assert f'"content": "{content}"'.encode() in out.encode()
    assert json.loads(out)["turns"][0]["content"].encode() == content.encode()
    assert yaml.safe_load(history(store, output_format=Format.YAML)[1])["turns"][0]["content"] == content


def test_strings_and_integers_come_back_exactly(store: Path) -> None:
    content = "\x00\t\r\n\u2028\x85\ufeff \U0001f600 完成 \\ \" '"
    metadata = {"n": [2**63, -(2**64), 10**4000], "x": 1.5, "no": "no", "": None}
    capture(store, payload(said(1, content, metadata=metadata, x_unknown={"deep": ["é"]})))
    for turns in (documents(store), yaml.safe_load(history(store, output_format=Format.YAML)[1])["turns"]):
        assert (turns[0]["content"], turns[0]["metadata"]) == (content, metadata)
        assert turns[0]["x_unknown"] == {"deep": ["é"]}


@pytest.mark.parametrize("output_format", list(Format))
@pytest.mark.parametrize("verbose", [False, True])
def test_h33_a_cp1252_console_gets_what_it_can_write_and_the_rest_as_escapes(
    verbose: bool,
    output_format: Format,
    store: Path,
) -> None:
    capture(store, payload(said(1, "caf\u00e9 \u2705 \u5b8c\u6210")))
    code, out, err = history(store, output_format=output_format, verbose=verbose, stdout=Screen("cp1252"))
    assert (code, err) == (ExitCode.OK, "")
    shown = "caf\u00e9 \\u2705 \\u5b8c\\u6210"
    assert shown in out or yaml.safe_load(out)["turns"][0]["content"] == "caf\u00e9 \u2705 \u5b8c\u6210"


EVIL = "\x1b[2J\b\b\r\u202egone\x9b2J\x07\t\u2028\n#9 user  2026-03-02T08:15:00Z\r\nlast"


@pytest.mark.parametrize("tty", [False, True])
def test_hostile_content_neither_moves_the_cursor_nor_passes_for_another_turn(tty: bool, store: Path) -> None:
    call = {"tool_name": EVIL, "invocation_id": turn_id(20), "arguments": {EVIL: EVIL}}
    capture(store, payload(said(1, EVIL, role="assistant", tool_invocations=[call]), said(2)))
    _, table, _ = history(store, stdout=Screen(tty=tty))
    _, whole, _ = history(store, verbose=True, stdout=Screen(tty=tty))
    for out in (table, whole):
        assert {unicodedata.category(each) for each in out.replace("\n", "")} & UNSAFE == set()
    assert len(rows(table)) == 2
    heads = [line for line in whole.splitlines() if line.startswith("#")]
    assert [head.split()[0] for head in heads] == ["#1", "#2"]
    assert "\n    \\x1b[2J\\x08\\x08\\x0d\\u202egone\\x9b2J\\x07\\x09\\u2028\n    #9 user  2026" in whole


def test_a_long_line_goes_on_indented_on_a_terminal_and_stays_whole_in_a_pipe(store: Path) -> None:
    line = "完" * 100 + "#9 user says"
    call = {"tool_name": "t" * 300, "invocation_id": turn_id(20)}
    capture(store, payload(said(1, line, role="assistant", tool_invocations=[call])))
    on_terminal = history(store, verbose=True, stdout=Screen(tty=True), COLUMNS="60")[1].splitlines()
    assert [each[:4] for each in on_terminal[1:]].count("  > ") == 1
    assert all(each[:4] in ("    ", "  > ") for each in on_terminal[1:])
    assert max(map(cell_len, on_terminal)) <= 60
    assert "".join(each[4:] for each in on_terminal[2:]).startswith(line)
    assert f"\n    {line}\n  > {'t' * 300}()\n" in history(store, verbose=True)[1]


def test_what_another_writer_put_in_place_of_calls_and_times_is_shown_as_far_as_it_goes(store: Path) -> None:
    odd = [
        {"turn_id": turn_id(1), "role": "robot-with-a-long-name", "content": "beep", "tool_invocations": 5},
        {"turn_id": turn_id(2), "content": "who?", "tool_invocations": [None, {"tool_name": 7, "invocation_id": "i"}]},
        {"turn_id": turn_id(3), "role": "assistant", "metadata": [], "timestamp": "soon\n\x1b[2J"},
    ]
    inputs = {"session_id": SESSION, "conversation_id": ONE, "turns": odd}
    event = {"agent_id": "another", "decision_type": "conversation_capture", "inputs": inputs}
    envelope = {"type": "conversation_capture", "runId": "r", "timestamp": "2026-03-02T08:15:00Z", "payload": event}
    with closing(client_of(store)) as client:
        client.append(json.dumps(envelope).encode(), idempotency_key=None)
    code, out, err = history(store)
    assert (code, err) == (ExitCode.OK, "")
    assert rows(out) == [("1", "robot-...", "beep"), ("2", "", "who? 7()"), ("3", "assistant", "")]
    assert history(store, verbose=True)[1].splitlines() == [
        f"#1 robot-with-a-long-name  {turn_id(1)}",
        "    beep",
        "",
        f"#2  {turn_id(2)}",
        "    who?",
        "  > 7()",
        "",
        f"#3 assistant  soon\\x0a\\x1b[2J  {turn_id(3)}",
    ]


def test_a_history_of_more_than_one_page_is_whole(store: Path) -> None:
    made = fresh_payload(1201)
    capture(store, made)
    _, out, _ = history(store, made["session_id"], Format.JSON)
    assert [each["seq"] for each in json.loads(out)["turns"]] == list(range(1, 1202))


def lines_of(content: str) -> Iterator[str]:
    """The lines of a text as a terminal may be shown them."""
    yield from (escape(line).rstrip() for line in content.replace("\r\n", "\n").split("\n"))


@settings(deadline=None, max_examples=150)
@given(st.lists(any_text | st.sampled_from(["\n", "\r\n", "#1 user", "\u2028", "  > f()"]), max_size=6).map("".join))
def test_whole_turns_are_a_head_line_and_their_own_lines_indented(content: str) -> None:
    page = Page("utf-8", None, names_conversations=False)
    head, *body = page.text(turn(1, content=content)).removesuffix("\n").split("\n")
    assert head == f"#1 user  {turn_id(1)}"
    assert body == ([f"    {line}".rstrip() for line in lines_of(content)] if content else [])


@settings(deadline=None, max_examples=100)
@given(any_text, st.integers(24, 80))
def test_no_line_of_a_whole_turn_is_wider_than_the_terminal(content: str, width: int) -> None:
    page = Page("utf-8", width, names_conversations=True)
    for shown in (turn(1, content=content * 9), state_only(2), turn(3, erased=True)):
        assert all(cell_len(line) <= width for line in page.text(shown).splitlines())
