"""What of a text is a secret or identifies a person: one file a family, put together here (CONTRACT 8).

Where two overlap they are one, from the first to the last character of both, named by the kind that stands earlier in
``view.KINDS``: rather too much replaced than half a secret left. What is found is taken out and the rest looked at
again, so that ``find`` on a text with placeholders finds nothing more. No family takes longer than in proportion to the
text. Refused: reading what a number means. A number that no word, no checksum and no shape speaks for stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from agent.content.detectors.bearer_tokens import bearer_tokens
from agent.content.detectors.cloud_keys import cloud_keys
from agent.content.detectors.connection_strings import connection_strings
from agent.content.detectors.emails import emails
from agent.content.detectors.ibans import ibans
from agent.content.detectors.jwts import jwts
from agent.content.detectors.lettered_ids import lettered_ids
from agent.content.detectors.numbers import numbers_found
from agent.content.detectors.private_keys import private_keys
from agent.content.detectors.url_passwords import url_passwords
from agent.content.detectors.vendor_tokens import vendor_tokens
from agent.content.detectors.view import KINDS, view_of, without
from agent.content.found import Found

_FAMILIES: Final[tuple[Callable[[str], Iterable[Found]], ...]] = (
    private_keys,
    jwts,
    connection_strings,
    url_passwords,
    vendor_tokens,
    bearer_tokens,
    cloud_keys,
    ibans,
    lettered_ids,
    numbers_found,
    emails,
)
_RANK: Final = {kind: rank for rank, kind in enumerate(KINDS)}
# Nobody writes so many into one text: from the first of them on all of it is replaced. Each would take memory.
_MOST_OF_A_FAMILY: Final = 20_000
# What one look uncovers the next one finds: two or three in practice. A hostile text gets no more than this.
_MOST_LOOKS: Final = 8


def find(text: str) -> list[Found]:
    """What has to be replaced in ``text``, in order, without overlaps; nothing of it is in a placeholder."""
    view = view_of(text)
    found: list[Found] = []
    for _ in range(_MOST_LOOKS):
        new = list(_merged(each for family in _FAMILIES for each in _bounded(family, view.text)))
        if not new:
            break
        found += map(view.found, new)
        view = without(view, new)
    # Only what goes on to the end of a text overlaps with what an earlier look has found.
    return list(_merged(found))


def _bounded(family: Callable[[str], Iterable[Found]], text: str) -> list[Found]:
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
