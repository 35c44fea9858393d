"""A capture's answer for people: what was stored and how it is found again, then its graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from agent.cli.memory.capturing.answer import CaptureAnswer
from agent.cli.memory.capturing.inputs_shown import ShownInputs
from agent.cli.memory.drawings.graph_parts import GraphParts
from agent.cli.memory.events.event_ids import with_native
from agent.cli.memory.kept_fuller import stay_fuller
from agent.cli.result import facts_table


def summary(answer: CaptureAnswer, inputs: ShownInputs, *, encoding: str) -> Table:
    """The answer to ``inputs`` without its graph, a line for each fact."""
    return facts_table(_facts(answer, inputs), encoding=encoding)


def _facts(answer: CaptureAnswer, inputs: ShownInputs) -> Iterator[tuple[str, str]]:
    output, receipt, event = answer.output, answer.receipt, answer.decision_event
    duplicate = "duplicate: nothing was added, the first event answers"
    yield "captured", duplicate if receipt.duplicate else "one new event"
    yield "execution ref", event.execution_ref
    if receipt.event_id is not None:
        yield "event id", receipt.event_id
    if receipt.position is not None:
        yield "position", str(receipt.position)
    yield "session", with_native(output.session_id, inputs.native_session_id)
    yield "conversation", with_native(output.conversation_id, inputs.native_conversation_id)
    yield "inputs hash", event.inputs_hash
    yield "captured at", event.timestamp
    yield "turns", _turns(answer)
    if receipt.turns is not None and receipt.turns.erased:
        yield "erased", _erased(receipt.turns.erased)
    if receipt.kept_fuller:
        yield "kept fuller", stay_fuller(receipt.kept_fuller)
    if output.total_tokens is not None:
        yield "tokens", str(output.total_tokens)
    yield "graph", GraphParts.of(output).counts()
    if event.constraints_applied:
        yield "constraints", ", ".join(event.constraints_applied)
    yield from _warnings(answer)


def _turns(answer: CaptureAnswer) -> str:
    total, counts = answer.output.turn_count, answer.receipt.turns
    if counts is None:
        return str(total)
    shown = f"{total} ({counts.new} new, {counts.known} known"
    shown += f", {counts.revised} revised" if counts.revised else ""
    shown += f", {counts.erased} erased" if counts.erased else ""
    return f"{shown})"


def _erased(count: int) -> str:
    if count == 1:
        return "1 turn was erased before: its content is not stored again"
    return f"{count} turns were erased before: their content is not stored again"


def _warnings(answer: CaptureAnswer) -> Iterator[tuple[str, str]]:
    lines: Sequence[str] = [f"{warning.path}  {warning.rule}" for warning in answer.warnings]
    for place, line in enumerate(lines):
        yield "warnings" if place == 0 else "", line
