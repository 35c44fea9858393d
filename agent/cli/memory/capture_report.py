"""A capture's answer for people: what was stored and how it is found again, then its graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from agent.cli.memory.answer import CaptureAnswer
from agent.cli.memory.graph_parts import GraphParts
from agent.cli.result import facts_table


def summary(answer: CaptureAnswer, *, encoding: str) -> Table:
    """The answer without its graph, a line for each fact."""
    return facts_table(_facts(answer), encoding=encoding)


def _facts(answer: CaptureAnswer) -> Iterator[tuple[str, str]]:
    output, receipt, event = answer.output, answer.receipt, answer.decision_event
    duplicate = "duplicate: nothing was added, the first event answers"
    yield "captured", duplicate if receipt.duplicate else "one new event"
    yield "execution ref", event.execution_ref
    if receipt.event_id is not None:
        yield "event id", receipt.event_id
    if receipt.position is not None:
        yield "position", str(receipt.position)
    yield "session", output.session_id
    yield "conversation", output.conversation_id
    yield "inputs hash", event.inputs_hash
    yield "captured at", event.timestamp
    yield "turns", _turns(answer)
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


def _warnings(answer: CaptureAnswer) -> Iterator[tuple[str, str]]:
    lines: Sequence[str] = [f"{warning.path}  {warning.rule}" for warning in answer.warnings]
    for place, line in enumerate(lines):
        yield "warnings" if place == 0 else "", line
