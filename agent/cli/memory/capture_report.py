"""A capture's answer for people: what was stored and how it is found again, then its graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from agent.cli.memory.answer import CaptureAnswer
from agent.cli.terminal_text import escape


def summary(answer: CaptureAnswer, *, encoding: str) -> Table:
    """The answer without its graph, a line for each fact."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    # An id is folded rather than cut: a part of one finds nothing.
    table.add_column(overflow="fold")
    for name, value in _facts(answer):
        table.add_row(name, Text(escape(value, encoding)))
    return table


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
    yield "graph", f"{len(output.nodes_created)} nodes, {len(output.edges_created)} edges ({_edge_types(answer)})"
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


def _edge_types(answer: CaptureAnswer) -> str:
    counts = Counter(edge.edge_type for edge in answer.output.edges_created)
    return ", ".join(f"{count} {edge_type}" for edge_type, count in counts.items())


def _warnings(answer: CaptureAnswer) -> Iterator[tuple[str, str]]:
    lines: Sequence[str] = [f"{warning.path}  {warning.rule}" for warning in answer.warnings]
    for place, line in enumerate(lines):
        yield "warnings" if place == 0 else "", line
