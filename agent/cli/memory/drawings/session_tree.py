"""The graph of a session as a tree for people: its turns in a flat list, and only branches are indented.

Where a turn has several that continue it, one goes on in the same column: the one that leads to the current history,
else the one in the same conversation, else the one with most turns below. The others come before it, each as a branch
that says what it follows. Beyond a third of the width a branch is indented no further. Nothing recurses: a
conversation may have any length.

Every foreign text is escaped and cut to the width, so a line is a line whatever it holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from agent.cli.memory.drawings.session_links import SessionLinks
from agent.cli.terminal_text import preview
from agent.core.paths import SessionPaths
from agent.core.session_graph import SessionGraph
from agent.core.turn import SessionTurn
from agent.core.walk import children, walk
from agent.recall.drawings.shown_turn import ShownTurn

_STYLES: Final = {"system": "magenta", "user": "bold green", "assistant": "bold cyan", "tool": "yellow"}
_ROLE_WIDTH: Final = 9
# So much of a text is shown even where the notes leave no room.
_LEAST_TEXT: Final = 12
_MARKED: Final = "* "
_UNMARKED: Final = "  "
# Of a branch above, and beside the first line of one.
_GUIDES: Final = ("│   ", "├── ")
_ASCII_GUIDES: Final = ("|   ", "|-- ")


@dataclass(frozen=True, slots=True)
class Canvas:
    """What is drawn on: ``width`` in cells, ``encoding`` of the stream."""

    width: int
    encoding: str


class _Place(NamedTuple):
    """Where a turn is drawn: below which turn, how many branches deep, and whether it begins one."""

    turn: SessionTurn
    parent: SessionTurn | None
    depth: int
    begins_branch: bool


def session_tree(graph: SessionGraph, current: Collection[str], canvas: Canvas) -> Group:
    """The lines of ``graph``; the turns in ``current``, the current history, are marked with ``*``."""
    lines = _Tree(graph, frozenset(current), canvas).lines()
    # In a group: a text of its own would be folded when it is printed.
    return Group(Text("\n", no_wrap=True, overflow="crop").join(lines))


class _Tree:
    """The lines of one tree, from the top down."""

    def __init__(self, graph: SessionGraph, current: frozenset[str], canvas: Canvas) -> None:
        self._session_id = graph.session_id
        self._paths = SessionPaths.of(graph.turns())
        self._links = SessionLinks.of(graph)
        self._below = children(self._paths)
        self._current = current
        self._canvas = canvas
        self._guides = _GUIDES if _holds("".join(_GUIDES), canvas.encoding) else _ASCII_GUIDES
        self._deepest = canvas.width // 3 // len(_GUIDES[0])
        self._number_width = max((len(str(turn.seq)) for turn in self._paths.turns.values()), default=0)

    def lines(self) -> Iterator[Text]:
        """The session, what is drawn of it, then each turn with its calls under it."""
        turns = self._paths.turns.values()
        yield Text.assemble(("session ", "bold"), self._safe(self._session_id))
        yield Text(_summary(len(turns), len(turns) - len(self._below.keys() - {None})), "dim")
        several = len({turn.conversation_id for turn in turns}) > 1
        for place in self._places():
            turn, parent = place.turn, place.parent
            is_titled = several and (parent is None or parent.conversation_id != turn.conversation_id)
            if is_titled:
                head = Text.assemble(_UNMARKED, (self._gutter(place.depth, begins_branch=place.begins_branch), "dim"))
                yield head.append(self._safe(f"conversation {turn.conversation_id}"), "italic")
            yield self._turn(place, is_titled=is_titled)
            yield from self._calls(place)

    def _places(self) -> Iterator[_Place]:
        """The turns from the top down, the branches of a turn before what goes on in its column."""
        onward = self._onward()
        waiting = [_Place(root, None, 0, begins_branch=False) for root in reversed(self._below.get(None, ()))]
        while waiting:
            place = waiting.pop()
            yield place
            following = self._below.get(place.turn.turn_id, ())
            straight = onward.get(place.turn.turn_id)
            if straight is not None:
                waiting.append(_Place(straight, place.turn, place.depth, begins_branch=False))
            depth = place.depth + 1
            waiting += [
                _Place(child, place.turn, depth, begins_branch=True)
                for child in reversed(following)
                if child is not straight
            ]

    def _onward(self) -> Mapping[str, SessionTurn]:
        """By turn, the one that goes on in its column."""
        sizes: dict[str, int] = {}
        leading: set[str] = set()
        onward: dict[str, SessionTurn] = {}
        for turn, leaving in walk(self._paths):
            if not leaving:
                continue
            following = self._below.get(turn.turn_id, ())
            sizes[turn.turn_id] = 1 + sum(sizes[child.turn_id] for child in following)
            if turn.turn_id in self._current or any(child.turn_id in leading for child in following):
                leading.add(turn.turn_id)
            if following:
                onward[turn.turn_id] = max(
                    following,
                    key=lambda child: (
                        child.turn_id in leading,
                        child.conversation_id == turn.conversation_id,
                        sizes[child.turn_id],
                        child.seq,
                    ),
                )
        return onward

    def _turn(self, place: _Place, *, is_titled: bool) -> Text:
        turn = place.turn
        role = preview(turn.role, _ROLE_WIDTH, self._canvas.encoding)
        head = Text.assemble(
            (_MARKED if turn.turn_id in self._current else _UNMARKED, "bold"),
            (self._gutter(place.depth, begins_branch=place.begins_branch and not is_titled), "dim"),
            (f"#{turn.seq}".ljust(self._number_width + 2), "dim"),
            (role + " " * (_ROLE_WIDTH - cell_len(role)), _STYLES.get(turn.role, "")),
        )
        parent_shows = is_titled or turn is self._below[None][0] if place.parent is None else not place.begins_branch
        notes = self._links.notes(turn, parent_shows=parent_shows)
        return self._line(head, turn.content or "", list(notes))

    def _calls(self, place: _Place) -> Iterator[Text]:
        if place.turn.role == "tool":
            return
        gutter = self._gutter(place.depth, begins_branch=False)
        for invocation_id, call in ShownTurn.of(place.turn.fields).calls.items():
            head = Text.assemble(_UNMARKED, (gutter, "dim"), " " * (self._number_width + 2), ("calls", "yellow"))
            yield self._line(head, call.text(), [self._links.result_of(invocation_id)])

    def _gutter(self, depth: int, *, begins_branch: bool) -> str:
        depth = min(depth, self._deepest)
        beside, first = self._guides
        return beside * depth if not begins_branch or depth == 0 else beside * (depth - 1) + first

    def _line(self, head: Text, text: str, notes: Sequence[str]) -> Text:
        """One line: what it is, what it says as far as there is room, and its notes at the end."""
        tail = "".join(f"  ({note})" for note in notes)
        room = self._canvas.width - cell_len(head.plain) - cell_len(tail) - 1
        shown = preview(text, max(room, _LEAST_TEXT), self._canvas.encoding)
        if shown:
            head.append(" " + shown)
        return head.append(tail, "dim")

    def _safe(self, text: str) -> str:
        return preview(text, self._canvas.width, self._canvas.encoding)


def _summary(turns: int, branches: int) -> str:
    counted = "1 turn" if turns == 1 else f"{turns} turns"
    return (
        f"{counted} in {branches} branches, * is the current history"
        if branches > 1
        else f"{counted}, * is the current history"
    )


def _holds(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
