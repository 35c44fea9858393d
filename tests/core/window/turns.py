"""Conversations to cut windows from, made by hand and by Hypothesis, and counters that need no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from agent.core.turn import SessionTurn
from tests.core.call_turns import CONVERSATION, invocation, turn_id


@dataclass(frozen=True)
class Quarters:
    """A quarter of the characters, names and arguments included, and 4 for each message."""

    name: str = "quarters"
    is_exact: bool = True
    overhead: int = 3

    def __call__(self, turn: SessionTurn) -> int:
        named = sum(
            len(str(each.get("tool_name", ""))) + len(str(each.get("arguments", ""))) for each in turn.invocations
        )
        return 4 + (len(turn.content or "") + named + 3) // 4


@dataclass(frozen=True)
class Failing(Quarters):
    """Quarters, but it does not count the messages that say ``word``: it raises, or gives ``answer``."""

    word: str = "poison"
    answer: Any = None

    def __call__(self, turn: SessionTurn) -> int:
        if self.word in (turn.content or ""):
            if self.answer is None:
                raise RuntimeError(self.word)
            return self.answer
        return super().__call__(turn)


def said(number: int, role: str, content: str | None = "words", *invocations: Any, **members: Any) -> SessionTurn:
    """Turn ``number``, which continues the one before it; it names ``invocations``. None as content: erased."""
    fields: dict[str, Any] = {"role": role, "content": content, **members}
    if invocations:
        fields["tool_invocations"] = [invocation(each) if isinstance(each, str) else each for each in invocations]
    parent = turn_id(number - 1) if number > 1 else None
    return SessionTurn(turn_id(number), number, CONVERSATION, parent, role, content, content is None, fields)


def numbered(*turns: tuple[Any, ...]) -> list[SessionTurn]:
    """The turns ``(role, content, *calls)``, in their order from 1."""
    return [said(number, *each) for number, each in enumerate(turns, 1)]


def user(length: int = 40) -> tuple[str, str]:
    return ("user", _text(length))


def assistant(length: int = 40, *calls: Any) -> tuple[Any, ...]:
    return ("assistant", _text(length), *calls)


def tool(length: int, *results: Any) -> tuple[Any, ...]:
    return ("tool", _text(length), *results)


def system(length: int = 40) -> tuple[str, str]:
    return ("system", _text(length))


def _text(length: int) -> str:
    return ("some words of a message " * (length // 24 + 1))[:length]


def with_tools(exchanges: int, length: int = 400) -> list[SessionTurn]:
    """A system turn, and exchanges of a user, a call, its result and an answer."""
    turns: list[tuple[Any, ...]] = [system()]
    for number in range(exchanges):
        name = f"call{number}"
        turns += [user(length), assistant(length // 4, name), tool(length, name), assistant(length)]
    return numbered(*turns)


def rows(exchanges: int, length: int = 400) -> list[SessionTurn]:
    """Exchanges of a user and an answer, of ``length`` characters each."""
    return numbered(*[user(length), assistant(length)] * exchanges)


def natively(invocations: Sequence[str], native: str) -> list[dict[str, Any]]:
    """Calls with ids of their own and one native string, as providers that reuse call ids send them."""
    return [invocation(each, native) for each in invocations]


_LENGTHS = st.sampled_from([0, 1, 5, 12, 30, 30, 60, 90, 200, 400])


@st.composite
def any_order(draw: st.DrawFn, most: int = 14) -> list[SessionTurn]:
    """Any order of roles: parallel calls, reused native ids, results without a call, open calls, erased turns."""
    count = draw(st.integers(0, most))
    made: list[tuple[str, str | None]] = []
    turns: list[SessionTurn] = []
    for number in range(1, count + 1):
        role = draw(st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "user", "system"]))
        content = _text(draw(_LENGTHS))
        named: list[Any] = []
        if role == "tool":
            known = st.sampled_from(made[-4:] or [("none", None)])
            named = [invocation(*each) for each in draw(st.lists(known, max_size=2))]
        elif role == "assistant" or (role == "user" and draw(st.integers(0, 9)) == 0):
            for place in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
                # An id that comes again, or a native string that does.
                name = draw(st.sampled_from([f"{number}-{place}"] * 4 + [each for each, _ in made[-3:]]))
                native = draw(st.sampled_from([None, None, "call_0", "call_1"]))
                made.append((name, native))
                named.append(invocation(name, native, arguments={"n": number}))
        erased = draw(st.integers(0, 11)) == 0
        extra = draw(_METADATA)
        turns.append(said(number, role, None if erased else content, *named, **extra))
    return turns


@st.composite
def working(draw: st.DrawFn, most: int = 5) -> list[SessionTurn]:
    """Exchanges as agents have them: calls, some of them parallel, all answered but for some at the end."""
    turns: list[tuple[Any, ...]] = [system(draw(_LENGTHS))] if draw(st.booleans()) else []
    for exchange in range(draw(st.integers(0, most))):
        if exchange or draw(st.integers(0, 3)):
            turns.append(user(draw(_LENGTHS)))
        for step in range(draw(st.integers(0, 3))):
            names = [f"{exchange}-{step}-{place}" for place in range(draw(st.integers(1, 3)))]
            calls = natively(names, "call_0") if draw(st.booleans()) else names
            turns.append(assistant(draw(_LENGTHS), *calls))
            if draw(st.integers(0, 5)) == 0:
                turns.append(draw(st.sampled_from([system(20), assistant(20)])))
            together = draw(st.booleans())
            turns += [tool(draw(_LENGTHS), *calls)] if together else [tool(draw(_LENGTHS), call) for call in calls]
        if draw(st.booleans()):
            turns.append(assistant(draw(_LENGTHS)))
    shown = len(turns) - draw(st.sampled_from([0, 0, 1, 2]))
    gone = draw(st.sets(st.integers(0, 12), max_size=2)) if draw(st.integers(0, 2)) == 0 else set()
    return [erased(each) if each.seq in gone else each for each in numbered(*turns[: max(0, shown)])]


def conversations() -> st.SearchStrategy[list[SessionTurn]]:
    """Both."""
    return any_order() | working()


_METADATA = st.sampled_from(
    [{}, {}, {}, {}, {}, {"metadata": {"blocks": [{"type": "thinking", "signature": "EqQB+/a=="}]}}]
)


def without(turns: Sequence[SessionTurn], *numbers: int) -> list[SessionTurn]:
    """``turns`` but those, as a history shows them where they are not on its path."""
    return [each for each in turns if each.seq not in numbers]


def erased(turn: SessionTurn) -> SessionTurn:
    """The skeleton of ``turn``."""
    fields = {name: value for name, value in turn.fields.items() if name not in {"content", "metadata"}}
    return replace(turn, content=None, erased=True, fields=fields)
