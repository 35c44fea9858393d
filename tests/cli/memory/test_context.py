"""``context`` on an embedded store: the window as people and as a provider want it, and why not the rest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from agent.cli.commands import app
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.options.window_commands import context as context_command
from agent.core.ids import session_uuid
from agent.core.window.policy import STRATEGIES
from agent.core.window.strategies import KEEPS
from tests.cli.memory.test_history import BOOKING_SESSION, capture
from tests.cli.streams import BOOKING, PREFIX, printed, terminal

SESSION = "chat-7"
PROMPT = {
    "turn_id": "t-0",
    "role": "system",
    "content": "You are the parcel desk.",
    "timestamp": "2026-03-02T08:00:00Z",
}


def chat(exchanges: int) -> dict[str, Any]:
    turns = [PROMPT]
    for number in range(exchanges):
        at = f"2026-03-02T08:{number % 60:02}"
        turns += [
            {"turn_id": f"u-{number}", "role": "user", "content": f"Where is {number}?", "timestamp": f"{at}:01Z"},
            {
                "turn_id": f"a-{number}",
                "role": "assistant",
                "content": f"{number} is in Bern.",
                "timestamp": f"{at}:02Z",
            },
        ]
    options = {"derive_ids": True}
    return {"session_id": SESSION, "conversation_id": "c", "turns": turns, "capture_options": options}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    capture(path, chat(40))
    return path


def context(store: Path, *arguments: str, session: str = SESSION, **environ: str) -> tuple[int, str, str]:
    """The command from its options on; the exit code, the results, and all else that was printed."""
    at = terminal(environ={"COLUMNS": "120", **environ})
    asked = ["context", "--store", str(store), "--session-id", session, *arguments]
    code: int = app([*PREFIX, *asked], standalone_mode=False, obj=at)
    return code, *printed(at)


def document(store: Path, *arguments: str) -> dict[str, Any]:
    code, out, _ = context(store, *arguments, "--format", "json")
    assert code == ExitCode.OK
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_window_is_shown_as_history_shows_turns_with_markers_for_those_that_are_not_there(store: Path) -> None:
    code, out, err = context(store, "--max-tokens", "150", "--strategy", "rolling_window")
    head, system, marker, *newest = out.splitlines()
    assert code == ExitCode.OK
    assert head == "   seq  time                       role       text"
    assert system == "     1  2026-03-02T08:00:00Z       system     You are the parcel desk."
    missing = re.fullmatch(r" {35}marker     \.\.\. \[(\d+) messages removed\] \.\.\.", marker)
    assert missing is not None
    assert int(missing[1]) + len(newest) + 1 == 81
    assert newest[-1] == "    81  2026-03-02T08:39:02Z       assistant  39 is in Bern."
    assert err == "memory-graph: the whole conversation takes more than 90 % of the limit\n"


def test_a_document_holds_the_messages_and_the_whole_account(store: Path) -> None:
    found = document(store, "--max-tokens", "150")
    assert list(found) == ["messages", "session_id", "manifest", "complete"]
    assert found["session_id"] == session_uuid(SESSION)
    markers = [each["metadata"]["marker"] for each in found["messages"] if "marker" in each.get("metadata", {})]
    assert sum(markers) == found["manifest"]["dropped"] == 81 - found["manifest"]["kept"]
    assert [choice["seq"] for choice in found["manifest"]["choices"]] == list(range(1, 82))
    assert document(store, "--max-tokens", "150", "--explain") == found


def test_yaml_says_what_json_says_and_json_lines_are_the_messages_alone(store: Path) -> None:
    found = document(store, "--max-tokens", "150")
    _, as_yaml, _ = context(store, "--max-tokens", "150", "--format", "yaml")
    assert yaml.safe_load(as_yaml) == found
    _, lines, _ = context(store, "--max-tokens", "150", "--jsonl")
    assert [json.loads(line) for line in lines.splitlines()] == found["messages"]


def test_explained_every_turn_says_what_became_of_it_and_a_bar_how_full_it_is(store: Path) -> None:
    code, out, _ = context(store, "--max-tokens", "150", "--explain", "--strategy", "importance")
    head, *rows = out.split("\n\n")[0].splitlines()
    assert (code, len(rows)) == (ExitCode.OK, 81)
    assert head.split() == ["seq", "role", "tokens", "score", "reason", "text"]
    assert re.match(r" +1  kept     system +\d+   1\.00  system +You are the parcel desk\.$", rows[0])
    assert any(
        re.match(r" +\d+  dropped  user +\d+   0\.\d\d  (?:budget|too_large) +Where is \d+\?$", row) for row in rows
    )
    manifest = document(store, "--max-tokens", "150", "--strategy", "importance")["manifest"]
    bar, kept, counted = out.split("\n\n")[1].splitlines()
    assert re.fullmatch(rf"\[#+-*\] {manifest['tokens']} of {manifest['budget']} tokens \(\d+ %\)", bar)
    assert len(bar.split("]")[0]) == len("[############")
    assert kept.startswith(f"kept {manifest['kept']} of 81 turns: system ")
    assert counted == "strategy importance, counted by estimate, not exact"


def test_a_provider_s_document_is_printed_alone_and_the_rest_is_said_beside_it(store: Path) -> None:
    code, out, err = context(store, "--max-tokens", "150", "--as", "anthropic", "--explain")
    found = json.loads(out)
    assert code == ExitCode.OK
    assert found["system"] == "You are the parcel desk."
    assert found["messages"][0]["role"] == "user"
    assert re.search(r"\[#+-*\] \d+ of \d+ tokens", err)


def test_a_real_conversation_fits_a_model_with_its_calls(tmp_path: Path) -> None:
    store = tmp_path / "booking.db"
    capture(store, BOOKING.read_bytes(), form="openai-chat")
    code, out, _ = context(store, "--max-tokens", "2000", "--as", "openai-chat", session=BOOKING_SESSION)
    messages = json.loads(out)["messages"]
    called = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    assert code == ExitCode.OK
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == called


def test_settings_of_the_environment_hold_where_no_option_does(store: Path) -> None:
    _, out, _ = context(store, CONVERSATION_MAX_HISTORY_MESSAGES="4", CONVERSATION_CONTEXT_STRATEGY="rolling_window")
    assert len(out.splitlines()) == 1 + 1 + 1 + 4
    code, _, err = context(store, CONVERSATION_CONTEXT_STRATEGY="summarize")
    assert code == ExitCode.USAGE
    assert err.startswith("memory-graph: CONVERSATION_CONTEXT_STRATEGY: must be one of ")


def test_a_budget_that_is_too_small_is_wrong_usage_and_says_what_is_needed(store: Path) -> None:
    code, out, err = context(store, "--max-tokens", "2")
    assert (code, out) == (ExitCode.USAGE, "")
    assert re.fullmatch(r"memory-graph: a window needs \d+ tokens at least\n  \$\.max_tokens  minimum\n", err)


@pytest.mark.parametrize(
    ("strategy", "message"),
    [("summarize", "summarize is not supported: nothing here calls a model"), ("best", "none of")],
)
def test_a_strategy_that_there_is_not_is_refused_before_a_store_is_opened(
    strategy: str, message: str, tmp_path: Path
) -> None:
    code, out, err = context(tmp_path / "none.db", "--strategy", strategy)
    assert (code, out) == (ExitCode.USAGE, "")
    assert message in err


def test_what_is_not_there_is_5_and_one_line(store: Path) -> None:
    code, _, err = context(store, session="chat-8")
    assert (code, err) == (
        ExitCode.NOT_POSSIBLE,
        f"memory-graph: there is no session chat-8 ({session_uuid('chat-8')}) in this store\n",
    )
    code, _, err = context(store, "--conversation-id", "other")
    assert code == ExitCode.NOT_POSSIBLE
    assert err.startswith("memory-graph: there is no conversation other (")


def test_an_unknown_model_is_warned_about(store: Path) -> None:
    _, _, err = context(store, "--model", "no-such-model", "--max-messages", "100")
    assert err == "memory-graph: the model is not known: its limit is taken for 8 192 tokens\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "no-such-model", "--max-tokens", "9000"], "the model is not known: its tokens are estimated"),
        (["--model", "gpt-4", "--max-tokens", "9000"], "--max-tokens is more than the model takes"),
        (["--max-messages", "5", "--max-tokens", "9000"], "--max-messages does not count beside --max-tokens"),
    ],
)
def test_what_does_not_go_together_is_said(arguments: list[str], says: str, store: Path) -> None:
    assert context(store, *arguments)[2] == f"memory-graph: {says}\n"


def test_to_is_as_and_a_marker_is_the_caller_s(store: Path) -> None:
    as_, to = (context(store, "--max-tokens", "150", option, "openai-chat")[1] for option in ("--as", "--to"))
    assert as_ == to
    assert "messages" in json.loads(to)
    marked = context(store, "--max-tokens", "150", "--marker", "[{count} gone]")[1]
    assert re.search(r"marker     \[\d+ gone\]", marked)


@pytest.mark.parametrize("option", ["--query", "--model", "--marker"])
def test_an_empty_text_is_refused_before_a_store_is_opened(option: str, tmp_path: Path) -> None:
    code, _, err = context(tmp_path / "none.db", option, "")
    assert (code, err.split(" must have 1 to ")[0]) == (ExitCode.USAGE, f"memory-graph: {option}:")


def test_no_tokens_at_all_are_a_budget_that_is_too_small(store: Path) -> None:
    code, _, err = context(store, "--max-tokens", "0")
    assert code == ExitCode.USAGE
    assert re.match(r"memory-graph: a window needs \d+ tokens at least\n", err)


def test_a_budget_of_the_settings_that_is_too_small_is_not_called_max_tokens(store: Path) -> None:
    capture(store, {**chat(0), "turns": [{**PROMPT, "turn_id": "s", "content": "Be brief. " * 4000}]})
    code, _, err = context(store, "--model", "gpt-4")
    assert (code, err.splitlines()[1]) == (ExitCode.USAGE, "  $.model  minimum")


@pytest.mark.parametrize(
    ("option", "beyond"), [("--max-tokens", "100000001"), ("--max-messages", "1001"), ("--min-recent", "1001")]
)
def test_numbers_have_the_ranges_of_the_read_side(option: str, beyond: str, store: Path) -> None:
    with pytest.raises(typer.BadParameter, match="less than or equal to"):
        context(store, option, beyond)


def test_a_provider_s_format_in_the_wrong_place_is_told_the_right_one(store: Path) -> None:
    with pytest.raises(typer.BadParameter) as refused:
        context(store, "--format", "openai-chat")
    assert "a document of openai-chat is --as openai-chat" in refused.value.format_message()
    with pytest.raises(typer.BadParameter) as refused:
        context(store, "--format", "xml")
    assert refused.value.format_message().endswith("'xml' is not one of table, json, yaml")


def test_the_help_says_what_each_strategy_keeps_in_three_sentences() -> None:
    text = " ".join((context_command.__doc__ or "").split())
    assert set(KEEPS) == set(STRATEGIES)
    for name, keeps in KEEPS.items():
        assert f"{name}: {keeps}" in text
        assert len(re.findall(r"\.(?: |$)", keeps)) == 3
