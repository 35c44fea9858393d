"""How a command ends, whatever happens in it."""

import json
from collections.abc import Callable

import pytest
import yaml

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.output_format import Format
from agent.errors import (
    AgentError,
    ConfigurationError,
    Problem,
    RateLimitExceeded,
    StoreConnectionError,
    StoreWriteError,
    ValidationError,
)
from tests.cli.streams import Lost, invocation, printed, terminal

REFUSED = ValidationError("2 problems", [Problem("$.turns[0].role", "enum"), Problem("$.a\x1b[2J", "depth")])


def raising(error: BaseException) -> Callable[[Invocation], ExitCode]:
    def command(_: Invocation) -> ExitCode:
        raise error

    return command


def ended(
    error: BaseException, output_format: Format = Format.TABLE, *, debug: bool = False, store: str | None = None
) -> tuple[ExitCode, str, str]:
    at = terminal()
    code = invocation(at, output_format, debug=debug, store=store).run(raising(error), interrupted="interrupted: ...")
    return code, *printed(at)


def test_a_command_ends_with_its_own_code() -> None:
    assert invocation(terminal()).run(lambda _: ExitCode.DIFFERS, interrupted="") == ExitCode.DIFFERS


def test_every_problem_is_a_line_with_its_path_and_rule_and_nothing_acts_on_the_terminal() -> None:
    assert ended(REFUSED) == (
        ExitCode.USAGE,
        "",
        "memory-graph: 2 problems\n  $.turns[0].role  enum\n  $.a\\x1b[2J  depth\n",
    )


@pytest.mark.parametrize("output_format", [Format.JSON, Format.YAML])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (REFUSED, 2),
        (StoreWriteError("refused", upstream_status=500), 1),
        (StoreConnectionError("down"), 1),
        (RateLimitExceeded("slow"), 1),
        (RuntimeError("ours"), 70),
    ],
)
def test_where_results_are_a_document_a_failure_is_one_on_standard_error(
    error: Exception, code: int, output_format: Format
) -> None:
    ended_with, out, err = ended(error, output_format)
    assert (ended_with, out) == (code, "")
    document = json.loads(err) if output_format is Format.JSON else yaml.safe_load(err)
    assert document["success"] is False
    known = error if isinstance(error, AgentError) else None
    assert document["error"]["error_code"] == (known.error_code if known else "INTERNAL_ERROR")
    assert document["error"].get("details", {}) == (known.details if known else {})
    assert document["error"]["timestamp"] == "2026-03-02T08:15:00.000000Z"
    assert len(document["error"]["execution_ref"]) == 36
    assert "\x1b" not in err


@pytest.mark.parametrize("output_format", [Format.JSON, Format.YAML])
def test_a_wrong_option_or_setting_is_the_user_s_mistake_in_a_document_too(output_format: Format) -> None:
    code, _, err = ended(ConfigurationError("--from", "is after --to"), output_format)
    assert code == ExitCode.USAGE
    described = (json.loads(err) if output_format is Format.JSON else yaml.safe_load(err))["error"]
    assert described["error_code"] == "VALIDATION_ERROR"
    assert (described["message"], described["details"]) == ("--from: is after --to", {"variable": "--from"})


def test_a_fault_of_ours_is_one_line_without_its_message() -> None:
    assert ended(RuntimeError("SECRET-71b")) == (
        ExitCode.INTERNAL,
        "",
        "memory-graph: the command failed for a reason of ours; --debug shows where\n",
    )


def test_debug_shows_the_traceback() -> None:
    code, out, err = ended(RuntimeError("why"), debug=True)
    assert (code, out) == (ExitCode.INTERNAL, "")
    assert "Traceback (most recent call last)" in err
    assert "RuntimeError: why" in err
    assert err.endswith("--debug shows where\n")


def test_ctrl_c_is_one_line_that_says_what_is_left_behind() -> None:
    assert ended(KeyboardInterrupt()) == (ExitCode.INTERRUPTED, "", "memory-graph: interrupted: ...\n")


def test_results_that_nobody_reads_end_the_command_with_one_line() -> None:
    at = terminal(stdout=Lost(BrokenPipeError()))

    def command(run: Invocation) -> ExitCode:
        run.print_json(b"{}")
        return ExitCode.OK

    assert invocation(at, Format.JSON).run(command, interrupted="") == ExitCode.CLOSED_PIPE
    assert printed(at)[1] == "memory-graph: the reader of the results closed the pipe\n"


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("./store.db", "embedded:./store.db"),
        ("embedded:x.db", "embedded:x.db"),
        ("https://store.example/a", "https://store.example/a"),
        ("ftp://store.example", "ftp://store.example"),
    ],
)
def test_a_store_is_an_address_or_a_path_and_wins_over_the_environment(given: str, url: str) -> None:
    at = terminal(environ={"RUVECTOR_SERVICE_URL": "http://other", "OTHER": "kept"})
    assert invocation(at, store=given).settings() == {"RUVECTOR_SERVICE_URL": url, "OTHER": "kept"}
    assert invocation(at).settings()["RUVECTOR_SERVICE_URL"] == "http://other"


def test_an_empty_store_is_refused_and_the_option_is_named() -> None:
    at = terminal()
    run = invocation(at, store=" ")
    assert run.run(lambda each: each.settings() and ExitCode.OK, interrupted="") == ExitCode.USAGE
    assert printed(at)[1] == "memory-graph: --store, in place of RUVECTOR_SERVICE_URL: is empty\n"


def test_a_setting_from_the_environment_is_named_as_it_is() -> None:
    error = ConfigurationError("RUVECTOR_SERVICE_URL", "is not a URL")
    assert ended(error)[2] == "memory-graph: RUVECTOR_SERVICE_URL: is not a URL\n"
    assert (
        ended(ConfigurationError("LOG_LEVEL", "must be INFO"), store="x")[2]
        == "memory-graph: LOG_LEVEL: must be INFO\n"
    )
