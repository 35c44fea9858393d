"""``outputs.entities``: the identifiers and names in what is stored of a capture's turns (CONTRACT 6), by rules alone.

No model, no network, no clock: the same payload has the same entities, everywhere. Only content is looked at, not
arguments and not metadata; credentials, cards and bank accounts are never told (what the detectors of the content
policy find of them, in every mode), nor what stands for something that the policy took out. The time is linear in the
length of the content, whatever it is (``pieces``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sized
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from agent.content.detectors.credentials import credentials_in
from agent.entities.codes import again, remember
from agent.entities.known import Known
from agent.entities.mention import Mention
from agent.entities.names import names
from agent.entities.pieces import BLANK, Piece, pieces, within
from agent.entities.prose import prose
from agent.entities.scanning import scanned

# Of one capture. With what is read of it told twice, an event stays below the 32 MiB that a store takes (CONTRACT 2).
MOST: Final = 10_000
# Characters of one capture, in the order of its turns: what a few seconds can read, whatever they are.
MOST_READ: Final = 1_000_000
# What comes again without its cue ("HAT136", "mia_li_3668").
_OF_CODES: Final = frozenset({"REFERENCE_CODE", "FLIGHT_NUMBER", "USER_ID"})


def entities_of(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entities of a native payload with UUIDs, in the order of its turns and of their text, without overlaps.

    ``[{turn_id, type, start, end, text_sha256, text}]``: ``start`` and ``end`` count code points of the turn's content,
    ``turn_id`` is in lower case, ``text_sha256`` is the lower-case hex digest of the text's UTF-8. There are at most
    ``MOST``, and ``MOST_READ`` characters are read: the first ones. ``is_cut`` says whether there may be more.
    """
    return list(islice(_entities(payload), MOST))


def is_cut(payload: Mapping[str, Any], entities: Sized) -> bool:
    """Whether ``entities``, those of ``payload``, may be without some that its content has."""
    return len(entities) == MOST or sum(len(turn["content"]) for turn in payload["turns"]) > MOST_READ


def _entities(payload: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    known = Known()
    room = MOST_READ
    for turn in payload["turns"]:
        content = turn["content"][:room]
        room -= len(content)
        is_whole = len(content) == len(turn["content"])
        turn_id = turn["turn_id"].lower()
        for start, end, kind in mentions(content, known):
            if end == len(content) and not is_whole:
                continue
            text = content[start:end]
            yield {
                "turn_id": turn_id,
                "type": kind,
                "start": start,
                "end": end,
                "text_sha256": sha256(text.encode()).hexdigest(),
                "text": text,
            }


def mentions(content: str, known: Known) -> Iterator[Mention]:
    """What is named in one text, in order and without overlaps.

    ``known`` has what was named before, by its text, and gets what is named here: names and codes are known again.
    """
    known.begin_turn()
    is_fenced = False
    hidden = deque(credentials_in(content))
    for piece in pieces(content):
        spoken, is_fenced = prose(piece.text, is_fenced=is_fenced)
        taken = bytearray(len(piece.text))
        for start, end in within(piece, hidden):
            taken[start:end] = b"\1" * (end - start)
            spoken = f"{spoken[:start]}{BLANK * (end - start)}{spoken[end:]}"
        for start, end, kind in _apart(piece, taken, _candidates(piece.text, spoken, known)):
            if kind in _OF_CODES:
                remember(piece.text[start:end], kind, known.codes)
            yield Mention(piece.offset + start, piece.offset + end, kind)


def _candidates(text: str, spoken: str, known: Known) -> Iterator[Mention]:
    """What each rule finds, what is surer first: an address by its form before a name by its capital."""
    found = scanned(text)
    yield from (each.mention for each in found.candidates)
    yield from again(text, known.codes)
    if not spoken.isspace():
        yield from names(spoken, found.words, known)


def _apart(piece: Piece, taken: bytearray, candidates: Iterator[Mention]) -> list[Mention]:
    """Those that overlap none that came before them and nothing that is ``taken``, sorted; none that a cut has torn."""
    kept = []
    for each in candidates:
        start, end, kind = each
        if taken.find(1, start, end) < 0 and not piece.is_torn(start, end):
            taken[start:end] = b"\1" * (end - start)
            if kind:
                kept.append(each)
    return sorted(kept)
