"""The graph of one capture as a tree for people: session, turns in order, the calls of each and where they return.

Nodes and links come from the stored nodes and edges alone; what a turn says comes from the turns that were captured.
A turn is numbered by its place in them, ``[0]``, as in the JSON paths; ``#1`` is a ``seq``, which only a session has.
Every foreign text is escaped and cut to the width, so a line is a line whatever it holds. What a damaged event lacks
is said where it is missing, and what has no place in the tree is counted at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from rich.cells import cell_len
from rich.text import Text
from rich.tree import Tree

from agent.cli.memory.drawings.graph_links import GraphLinks
from agent.cli.memory.drawings.graph_parts import GraphParts
from agent.cli.memory.sessions.history_words import history_words
from agent.cli.terminal_text import preview
from agent.recall.drawings.shown_turn import ShownCall, ShownTurn

_STYLES: Final = {"system": "magenta", "user": "bold green", "assistant": "bold cyan", "tool": "yellow"}
_ROLE_WIDTH: Final = 9
# What Rich draws before a label at each depth.
_GUIDE: Final = 4
# So much of a text is shown even where links leave no room.
_LEAST_TEXT: Final = 12
# Of a turn that says no role itself.
_ROLES: Final = {"tool_invocation": "tool"}


@dataclass(frozen=True, slots=True)
class Canvas:
    """What is drawn on: ``width`` in cells, ``encoding`` of the stream."""

    width: int
    encoding: str


def graph_tree(graph: GraphParts, turns: Sequence[ShownTurn], canvas: Canvas) -> Tree:
    """The tree of a capture's ``graph``; ``turns`` are its turns as captured, by their place."""
    links = GraphLinks.of(graph)
    session = preview(graph.session_id, canvas.width - len("session "), canvas.encoding)
    tree = Tree(Text.assemble(("session ", "bold"), session), guide_style="dim", highlight=False)
    number_width = len(str(len(turns) or len(links.places)))
    types = {node.node_id: node.node_type for node in graph.nodes}
    before: str | None = None
    for node_id, place in links.places.items():
        turn = turns[place] if 0 <= place < len(turns) else ShownTurn(None, None, {})
        head = _head(place, turn.role or _ROLES.get(types[node_id], types[node_id]), number_width, canvas)
        notes = list(_notes(links, node_id, before, turn))
        if turns and not 0 <= place < len(turns):
            notes.append("not in the inputs")
        branch = tree.add(_line(head, turn.content or "", notes, canvas, depth=1))
        for line in _calls(links, node_id, place, turn, canvas):
            branch.add(line)
        before = node_id
    shown = set(links.places.values())
    for place, turn in enumerate(turns):
        if place not in shown:
            head = _head(place, turn.role or "?", number_width, canvas)
            tree.add(_line(head, turn.content or "", ["no node"], canvas, depth=1))
    if links.unplaced_nodes or links.unplaced_edges:
        lacks = f"{links.unplaced_nodes} nodes and {links.unplaced_edges} edges have no place in this tree"
        tree.add(_line(Text(lacks, "red"), "", [], canvas, depth=1))
    return tree


def _head(place: int, role: str, number_width: int, canvas: Canvas) -> Text:
    shown = preview(role, _ROLE_WIDTH, canvas.encoding)
    padding = " " * (_ROLE_WIDTH - cell_len(shown))
    return Text.assemble((f"[{place}]".ljust(number_width + 3), "dim"), (shown + padding, _STYLES.get(role, "")))


def _notes(links: GraphLinks, node_id: str, before: str | None, turn: ShownTurn) -> Iterator[str]:
    """What the edges of a turn say beyond "it follows the turn above"."""
    parent = links.follows.get(node_id)
    if parent is not None and parent != before:
        place = links.places.get(parent)
        yield f"follows [{place}]" if place is not None else "follows an earlier capture"
    if parent is None and before is not None and links.follows:
        yield "a new root"
    if node_id in links.answers:
        yield f"answers [{links.places[links.answers[node_id]]}]"
    for invocation_id in links.results.get(node_id, ()):
        caller = links.caller.get(invocation_id)
        yield f"result for [{caller}]" if caller is not None else "result for an earlier capture"
    if turn.erased:
        yield "erased"
    elif turn.is_state_only:
        yield "state only"
    elif turn.content == "" and node_id not in links.invoked:
        yield "no text"
    yield from history_words(turn.memory, partial(_leaf, links))


def _leaf(links: GraphLinks, turn_id: str) -> str:
    place = links.places.get(turn_id)
    return turn_id if place is None else f"[{place}]"


def _calls(links: GraphLinks, node_id: str, place: int, turn: ShownTurn, canvas: Canvas) -> Iterator[Text]:
    """The invocations that a turn calls, and those that it names without a link: a graph may be without lineage."""
    for invocation_id in links.invoked.get(node_id, ()):
        places = ", ".join(f"[{returned}]" for returned in links.returned.get(invocation_id, ()))
        yield _call("calls", turn.calls.get(invocation_id), f"result in {places}" if places else "no result", canvas)
    for invocation_id in links.named.get(place, ()):
        if invocation_id not in links.caller and invocation_id not in links.returned:
            yield _call("names", turn.calls.get(invocation_id), "no link", canvas)


def _call(verb: str, call: ShownCall | None, note: str, canvas: Canvas) -> Text:
    return _line(Text(verb, "yellow"), "[unknown]" if call is None else call.text(), [note], canvas, depth=2)


def _line(head: Text, text: str, notes: Sequence[str], canvas: Canvas, *, depth: int) -> Text:
    """One line: what it is, what it says as far as there is room, and its links at the end."""
    tail = "".join(f"  ({note})" for note in notes)
    room = canvas.width - depth * _GUIDE - cell_len(head.plain) - cell_len(tail) - 1
    line = head.copy()
    shown = preview(text, max(room, _LEAST_TEXT), canvas.encoding)
    if shown:
        line.append(" " + shown)
    line.append(tail, "dim")
    line.no_wrap = True
    line.overflow = "crop"
    return line
