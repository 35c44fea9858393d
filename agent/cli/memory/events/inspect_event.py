"""``inspect``: one DecisionEvent, for people as facts and a tree, as a document as it is stored.

As JSON with ``--verbose`` it is the very bytes that the store sent; without, ``inputs`` is left out, as it is in a
capture's answer (CONTRACT 7). Nothing is added to an event in a document.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.events.asked_event import asked_event
from agent.cli.output_format import Format
from agent.cli.raw_json import decoded, laid_out, without
from agent.cli.terminal import Terminal
from agent.cli.terminal_text import escape, escape_document
from agent.config import Settings

if TYPE_CHECKING:
    from agent.cli.memory.events.stored_event import StoredEvent
    from agent.ruvector.feed import FedEvent


@dataclass(frozen=True, slots=True)
class InspectCommand:
    """One event by its ``execution_ref``, any text (CONTRACT 10). ``verbose``: everything, the inputs too."""

    execution_ref: str
    verbose: bool

    interrupted = "interrupted"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Read and print. Raises StoreNotFound where the store has no such event."""
        settings = Settings.from_env(invocation.settings())
        check_embedded_store(settings.store)
        with closing(store_client(settings)) as client:
            fed = asked_event(client.reads, self.execution_ref, shown=True)
        if invocation.format is Format.TABLE:
            self._show(fed, invocation.terminal)
        else:
            text = decoded(fed.text)
            invocation.print_json((text if self.verbose else _without_inputs(text)).encode())
        return ExitCode.OK

    def _show(self, fed: FedEvent, terminal: Terminal) -> None:
        # Late: pydantic and Rich are for people, and a script that asks for JSON does not wait for them.
        from agent.cli.memory.drawings.graph_tree import Canvas, graph_tree
        from agent.cli.memory.events.event_facts import event_facts
        from agent.cli.memory.events.stored_event import StoredEvent
        from agent.cli.result import facts_table

        stored = StoredEvent.of(fed)
        terminal.show(facts_table(event_facts(stored), encoding=terminal.encoding))
        has_tree = bool(stored.graph.nodes or stored.graph.edges or stored.turns)
        if has_tree:
            terminal.show("", graph_tree(stored.graph, stored.turns, Canvas(terminal.width, terminal.encoding)))
        if self.verbose:
            _print_lines(terminal, _graph_lines(stored))
        if self.verbose or not has_tree:
            text = decoded(fed.text)
            shown = _without_graph(text, stored) if self.verbose else text
            terminal.plain(f"\nevent\n{escape_document(laid_out(shown), terminal.encoding)}\n")


def _without_inputs(text: str) -> str:
    # A bare DecisionEvent stands for its envelope (CONTRACT 10).
    return without(without(text, "payload", "inputs"), "inputs")


def _without_graph(text: str, stored: StoredEvent) -> str:
    """``text`` without nodes and edges that stand above it one by one; those that could not be read stay."""
    for name, entries in (("nodes_created", stored.graph.nodes), ("edges_created", stored.graph.edges)):
        listed = stored.outputs.get(name)
        if isinstance(listed, list) and len(listed) == len(entries):
            path = ("outputs", name) if stored.event is stored.envelope else ("payload", "outputs", name)
            text = without(text, *path)
    return text


def _graph_lines(stored: StoredEvent) -> Iterator[str]:
    if stored.graph.nodes:
        yield from ("", "nodes")
    for node in stored.graph.nodes:
        turn = "" if node.turn_index is None else f"  [{node.turn_index}]"
        yield f"{node.node_id}  {node.node_type}{turn}"
    if stored.graph.edges:
        yield from ("", "edges")
    for edge in stored.graph.edges:
        yield f"{edge.edge_id}  {edge.edge_type}  {edge.from_node_id} -> {edge.to_node_id}"


def _print_lines(terminal: Terminal, lines: Iterator[str]) -> None:
    terminal.plain("".join(f"{escape(line, terminal.encoding)}\n" for line in lines))
