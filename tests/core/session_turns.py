"""Turns of a session as readers see them, made by hand and by Hypothesis; ``naive_*``: their order by the contract's
own words, each rule a loop that looks everything up again."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from agent.core.paths import SessionPaths
from agent.core.turn import SessionTurn

ONE, TWO, THREE = (f"c{number}c{number}c{number}c{number}-0000-4000-8000-00000000000{number}" for number in (1, 2, 3))
MISSING = "99999999-0000-4000-8000-0000000000ab"
ROLES = ("user", "assistant", "system", "tool")
# What is of the contract's shape, and what is not.
RESETS = (True, "all", False, None, 1, 5, "true", "All", [], {"all": True})
COUNTS = (0, 1, 2, 3, 2.0, 10**30, -1, 1.5, -0.5, True, False, "2", None, [])


def turn_id(number: int) -> str:
    return (
        f"00000000-0000-4000-a000-0000000000{number:02x}" if number < 256 else f"{number:08x}-0000-4000-a000-{1:012x}"
    )


def turn(
    number: int,
    *,
    after: int | str | None = None,
    conversation: str = ONE,
    role: str = "user",
    content: str | None = "words",
    seq: int | None = None,
    erased: bool = False,
    **memory: Any,
) -> SessionTurn:
    """Turn ``number``, which continues the turn ``after``; what is left goes into its ``metadata.memory``."""
    fields: dict[str, Any] = {"metadata": {"memory": memory}} if memory else {}
    return SessionTurn(
        turn_id=turn_id(number),
        seq=number if seq is None else seq,
        conversation_id=conversation,
        parent_turn_id=turn_id(after) if isinstance(after, int) else after,
        role=role,
        content=None if erased else content,
        erased=erased,
        fields=fields,
    )


def state_only(number: int, *, after: int | str | None = None, **more: Any) -> SessionTurn:
    return turn(number, after=after, role="system", content="", state_only=True, **more)


def chain(*turns: SessionTurn) -> tuple[SessionTurn, ...]:
    """``turns``, each of which continues the one before it."""
    before = (None, *(each.turn_id for each in turns))
    return tuple(_continuing(each, parent) for each, parent in zip(turns, before, strict=False))


def _continuing(each: SessionTurn, parent: str | None) -> SessionTurn:
    names = ("turn_id", "seq", "conversation_id", "role", "content", "erased", "fields")
    return SessionTurn(parent_turn_id=parent, **{name: getattr(each, name) for name in names})


@st.composite
def sessions(draw: st.DrawFn, most: int = 9, conversations: Sequence[str] = (ONE, TWO, THREE)) -> list[SessionTurn]:
    """A session in any order: any parents, rings and absent ones too, and any ``metadata.memory``."""
    count = draw(st.integers(0, most))
    seqs = draw(st.permutations(range(1, count + 1)))
    named = st.none() | st.sampled_from([turn_id(each) for each in range(count)] or [MISSING]) | st.just(MISSING)
    leaves = named | named.map(lambda name: name and name.upper()) | st.sampled_from([17, "", "no id", [], True])
    memory = st.fixed_dictionaries(
        {},
        optional={
            "reset": st.sampled_from(RESETS),
            "keep_last": st.sampled_from(COUNTS),
            "leaf": leaves,
            "state_only": st.sampled_from([True, True, False, 1, None]),
        },
    )
    return [
        turn(
            place,
            after=draw(named),
            conversation=draw(st.sampled_from(conversations)),
            role=draw(st.sampled_from([*ROLES, "system", "robot", ""])),
            content=draw(st.sampled_from(["", "words"])),
            seq=seqs[place],
            erased=draw(st.sampled_from([False, False, False, True])),
            **draw(st.just({}) | memory),
        )
        for place in range(count)
    ]


def naive_history(
    turns: Sequence[SessionTurn], conversation: str | None = None, leaf: str | None = None
) -> list[SessionTurn]:
    return naive_shown(naive_path(turns, conversation, leaf))


def naive_path(
    turns: Sequence[SessionTurn], conversation: str | None = None, leaf: str | None = None
) -> list[SessionTurn]:
    parents = naive_parents(turns)
    if leaf is not None:
        ends = [leaf]
    elif conversation is not None:
        ends = [naive_leaf(turns, conversation)]
    else:
        ends = [naive_leaf(turns, each) for each in sorted({turn.conversation_id for turn in turns})]
    paths = [[find(turns, name) for name in reversed(way_up(end, parents))] for end in ends]
    merged: list[SessionTurn] = []
    while any(paths):
        first = min((path[0] for path in paths if path), key=lambda turn: turn.seq)
        merged.append(first)
        # A merged history shows a turn once.
        paths = [[turn for turn in path if turn is not first] for path in paths]
    return merged


def naive_parents(turns: Sequence[SessionTurn]) -> dict[str, str | None]:
    """In the order in which they came: a parent that would make a turn its own ancestor counts as none."""
    parents: dict[str, str | None] = {}
    names = {turn.turn_id for turn in turns}
    for turn in sorted(turns, key=lambda turn: turn.seq):
        parents[turn.turn_id] = turn.parent_turn_id
        if turn.parent_turn_id is not None and turn.turn_id in way_up(turn.parent_turn_id, parents):
            parents[turn.turn_id] = None
    return {name: parent if parent in names else None for name, parent in parents.items()}


def way_up(name: str | None, parents: dict[str, str | None]) -> list[str]:
    """``name`` and what is above it; a ring is walked once."""
    way: list[str] = []
    while name is not None and name not in way:
        way.append(name)
        name = parents.get(name)
    return way


def naive_leaf(turns: Sequence[SessionTurn], conversation: str) -> str:
    own = [turn for turn in turns if turn.conversation_id == conversation]
    parents = naive_parents(turns)
    continued = {parents[turn.turn_id] for turn in own}
    leaf = max((turn for turn in own if turn.turn_id not in continued), key=lambda turn: turn.seq)
    for carrier in sorted(own, key=lambda turn: turn.seq, reverse=True):
        named = str(memory_of(carrier).get("leaf")).lower()
        if carrier.seq >= leaf.seq and any(turn.turn_id == named for turn in turns):
            return named
    return leaf.turn_id


def naive_shown(path: Sequence[SessionTurn]) -> list[SessionTurn]:
    seen: list[SessionTurn] = []
    for turn in path:
        memory = memory_of(turn)
        if memory.get("reset") is True:
            seen = [each for each in seen if each.role == "system"]
        if memory.get("reset") == "all":
            seen = []
        if "keep_last" in memory and repr(memory["keep_last"]) in {"0", "1", "2", "3", "2.0", str(10**30)}:
            messages = [each for each in seen if each.role != "system"]
            newest = messages[max(0, len(messages) - int(memory["keep_last"])) :]
            seen = [each for each in seen if each.role == "system" or each in newest]
        is_empty = turn.content == "" or turn.erased
        if not (turn.role == "system" and is_empty and memory.get("state_only") is True):
            seen.append(turn)
    return seen


def memory_of(turn: SessionTurn) -> dict[str, Any]:
    return dict(turn.fields.get("metadata", {}).get("memory", {}))


def find(turns: Sequence[SessionTurn], name: str) -> SessionTurn:
    return next(turn for turn in turns if turn.turn_id == name)


def conversations(turns: Sequence[SessionTurn]) -> tuple[str, ...]:
    """The conversations of a session, in the order of their first turns."""
    return tuple(SessionPaths.of(turns).leaves)


def current_leaf(turns: Sequence[SessionTurn], conversation_id: str) -> SessionTurn | None:
    """The turn that a conversation ends with now; None where it has no turn."""
    paths = SessionPaths.of(turns)
    leaf = paths.leaves.get(conversation_id)
    return None if leaf is None else paths.turns[leaf]
