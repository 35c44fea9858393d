"""Calls and their results as every provider wants them: the results right behind the calls that they answer.

A window has each exchange whole; that between a call and its result something else was said is common, and no provider
takes it. Calls that follow one another are one answer of the model: their results stand behind the last. Calls whose
results may still come end the list. What half an exchange there is goes: results without a call, calls without a
result that are not the end. A call that was answered twice has one result, with both texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from agent.core.pairs import Call, Place, named_invocations
from agent.core.turn import SessionTurn
from agent.formats.prompt_turn import prompt_turn, with_fields

_SILENT: Final = ("tool", "system")


class Ordered(NamedTuple):
    """``turns`` in an order that providers take; ``left_out`` are the ids of those that have no place in it."""

    turns: list[SessionTurn]
    left_out: list[str]


def in_order(turns: Sequence[SessionTurn], pairs: Mapping[Place, Call]) -> Ordered:
    """``turns``, none of them erased, with results behind their calls. Linear in turns and invocations."""
    return _Exchanges(turns).ordered(pairs)


class _Group:
    """Calling turns that nothing but the system interrupts, and the results of their calls."""

    def __init__(self) -> None:
        self.turns: list[SessionTurn] = []
        self.calls: set[Place] = set()
        self.results: list[SessionTurn] = []
        # Which of the results answers a call.
        self.answered: dict[Place, int] = {}


class _Exchanges:
    def __init__(self, turns: Sequence[SessionTurn]) -> None:
        self._turns = turns
        self._groups: dict[int, _Group] = {}
        self._group_of: dict[str, tuple[int, int]] = {}
        self._left_out: list[str] = []
        open_: _Group | None = None
        for place, turn in enumerate(turns):
            calls = set(_calls(turn))
            if calls:
                if open_ is None:
                    open_ = self._groups[place] = _Group()
                    first = place
                open_.turns.append(turn)
                open_.calls |= calls
                self._group_of[turn.turn_id] = (first, place)
            elif turn.role != "system":
                open_ = None

    def ordered(self, pairs: Mapping[Place, Call]) -> Ordered:
        for place, turn in enumerate(self._turns):
            if turn.role == "tool":
                self._answer(turn, place, pairs)
        end = self._end()
        found: list[SessionTurn] = []
        for place, turn in enumerate(self._turns):
            group = self._groups.get(place)
            if group is not None:
                is_open = place >= end and bool(group.calls - group.answered.keys())
                if is_open:
                    # The answers will come behind the list: what the system says meanwhile stands before the calls.
                    found += (each for each in self._turns[place:] if each.role == "system")
                found += self._kept(group, is_open=is_open)
                found += group.results
                if is_open:
                    break
            elif turn.role != "tool" and turn.turn_id not in self._group_of:
                found.append(turn)
        return Ordered(found, self._left_out)

    def _end(self) -> int:
        """The place of the group whose calls may still be answered; behind the list where there is none."""
        places = reversed(range(len(self._turns)))
        last = next((place for place in places if self._turns[place].role not in _SILENT), None)
        if last is None or self._turns[last].turn_id not in self._group_of:
            return len(self._turns)
        return self._group_of[self._turns[last].turn_id][0]

    def _answer(self, turn: SessionTurn, place: int, pairs: Mapping[Place, Call]) -> None:
        """Put the result behind its call's group: behind each of them, where its calls are of several."""
        answers: dict[int, dict[int, Place]] = {}
        told: tuple[_Group, int] | None = None
        for named, _, _ in named_invocations(turn):
            call = pairs.get(named)
            first, caller = self._group_of.get("" if call is None else call.place.turn_id, (-1, -1))
            if call is None or not 0 <= caller < place or call.place not in self._groups[first].calls:
                continue
            group = self._groups[first]
            if call.place in group.answered:
                told = group, group.answered[call.place]
            else:
                group.answered[call.place] = len(group.results) + len(answers.get(first, ()))
                answers.setdefault(first, {})[named.number] = call.place
        if answers:
            self._put(turn, answers)
        elif told is not None:
            self._add_text(*told, turn)
        else:
            self._left_out.append(turn.turn_id)

    def _put(self, turn: SessionTurn, answers: Mapping[int, Mapping[int, Place]]) -> None:
        """Put ``turn`` behind the groups that it answers calls of, as one result for each call.

        The first has the text: a window counted it once.
        """
        is_alone = len(answers) == len(turn.invocations) == 1
        entries = list(turn.invocations)
        content = turn.content
        for first, named in answers.items():
            for number, call in named.items():
                changed = {"tool_invocations": [entries[number]], "content": content}
                part = turn if is_alone else with_fields(turn, changed, is_made=True)
                self._groups[first].results.append(prompt_turn(part, answers={0: call}))
                content = ""

    def _add_text(self, group: _Group, number: int, turn: SessionTurn) -> None:
        first = group.results[number]
        texts = [text for text in (first.content, turn.content) if text]
        group.results[number] = with_fields(first, {"content": "\n".join(texts)}, is_made=True)

    def _kept(self, group: _Group, *, is_open: bool) -> Iterator[SessionTurn]:
        """The calling turns, without calls that nobody answered, unless they still may be (``is_open``)."""
        for turn in group.turns:
            wanted = {place.number for place in _calls(turn) if is_open or place in group.answered}
            if len(wanted) == len(turn.invocations):
                yield turn
                continue
            entries = [entry if number in wanted else {} for number, entry in enumerate(turn.invocations)]
            if wanted or (turn.content or "").strip():
                yield with_fields(turn, {"tool_invocations": entries if wanted else []}, is_made=True)
            else:
                self._left_out.append(turn.turn_id)


def _calls(turn: SessionTurn) -> Iterator[Place]:
    """The calls of an assistant's turn, the only one whose calls are written; one that it names twice is one."""
    seen: set[str] = set()
    for place, invocation_id, _ in named_invocations(turn) if turn.role == "assistant" else ():
        if invocation_id not in seen:
            seen.add(invocation_id)
            yield place
