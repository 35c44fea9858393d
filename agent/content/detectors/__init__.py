"""What of a text is a secret or identifies a person: one file a family, put together here (CONTRACT 8).

Where two overlap they are one, from the first to the last character of both, named by the kind that stands earlier in
``placeholder.DETECTED``: rather too much replaced than half a secret left. What is found is taken out and the rest
looked at again, so that ``find`` on a text with placeholders finds nothing more. No family takes longer than in
proportion to the text, and of a long one there are few looks: what is too much for them is replaced from there to the
end.
Refused: reading what a number means. A number that no word, no checksum and no shape speaks for stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from agent.content.detectors.bearer_tokens import bearer_tokens
from agent.content.detectors.cloud_keys import cloud_keys
from agent.content.detectors.connection_strings import connection_strings
from agent.content.detectors.emails import emails
from agent.content.detectors.grouped_cards import grouped_cards
from agent.content.detectors.ibans import ibans
from agent.content.detectors.jwts import jwts
from agent.content.detectors.lettered_ids import lettered_ids
from agent.content.detectors.numbers import numbers_found
from agent.content.detectors.private_keys import private_keys
from agent.content.detectors.told import told_numbers
from agent.content.detectors.url_passwords import url_passwords
from agent.content.detectors.vendor_tokens import vendor_tokens
from agent.content.detectors.view import KINDS, view_of, without
from agent.content.detectors.weighing import Weighing
from agent.content.found import Finds, Found

# Those of digits are also given where to count what they weigh.
_Family = Callable[..., Iterable[Found]]


class _Gate(NamedTuple):
    """``family`` finds nothing in a text that is shorter than ``least``, or that has none of ``signs``."""

    family: _Family
    least: int
    signs: tuple[str, ...] = ("",)


_GATES: Final = (
    _Gate(private_keys, 27, ("-----BEGIN ",)),
    _Gate(jwts, 15, ("eyJ",)),
    _Gate(connection_strings, 5, ("=",)),
    _Gate(url_passwords, 7, ("://",)),
    _Gate(vendor_tokens, 20),
    _Gate(bearer_tokens, 23),
    _Gate(cloud_keys, 20),
    _Gate(emails, 6, ("@", "%40")),
)
_OF_DIGITS: Final = (
    _Gate(ibans, 15),
    _Gate(lettered_ids, 8),
    _Gate(grouped_cards, 16),
    _Gate(told_numbers, 13),
    _Gate(numbers_found, 6),
)
_RANK: Final = {kind: rank for rank, kind in enumerate(KINDS)}
# Nobody writes so many into one text: from the first of them on all of it is replaced. Each would take memory.
_MOST_OF_A_FAMILY: Final = 20_000
# From the first of too many on a text is looked at so much further: what begins before it may end behind it.
_STRADDLING: Final = 1024
# What one look uncovers the next one finds: two or three in practice. A hostile text gets no more than this.
_MOST_LOOKS: Final = 8
# A long one gets as many as make so many characters, and three at least.
_MOST_READ: Final = 4_000_000
_FEWEST_LOOKS: Final = 3
# One that takes so much gets two: the second finds next to nothing in what people write.
_MOST_EFFORT: Final = 16_000_000
# mia@a.de and 0123456 are the shortest that are found.
_SHORTEST: Final = 6
_DIGIT: Final = re.compile("[0-9]")
# What a look takes for itself, and one that is found, as so many characters do.
_OF_A_LOOK: Final = 40
_OF_A_FIND: Final = 60


def find(text: str) -> Finds:
    """What has to be replaced in ``text``, in order, without overlaps; nothing of it is in a placeholder."""
    if len(text) < _SHORTEST:
        return Finds((), len(text))
    view = view_of(text)
    weighing = Weighing()
    found: list[Found] = []
    # What has no width and what is a placeholder is read once.
    read = len(text) - len(view.text)
    looks = 0
    while len(view.text) >= _SHORTEST:
        looks += 1
        read += len(view.text) + _OF_A_LOOK
        new = _look(view.text, weighing)
        if not new:
            break
        new = list(_merged(new))
        if looks >= _most_looks(read, weighing.effort):
            # There may be more, and nobody looks: rather too much.
            found.append(view.found(Found(new[0].start, len(view.text), new[0].kind)))
            break
        found += map(view.found, new)
        view = without(view, new)
    effort = read + weighing.effort + len(found) * _OF_A_FIND
    # A later look finds what stands before and around what an earlier one has found.
    return Finds(_merged(found), effort)


def _most_looks(read: int, weighed: int) -> int:
    """How many looks a text gets of which so many characters were read, and so much weighed."""
    if read + weighed > _MOST_EFFORT:
        return _FEWEST_LOOKS - 1
    return _FEWEST_LOOKS if read > _MOST_READ else _MOST_LOOKS


def _look(text: str, weighing: Weighing) -> list[Found]:
    """What each family finds in ``text``; behind the first of too many nobody looks for others."""
    weighing.begin_look()
    gates: tuple[_Gate, ...] = _GATES
    if _DIGIT.search(text) is not None:
        gates += tuple(gate._replace(family=partial(gate.family, weighing=weighing)) for gate in _OF_DIGITS)
    found: list[Found] = []
    for family, least, signs in gates:
        if len(text) < least or not (signs[0] in text or signs[-1] in text):
            continue
        new = _bounded(family, text)
        if new:
            found += new
            if new[0].end == len(text):
                text = text[: new[0].start + _STRADDLING]
    return found


def _bounded(family: _Family, text: str) -> list[Found]:
    """What ``family`` finds in ``text``; of too many one, to the end."""
    found = list(islice(family(text), _MOST_OF_A_FAMILY + 1))
    if len(found) <= _MOST_OF_A_FAMILY:
        return found
    return [Found(min(each.start for each in found), len(text), found[0].kind)]


def _merged(found: Iterable[Found]) -> Iterator[Found]:
    """``found`` in order; those that overlap are one, of the kind that ranks first."""
    held: Found | None = None
    for each in sorted(found):
        if held is None:
            held = each
        elif each.start < held.end:
            kind = min(held.kind, each.kind, key=_RANK.__getitem__)
            held = Found(held.start, max(held.end, each.end), kind)
        else:
            yield held
            held = each
    if held is not None:
        yield held
