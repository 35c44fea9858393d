"""Logs are one JSON object a line, tell no content, and cost a request nothing but time."""

from __future__ import annotations

import io
import json
import logging
import re
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import InternalError, PayloadTooLarge, Problem, RateLimitExceeded, StoreWriteError, ValidationError
from agent.observability.logs import (
    Fields,
    JsonLines,
    configure_logging,
    describe_exception,
    log_event,
    log_failure,
    safe_field,
)
from agent.observability.trace_context import TraceContext
from tests.observability.conftest import RecordedLog

REF = "3f0c9a1e-0000-4000-8000-000000000001"
TRACE = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", sampled=True)
CANARY = "canary my password is hunter2"


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """``error`` as it is after it was raised, from ``cause`` where there is one."""
    try:
        raise error from cause
    except BaseException as caught:  # noqa: BLE001 - what was raised is the result
        return caught


def test_a_line_has_the_field_names_of_cloud_logging(log: RecordedLog) -> None:
    log_event("capture acknowledged", execution_ref=REF, trace=TRACE, project="memory-prod", fields={"turns": 10})
    (entry,) = log.entries()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", entry.pop("time"))
    assert entry == {
        "severity": "INFO",
        "message": "capture acknowledged",
        "execution_ref": REF,
        "trace": f"projects/memory-prod/traces/{TRACE.trace_id}",
        "logging.googleapis.com/trace": f"projects/memory-prod/traces/{TRACE.trace_id}",
        "logging.googleapis.com/spanId": TRACE.span_id,
        "turns": 10,
    }


def test_what_is_not_known_is_absent(log: RecordedLog) -> None:
    log_event("started", trace=TraceContext(TRACE.trace_id, None, sampled=False))
    (entry,) = log.entries()
    assert set(entry) == {"severity", "message", "time", "trace", "logging.googleapis.com/trace"}


@pytest.mark.parametrize(
    ("level", "severity"),
    [(5, "DEFAULT"), (10, "DEBUG"), (20, "INFO"), (25, "INFO"), (30, "WARNING"), (40, "ERROR"), (50, "CRITICAL")],
)
def test_a_level_becomes_a_severity_of_cloud_logging(log: RecordedLog, level: int, severity: str) -> None:
    configure_logging(log, level="NOTSET").setLevel(0)
    logging.getLogger("agent").setLevel(1)
    log_event("event", level=level)
    assert log.entries()[0]["severity"] == severity


def test_lines_below_the_level_are_left_out() -> None:
    log = RecordedLog()
    configure_logging(log, level="ERROR")
    log_event("event", level=logging.WARNING)
    log_event("failure", level=logging.ERROR)
    assert log.messages() == ["failure"]


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="LOUD"):
        configure_logging(io.StringIO(), level="LOUD")


def test_a_second_configuration_replaces_the_first_and_the_root_logger_is_left_alone() -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    first, second = RecordedLog(), RecordedLog()
    configure_logging(first, level="INFO")
    foreign = logging.NullHandler()
    logging.getLogger("agent").addHandler(foreign)
    configure_logging(second, level="INFO")
    log_event("event")
    assert (first.messages(), second.messages()) == ([], ["event"])
    assert (root.level, list(root.handlers)) == before
    assert foreign in logging.getLogger("agent").handlers
    assert not logging.getLogger("agent").propagate


def test_lines_of_threads_never_interleave(log: RecordedLog) -> None:
    together = threading.Barrier(8)

    def write(thread: int) -> None:
        together.wait()
        for number in range(200):
            log_event("event", fields={"thread": thread, "number": number})

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(entry["thread"], entry["number"]) for entry in log.entries()} == {
        (t, n) for t in range(8) for n in range(200)
    }
    # One write call a line: what the kernel keeps whole when several processes share a pipe.
    assert len(log.writes) == 1600
    assert all(text.count("\n") == 1 and text.endswith("\n") for text in log.writes)


def test_the_arguments_of_a_formatted_message_are_left_out(log: RecordedLog) -> None:
    logging.getLogger("agent.elsewhere").warning("turn %s was odd", CANARY)
    logging.getLogger("agent.elsewhere").error(ValueError(CANARY))
    assert log.messages() == ["turn %s was odd", "ValueError"]
    assert "canary" not in log.text


def test_an_exception_logged_by_anybody_is_described_without_its_message(log: RecordedLog) -> None:
    try:
        int(CANARY)
    except ValueError:
        logging.getLogger("agent.elsewhere").exception("it went wrong")
    logging.getLogger("agent.elsewhere").error("nothing is being handled", exc_info=True)
    described, without = log.entries()
    assert described["exceptions"][0]["type"] == "ValueError"
    assert "exceptions" not in without
    assert "canary" not in log.text


def test_a_failure_tells_types_and_frames_of_the_whole_chain_and_no_message(log: RecordedLog) -> None:
    foreign = raised(KeyError(CANARY), raised(UnicodeDecodeError("utf-8", CANARY.encode(), 0, 1, CANARY)))
    foreign.add_note(CANARY)
    error = raised(InternalError("the capture failed"), foreign)
    assert isinstance(error, InternalError)
    log_failure(error, execution_ref=REF, trace=TRACE)
    (entry,) = log.entries()
    assert (entry["severity"], entry["message"]) == ("ERROR", "request failed")
    assert (entry["error_code"], entry["status"], entry["execution_ref"]) == ("INTERNAL_ERROR", 500, REF)
    assert [each["type"] for each in entry["exceptions"]] == [
        "agent.errors.InternalError",
        "KeyError",
        "UnicodeDecodeError",
    ]
    assert all(re.search(r"test_logs\.py:\d+:raised$", each["frames"][-1]) for each in entry["exceptions"])
    assert "canary" not in log.text
    assert "the capture failed" not in log.text


def test_a_refusal_tells_its_rules_and_no_frames(log: RecordedLog) -> None:
    problems = [
        Problem("$.turns[0].role", "enum"),
        Problem(f"$.{CANARY}", "required"),
        Problem("$.turns[1].role", "enum"),
    ]
    log_failure(ValidationError(CANARY, problems), execution_ref=REF)
    (entry,) = log.entries()
    assert (entry["severity"], entry["message"], entry["status"]) == ("WARNING", "request refused", 400)
    assert (entry["problems"], entry["rules"]) == (3, ["enum", "required"])
    assert "exceptions" not in entry
    assert "canary" not in log.text


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PayloadTooLarge("too large"), {"status": 413, "problems": 0, "rules": []}),
        (RateLimitExceeded("later"), {"status": 429, "error_code": "RATE_LIMIT_EXCEEDED"}),
        (StoreWriteError("no", upstream_status=422), {"status": 502, "upstream_status": 422}),
    ],
)
def test_what_a_failure_knows_in_numbers_is_told(log: RecordedLog, error: Any, told: dict[str, Any]) -> None:
    log_failure(error, execution_ref=REF)
    assert told.items() <= log.entries()[0].items()


def test_without_configuration_an_exception_does_not_leak_through_the_last_resort(capsys: Any) -> None:
    logger = logging.getLogger("agent")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    logger.propagate = False
    log_event("unexpected", level=logging.ERROR, error=raised(ValueError(CANARY)))
    assert capsys.readouterr().err == "unexpected\n"


class BrokenStream(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError(CANARY)


@pytest.mark.parametrize("stream", [BrokenStream(), io.TextIOWrapper(io.BytesIO(), encoding="ascii")])
def test_a_broken_or_closed_stream_costs_the_line_and_nothing_else(stream: Any, capsys: Any) -> None:
    stream.close()
    handler = configure_logging(stream, level="INFO")
    log_event("event")
    log_failure(InternalError("no"), execution_ref=REF)
    assert handler.lost == 2
    assert capsys.readouterr() == ("", "")


def test_a_stream_of_any_encoding_takes_what_is_not_ascii() -> None:
    raw = io.BytesIO()
    with io.TextIOWrapper(raw, encoding="ascii") as stream:
        configure_logging(stream, level="INFO")
        log_event("größer")
        log_event("half of a pair \ud83d")
        written = raw.getvalue()
    assert [json.loads(line)["message"] for line in written.splitlines()] == ["größer", "half of a pair \ud83d"]


@pytest.mark.parametrize(
    "value", [0, -5, 2**63 - 1, True, 1.5, "", REF, "RUVECTOR_WRITE_ERROR", "$.turns[3].role", ("a", "b"), ()]
)
def test_a_number_a_boolean_and_a_token_are_told(value: Any) -> None:
    assert safe_field(value) == (value if value != "" else "<str>")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (CANARY, "<str>"), ('{"a":1}', "<str>"), ("a\n", "<str>"), ("größe", "<str>"), ("x" * 201, "<str>"),
        (2**63, "<int>"), (float("nan"), "<float>"), (float("inf"), "<float>"), (None, "<NoneType>"),
        ({"a": CANARY}, "<dict>"), ([1], "<list>"), (b"x", "<bytes>"), (("a", CANARY), "<tuple>"), ((1,), "<tuple>"),
    ],
)  # fmt: skip
def test_anything_else_is_told_by_its_type_alone(value: Any, told: str) -> None:
    assert safe_field(value) == told


def test_fields_under_one_name_are_told_each_as_it_may(log: RecordedLog) -> None:
    memory = Fields(turns=2, keys=("order_id",), text=CANARY, inner=Fields(ok=True, mapping={CANARY: 1}))
    log_event("event", fields={"memory": memory})
    assert log.entries()[0]["memory"] == {
        "turns": 2,
        "keys": ["order_id"],
        "text": "<str>",
        "inner": {"ok": True, "mapping": "<dict>"},
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.text(), st.dictionaries(st.text(), json_values, max_size=5))
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_logged_no_line_is_lost_and_each_is_json(
    lines: JsonLines, message: str, fields: dict[str, Any]
) -> None:
    log = RecordedLog()
    handler = configure_logging(log, level="INFO")
    log_event(message, fields=fields)
    (entry,) = log.entries()
    assert handler.lost == 0
    assert (entry["severity"], entry["message"]) == ("INFO", message[:200])
    assert all(name in entry for name in fields)


def test_a_field_does_not_replace_what_a_line_says_of_itself(log: RecordedLog) -> None:
    log_event("event", execution_ref=REF, fields={"severity": "DEBUG", "message": "other", "execution_ref": "other"})
    (entry,) = log.entries()
    assert (entry["severity"], entry["message"], entry["execution_ref"]) == ("INFO", "event", REF)


def test_a_cycle_of_causes_ends() -> None:
    first, second = ValueError(CANARY), TypeError(CANARY)
    first.__cause__, second.__cause__ = second, first
    first.__context__ = first
    assert [each["type"] for each in describe_exception(first)] == ["ValueError", "TypeError"]


def test_a_cause_hidden_by_from_none_is_told_by_its_type() -> None:
    try:
        try:
            int(CANARY)
        except ValueError:
            raise InternalError("no") from None
    except InternalError as caught:
        described = describe_exception(caught)
    assert [each["type"] for each in described] == ["agent.errors.InternalError", "ValueError"]


def test_the_members_of_a_group_are_told() -> None:
    group = raised(ExceptionGroup(CANARY, [KeyError(CANARY), OSError(CANARY)]))
    assert [each["type"] for each in describe_exception(group)] == ["ExceptionGroup", "KeyError", "OSError"]


def test_a_long_chain_and_a_deep_stack_are_cut() -> None:
    error: BaseException = ValueError()
    for _ in range(100):
        error = raised(RuntimeError(), error)

    def deep(levels: int) -> None:
        if levels == 0:
            raise error
        deep(levels - 1)

    with pytest.raises(RuntimeError) as caught:
        deep(200)
    described = describe_exception(caught.value)
    assert len(described) == 8
    assert len(described[0]["frames"]) == 32
    # The innermost frames are the ones that tell.
    assert described[0]["frames"][-1].endswith(":raised")


def test_a_recursion_error_is_described() -> None:
    def endless() -> None:
        endless()

    with pytest.raises(RecursionError) as caught:
        endless()
    (described,) = describe_exception(caught.value)
    assert (described["type"], len(described["frames"])) == ("RecursionError", 32)
