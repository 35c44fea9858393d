"""The mode ``redacted`` (CONTRACT 8): what is found is replaced by its kind, a named parameter's value whole.

A number is looked at as its digits, since cards and phones come as JSON integers, too. What is left is looked at again
until nothing more is found, so that what is stored stays as it is when it is captured once more. A capture that would
take longer than a function has time gets no further looks: what nobody looked at is left out whole, as in ``none``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

from agent.content.found import Finds, Found
from agent.content.json_text import Edit, edits, has_too_many_values, is_json_text, outside_names, with_literals
from agent.content.param_values import ParamValues, text_of
from agent.content.params_in_text import params_at, without_params
from agent.content.placeholder import OMITTED, PARAM, is_placeholder, is_redacted, omitted, placeholders_in, redacted
from agent.content.unescaped import OF_AN_ESCAPE, levels, origins

# In order, without overlaps.
Detect = Callable[[str], Sequence[Found]]

# Shorter ones are counts, years, places and amounts.
_FEWEST_DIGITS: Final = 9
# What one look uncovers the next one finds: twice in practice. Hostile texts do not get more looks than this.
_MOST_LOOKS: Final = 8
# Kinds of blocks come again and again, and a format keeps a text as its provider spelled it beside the content.
_MOST_KNOWN: Final = 4096
# Of one capture, in characters: a few seconds. A body of 10 MiB that is full of ordinary text takes less.
MOST_EFFORT: Final = 28_000_000
# What is done beside looking with a text, one that is changed, and a literal: as so many characters take.
_OF_A_TEXT: Final = 20
_OF_A_CHANGE: Final = 160
_OF_A_LITERAL: Final = 200
# Of one text that is JSON: one find may go over any number of its literals.
_MOST_EDITS: Final = 100_000


class _Replaced(NamedTuple):
    """``is_whole``: each find went as it was found, from its first to its last character."""

    text: str
    is_whole: bool


class Redacting:
    """Replaces what ``detect`` finds and the values of ``params``; ``counts`` says how many of which kind.

    ``values`` are those that the parameters have in this capture: they go wherever else they stand.

    ``OMITTED`` counts what was left out whole, since ``most_effort`` was spent. ``effort`` is what is: as so many
    characters of a text in which nothing is found; ``spent`` is what was before.
    """

    def __init__(
        self,
        detect: Detect,
        params: frozenset[str],
        values: ParamValues | None = None,
        *,
        most_effort: int = MOST_EFFORT,
        spent: int = 0,
    ) -> None:
        self._detect = detect
        self._params = params
        self._values = values
        self._is_in_name = False
        self._unchanged: set[str] = set()
        self._changed: dict[str, tuple[str, Counter[str]]] = {}
        self._most_effort = most_effort
        self.effort = spent
        self.counts: Counter[str] = Counter()

    def text(self, content: str) -> str:
        """``content`` with placeholders for what is found in it; a text that is JSON stays JSON."""
        if self._is_in_name and content and not is_placeholder(content):
            # What stays there goes elsewhere.
            return self._text(content)
        if not content or content in self._unchanged or is_placeholder(content):
            return content
        if content in self._changed:
            after, counts = self._changed[content]
            self.counts += counts
            return after
        before = self.counts.copy() if len(self._changed) < _MOST_KNOWN else None
        after = self._text(content)
        if after == content and len(self._unchanged) < _MOST_KNOWN:
            self._unchanged.add(content)
        elif after != content and before is not None:
            self._changed[content] = after, self.counts - before
        return after

    def _text(self, content: str) -> str:
        whole = content
        is_undone = "\\" in content
        if is_undone:
            if has_too_many_values(content):
                return self._omitted(len(whole))
            if is_json_text(content):
                # What its literals say, however it is spelled: an escape may hide what is looked for.
                if self._params:
                    content, count = without_params(content, self._params)
                    self._count(PARAM, count)
                content = with_literals(content, self._literal, self._name)
                is_undone = False
        for _ in range(_MOST_LOOKS):
            read = levels(content) if is_undone else (content,)
            looked = self._looks(read)
            if looked is None:
                break
            found = _outside_placeholders(content, looked)
            # On the same text as the detectors: of what these find no half stays, and none of a value either.
            may_name = self._params and ('"' in content or is_undone)
            named = params_at(read, self._params, _MOST_EDITS + 1) if may_name else []
            is_json = bool(found or named) and is_json_text(content)
            after = self._replaced(content, found, named, is_json=is_json)
            if after is None:
                break
            # What is replaced as it was found leaves nothing; what was cut to literals may.
            if after.text == content or (isinstance(looked, Finds) and after.is_whole):
                return after.text
            content = after.text
        return self._omitted(len(whole))

    def _literal(self, said: str) -> str:
        if self.effort <= self._most_effort:
            self.effort += _OF_A_LITERAL
        return self.text(said)

    def _name(self, said: str) -> str:
        """What stands for a name of a member: values of parameters stay in it, as in names of metadata."""
        was_in_name, self._is_in_name = self._is_in_name, True
        after = self._literal(said)
        self._is_in_name = was_in_name
        return after

    def arguments(self, value: Any) -> Any:
        """``value`` with every string and number of it looked at."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self.member(name, of_name) for name, of_name in value.items()}
        if isinstance(value, list):
            return [self.arguments(item) for item in value]
        return self._number(value)

    def member(self, name: str, value: Any) -> Any:
        """The value of ``name``: one placeholder where it is a parameter's, else as ``arguments``."""
        if name not in self._params:
            return self.arguments(value)
        if value is None or isinstance(value, bool) or (isinstance(value, str) and is_redacted(value)):
            return value
        self._count(PARAM, 1)
        return redacted(PARAM)

    def _number(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if self._is_valued(text_of(value)):
            self._count(PARAM, 1)
            return redacted(PARAM)
        return value if value != value // 1 else self._integer(value)

    def _is_valued(self, number: str) -> bool:
        """Whether all of ``number``, but for a sign, is the value of a parameter."""
        signs = len(number) - len(number.lstrip("-"))
        return any(found.start <= signs and found.end == len(number) for found in self._valued(number))

    def _integer(self, value: Any) -> Any:
        digits = str(abs(int(value)))
        if len(digits) < _FEWEST_DIGITS:
            return value
        found = self._look(digits)
        if found is None:
            return self._omitted(len(digits))
        if not found:
            return value
        self._count(found[0].kind, 1)
        return redacted(found[0].kind)

    def _looks(self, read: tuple[str, ...]) -> Sequence[Found] | None:
        """What is found in ``read[0]``, and in what it reads as with its escapes undone; None as ``_look``."""
        looked = self._look(read[0])
        for depth in range(1, len(read)):
            self.effort += OF_AN_ESCAPE * (len(read[depth - 1]) - len(read[depth]))
            further = None if looked is None else self._look(read[depth])
            if looked is None or further is None:
                return None
            places = [place for each in further for place in each[:2]]
            for below in range(depth - 1, -1, -1):
                places = origins(read[below], places)
            kinds = (each.kind for each in further)
            looked = _merged([*looked, *map(Found, places[::2], places[1::2], kinds)])
        return looked

    def _look(self, text: str) -> Sequence[Found] | None:
        """What is found in ``text``; None where this capture has had its looks."""
        if self.effort > self._most_effort:
            return None
        found = self._detect(text)
        self.effort += _OF_A_TEXT + (found.effort if isinstance(found, Finds) else len(text))
        valued = self._valued(text)
        if valued and is_json_text(text):
            valued = outside_names(text, _merged(valued))
        return _merged([*valued, *found]) if valued else found

    def _valued(self, text: str) -> Sequence[Found]:
        """Where in ``text`` the values of parameters stand."""
        if self._values is None or self._is_in_name:
            return ()
        found = self._values.find(text)
        self.effort += found.effort
        return found

    def _omitted(self, characters: int) -> str:
        self._count(OMITTED, 1)
        return omitted(characters, None)

    def _replaced(self, text: str, found: Sequence[Found], named: Sequence[Edit], *, is_json: bool) -> _Replaced | None:
        """``text`` with placeholders for ``found`` and ``named``; None where that would be too many."""
        if not found and not named:
            return _Replaced(text, is_whole=True)
        found = _in_order(found)
        if not is_json and has_too_many_values(text):
            return None
        self.effort += _OF_A_CHANGE
        changes = edits(text, found) if is_json else (Edit(*each) for each in found)
        if named:
            changes = iter(_united([*islice(changes, _MOST_EDITS + 1), *named]))
        pieces: list[str] = []
        counts: Counter[str] = Counter()
        ends = {each.start: each.end for each in found}
        done = whole = 0
        for start, end, kind, quotes in changes:
            pieces += (text[done:start], f"{quotes}{redacted(kind)}{quotes}")
            done = end
            counts[kind] += 1
            whole += not quotes and ends.get(start) == end
            if len(pieces) > 2 * _MOST_EDITS:
                return None
        self.counts += counts
        return _Replaced(
            "".join((*pieces, text[done:])) if pieces else text, is_whole=whole == len(found) and not named
        )

    def _count(self, kind: str, times: int) -> None:
        if times:
            self.counts[kind] += times


def _in_order(found: Sequence[Found]) -> Sequence[Found]:
    """``found``, or what ``_merged`` makes of it: one that begins before the end of another would be written out."""
    return found if all(first.end <= then.start for first, then in pairwise(found)) else _merged(found)


def _merged(found: Sequence[Found]) -> list[Found]:
    """``found`` in order; those that overlap are one, of the kind of the first."""
    return [Found(start, end, kind) for start, end, kind, _ in _united([Edit(*each) for each in found])]


def _united(changes: Sequence[Edit]) -> list[Edit]:
    """``changes`` in order; those that overlap are one, like the first of them, and of two firsts that with quotes."""
    held: list[Edit] = []
    for each in sorted(changes, key=lambda change: (change.start, not change.quotes, -change.end)):
        if not held or each.start >= held[-1].end:
            held.append(each)
        elif each.end > held[-1].end:
            held[-1] = held[-1]._replace(end=each.end)
    return held


def _outside_placeholders(text: str, found: Sequence[Found]) -> Sequence[Found]:
    """``found`` without what lies inside of a placeholder: a password may be one."""
    placeholders = placeholders_in(text) if found else []
    if not placeholders:
        return found
    starts = [start for start, _ in placeholders]
    # The last one that begins at or before it: no other can hold it.
    return [each for each in found if each.end > _end_before(each.start, starts, placeholders)]


def _end_before(place: int, starts: list[int], placeholders: list[tuple[int, int]]) -> int:
    """Where the last placeholder ends that begins at ``place`` or before; -1 where there is none."""
    index = bisect_right(starts, place) - 1
    return placeholders[index][1] if index >= 0 else -1
