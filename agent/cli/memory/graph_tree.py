"""The graph of one capture as a tree for people: session, turns in order, the calls of each and where they return.

Nodes and links come from the answer's nodes and edges alone; what a turn says comes from the bytes that were sent.
Every foreign text is escaped and cut to the width, so a line is a line whatever it holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text
from rich.tree import Tree

from agent.cli.memory.answer import Output
from agent.cli.memory.turns_shown import ShownCall, ShownTurn
from agent.cli.terminal_text import preview

_STYLES: Final = {"system": "magenta", "user": "bold green", "assistant": "bold cyan", "tool": "yellow"}
_ROLE_WIDTH: Final = 9
# What Rich draws before a label at each depth.
_GUIDE: Final = 4
# So much of a text is shown even where links leave no room.
_LEAST_TEXT: Final = 12


@dataclass(frozen=True, slots=True)
class Canvas:
    """What is drawn on: ``width`` in cells, ``encoding`` of the stream."""

    width: int
    encoding: str


@dataclass(frozen=True, slots=True)
class _Links:
    """The edges of a capture, as each turn needs them. Turns are known by their place in the capture."""

    places: dict[str, int]
    """Turn node id to place."""
    caller: dict[str, int]
    """Invocation node id to the place of the turn that invokes it."""
    invoked: dict[str, list[str]]
    """Turn node id to its invocations, in order."""
    follows: dict[str, str]
    answers: dict[str, str]
    """Turn node id to the turn that it responds to."""
    results: dict[str, list[str]]
    """Tool turn node id to the invocations whose results it holds."""
    returned: dict[str, list[int]]
    """Invocation node id to the places of the turns that hold its result."""

    @classmethod
    def of(cls, output: Output) -> _Links:
        """Sort the edges of ``output`` by what they link."""
        turns = {edge.from_node_id for edge in output.edges_created if edge.edge_type == "belongs_to"}
        places = {
            node.node_id: node.turn_index
            for node in output.nodes_created
            if node.node_id in turns and node.turn_index is not None
        }
        links = cls(places, {}, defaultdict(list), {}, {}, defaultdict(list), defaultdict(list))
        for edge in output.edges_created:
            links._add(edge.edge_type, edge.from_node_id, edge.to_node_id)
        return links

    def _add(self, edge_type: str, source: str, target: str) -> None:
        if edge_type == "follows":
            self.follows[source] = target
        elif edge_type == "invokes":
            self.invoked[source].append(target)
            self.caller.setdefault(target, self.places[source])
        elif edge_type == "responds_to" and target in self.places:
            self.answers[source] = target
        elif edge_type == "responds_to":
            self.results[source].append(target)
            self.returned[target].append(self.places[source])


def graph_tree(output: Output, turns: Sequence[ShownTurn], canvas: Canvas) -> Tree:
    """The tree of a capture's ``output``; ``turns`` are its turns as sent, by their place."""
    links = _Links.of(output)
    tree = Tree(Text.assemble(("session ", "bold"), output.session_id), guide_style="dim", highlight=False)
    number_width = len(str(len(turns)))
    before: str | None = None
    for node_id, place in links.places.items():
        turn = turns[place]
        head = Text.assemble(
            (f"#{place}".ljust(number_width + 2), "dim"), (turn.role.ljust(_ROLE_WIDTH), _STYLES[turn.role])
        )
        notes = list(_notes(links, node_id, before, turn))
        branch = tree.add(_line(head, turn.content, notes, canvas, depth=1))
        for invocation_id in links.invoked.get(node_id, ()):
            branch.add(_call(turn.calls[invocation_id], links.returned.get(invocation_id, []), canvas))
        before = node_id
    return tree


def _notes(links: _Links, node_id: str, before: str | None, turn: ShownTurn) -> Iterator[str]:
    """What the edges of a turn say beyond "it follows the turn above"."""
    parent = links.follows.get(node_id)
    if parent is not None and parent != before:
        place = links.places.get(parent)
        yield f"follows #{place}" if place is not None else "follows an earlier capture"
    if parent is None and before is not None and links.follows:
        yield "a new root"
    if node_id in links.answers:
        yield f"answers #{links.places[links.answers[node_id]]}"
    for invocation_id in links.results.get(node_id, ()):
        caller = links.caller.get(invocation_id)
        yield f"result for #{caller}" if caller is not None else "result for an earlier capture"
    if turn.content == "" and not turn.calls:
        yield "no text"


def _call(call: ShownCall, returned: Sequence[int], canvas: Canvas) -> Text:
    places = ", ".join(f"#{place}" for place in returned)
    return _line(
        Text.assemble(("calls", "yellow")),
        call.text(),
        [f"result in {places}" if places else "no result"],
        canvas,
        depth=2,
    )


def _line(head: Text, text: str, notes: Sequence[str], canvas: Canvas, *, depth: int) -> Text:
    """One line: what it is, what it says as far as there is room, and its links at the end."""
    tail = "".join(f"  [{note}]" for note in notes)
    room = canvas.width - depth * _GUIDE - cell_len(head.plain) - cell_len(tail) - 1
    line = head.copy()
    shown = preview(text, max(room, _LEAST_TEXT), canvas.encoding)
    if shown:
        line.append(" " + shown)
    line.append(tail, "dim")
    line.no_wrap = True
    line.overflow = "crop"
    return line
