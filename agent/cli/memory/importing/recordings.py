"""Whose the calls of a recording are: every one is of exactly one format, so that none is told twice.

A call is of the first format that knows it by itself. Lists of messages are also what other providers are sent, so that
one which came to nothing (an error, a stream that broke off) says little of itself: it is of the format that the calls
around it are of, if that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from agent.errors import ValidationError
from agent.formats import OPENAI_CHAT, Format
from agent.formats.common_fields import POSTED, refusal_of
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.recording import recorded_call, recorded_calls
from agent.formats.openai_answer import answers_of

_OTHERS: Final = "calls of something else"
_LIST: Final = "interactions"
# Of several formats' calls in one recording: their conversations are numbered apart, however many each has.
_NUMBERS: Final = 1_000_000
_PLACE: Final = re.compile(r"^\$\.interactions\[(\d+)\]")


class Share(NamedTuple):
    """What the format ``name`` reads of a document: all of it, or a recording of its calls alone.

    ``places`` are where these stand in the whole recording; None where it is all.
    """

    name: str
    document: Any
    places: tuple[int, ...] | None = None


class Recording(NamedTuple):
    """A recording: the shares of its formats, in the order of their first calls, and how many calls nobody reads.

    ``beside`` are the members that are no calls.
    """

    shares: tuple[Share, ...]
    unread: int
    beside: Mapping[str, Any]


def recording_of(document: Any, formats: Mapping[str, Format]) -> Recording | None:
    """``document`` as a recording of calls that ``formats`` know, tried in their order; None where it is none."""
    if recorded_calls(document) is None:
        return None
    is_one = recorded_call(document) is not None
    calls: list[Any] = [document] if is_one else document[_LIST]
    names = _names(calls, formats)
    known = list(dict.fromkeys(name for name in names if name is not None))
    if not known:
        return None
    own = {"request", "response"} if is_one else {_LIST}
    beside = {name: member for name, member in document.items() if name not in own | POSTED}
    if len(known) == 1:
        # The format counts the calls of others itself, and names their places in the whole of it.
        return Recording((Share(known[0], document),), 0, beside)
    shares = []
    for name in known:
        places = tuple(place for place, each in enumerate(names) if each == name)
        shares.append(Share(name, {_LIST: [calls[place] for place in places]}, places))
    return Recording(tuple(shares), names.count(None), beside)


def conversations_of(
    shares: Sequence[Share], unread: int, formats: Mapping[str, Format]
) -> Iterator[tuple[str, Conversation | ValidationError]]:
    """The conversations of all ``shares``, each with its format, numbered apart. ``unread`` calls are counted once."""
    for order, share in enumerate(shares):
        for each in formats[share.name].read(share.document):
            if isinstance(each, ValidationError):
                yield share.name, _in_the_whole(each, share.places)
                continue
            if unread:
                each.ignored.counts[_OTHERS] += unread
                unread = 0
            yield share.name, replace(each, number=each.number + order * _NUMBERS) if order else each


def _names(calls: Sequence[Any], formats: Mapping[str, Format]) -> list[str | None]:
    names = [next((name for name, form in formats.items() if form.detect(call)), None) for call in calls]
    loose = [place for place, name in enumerate(names) if name == OPENAI_CHAT and not _is_answered(calls[place])]
    sure = list(names)
    for place in loose:
        sure[place] = None
    before, behind = _nearest(sure, range(len(calls))), _nearest(sure, range(len(calls) - 1, -1, -1))
    for place in loose:
        for near in (*before[place], *behind[place]):
            name = sure[near]
            if name is not None and _reads_both(formats[name], calls[near], calls[place]):
                names[place] = name
                break
    return names


def _is_answered(call: Any) -> bool:
    recorded = recorded_call(call)
    return recorded is not None and bool(answers_of(recorded))


def _nearest(names: Sequence[str | None], order: Iterable[int]) -> dict[int, list[int]]:
    """For each call without a name, the places of those passed before it, of each name the last, nearest first."""
    found: dict[int, list[int]] = {}
    seen: dict[str, int] = {}
    for place in order:
        name = names[place]
        if name is None:
            found[place] = list(reversed(seen.values()))
        else:
            seen.pop(name, None)
            seen[name] = place
    return found


def _reads_both(form: Format, known: Any, other: Any) -> bool:
    """Whether ``form`` reads the call ``other`` where it stands beside one that it knows."""
    found = list(form.read({_LIST: [known, other]}))
    return bool(found) and all(isinstance(each, Conversation) and _OTHERS not in each.ignored.counts for each in found)


def _in_the_whole(error: ValidationError, places: tuple[int, ...] | None) -> ValidationError:
    """``error`` with the paths of the whole recording."""
    if places is None:
        return error
    return refusal_of([problem._replace(path=_whole_path(problem.path, places)) for problem in error.problems])


def _whole_path(path: str, places: tuple[int, ...]) -> str:
    if len(places) == 1:
        return f"$.{_LIST}[{places[0]}]{path.removeprefix('$')}"
    return _PLACE.sub(lambda found: f"$.{_LIST}[{places[int(found[1])]}]", path)
