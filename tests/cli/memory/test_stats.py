"""``stats`` on an embedded store: how full a window is, for somebody on call."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent.cli.commands import app
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.sessions.window_stats import StatsCommand
from agent.cli.output_format import Format
from agent.core.ids import session_uuid
from agent.recall.context import ContextRequest
from tests.cli.memory.test_context import SESSION, chat
from tests.cli.memory.test_history import capture
from tests.cli.streams import PREFIX, invocation, printed, terminal


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    capture(path, chat(40))
    return path


def stats(
    store: Path, output_format: Format = Format.TABLE, session: str = SESSION, **asked: Any
) -> tuple[int, str, str]:
    """Run the command, at 08:15; the exit code, the results, and all else that was printed."""
    at = terminal()
    command = StatsCommand(session, None, ContextRequest(**asked))
    code = invocation(at, output_format, store=str(store)).run(command, interrupted=command.interrupted)
    return code, *printed(at)


def test_people_see_the_figures_and_the_one_line(store: Path) -> None:
    code, out, err = stats(store, max_tokens=150)
    facts = dict(re.split(r" {2,}", line, maxsplit=1) for line in out.splitlines())
    assert (code, err) == (ExitCode.OK, "memory-graph: the whole conversation takes more than 90 % of the limit\n")
    assert list(facts) == [
        "session",
        "in short",
        "conversation",
        "messages",
        "tokens",
        "limit",
        "by role",
        "counted by",
        "oldest in memory",
        "last prune",
    ]
    assert facts["session"] == session_uuid(SESSION)
    assert re.fullmatch(r"\d+ messages in context.*, oldest from 08:\d\d.*", facts["in short"])
    assert re.fullmatch(r"81, \d+ in context, 0 pruned", facts["messages"])
    assert re.fullmatch(r"\d+ tokens, \d+ % used", facts["limit"])
    assert facts["last prune"] == "never"


def test_documents_have_all_of_them(store: Path) -> None:
    code, out, _ = stats(store, Format.JSON, max_tokens=150)
    found = json.loads(out)
    assert code == ExitCode.OK
    assert found["session_id"] == session_uuid(SESSION)
    assert (found["total_messages"], found["pruned"], found["last_prune"]) == (81, 0, None)
    assert found["context_tokens"] <= found["limit"] <= 150
    # H28: the messages and the declared overhead add up.
    assert sum(found["tokens_by_role"].values()) + found["overhead"] == found["total_tokens"]


def test_a_prune_is_told_with_its_time_and_number(store: Path) -> None:
    pruning = {
        "session_id": SESSION,
        "conversation_id": "c",
        "capture_options": {"derive_ids": True},
        "turns": [
            {
                "turn_id": "p-1",
                "role": "system",
                "content": "",
                "timestamp": "2026-03-02T08:45:00Z",
                "metadata": {"memory": {"keep_last": 10, "state_only": True}},
            }
        ],
    }
    capture(store, pruning)
    _, out, _ = stats(store, Format.JSON)
    found = json.loads(out)
    assert (found["total_messages"], found["pruned"]) == (11, 70)
    assert found["last_prune"] is not None
    assert "last prune        never" not in stats(store)[1]


def test_where_no_window_fits_it_says_so_and_what_is_needed(store: Path) -> None:
    code, out, _ = stats(store, Format.JSON, max_tokens=2)
    found = json.loads(out)
    assert (code, found["in_context"], found["left_out"]) == (ExitCode.OK, 0, 81)
    assert found["percent_used"] == round(100 * found["needed"] / 2, 1) > 100
    out = stats(store, max_tokens=2)[1]
    assert f"no window fits 2 tokens: {found['needed']} are needed\n" in out
    assert f"2 tokens, {found['needed']} are needed\n" in out


def test_a_model_that_is_not_known_is_said_beside_the_figures(store: Path) -> None:
    assert stats(store, model="no-such", max_tokens=8000)[2] == (
        "memory-graph: the model is not known: its tokens are estimated\n"
    )


def test_what_is_not_there_is_5_and_another_strategy_2(store: Path, tmp_path: Path) -> None:
    assert stats(store, session="chat-8")[0] == ExitCode.NOT_POSSIBLE
    code, _, err = stats(tmp_path / "none.db", strategy="summarize")
    assert code == ExitCode.USAGE
    assert "summarize is not supported" in err


def test_the_options_reach_the_command(store: Path) -> None:
    at = terminal()
    asked = ["stats", "--store", str(store), "--session-id", SESSION, "--model", "gpt-4o", "--format", "json"]
    code = app([*PREFIX, *asked, "--strategy", "rolling_window", "--scope", "session"], standalone_mode=False, obj=at)
    found = json.loads(printed(at)[0])
    assert (code, found["strategy"], found["limit"]) == (ExitCode.OK, "rolling_window", 128_000)
    assert found["conversation_id"] is None
