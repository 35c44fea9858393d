"""Texts to the detectors and to what finds entities: real ones, damaged ones, and ones that are made up to hurt.

What is found has to lie in the text, in order, without overlaps; what was replaced is not found again; nothing takes
longer than the engine's bound, whatever the text is.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from agent.content import detectors as detectors_of
from agent.content.detectors import find
from agent.content.detectors.view import KINDS
from agent.content.found import Found
from agent.core.placeholders import words_alone
from agent.entities.entities import entities_of
from tests.fuzz.corpus import saved, texts
from tests.fuzz.engine import Target

LARGEST = 100_000
REPEATED = 2_000
# What a pattern begins with, goes on with, or ends at: repeated without an end it is what backtracking fears.
PIECES = [
    *"aA0 \n\t.,:;-_/@+=%&?#*|\\\"'()[]{}<>~^$`éßİ٣\u200b\u202e\ufeff\ufdd0\U0001f680",
    "a.",
    "a@",
    "a-",
    "a@a.",
    "0-",
    "0 ",
    "00 ",
    "4111 1111 ",
    "+49 ",
    "+1 (555) ",
    "sk-",
    "AKIA",
    "AIza",
    "ghp_",
    "xoxb-",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "-----BEGIN ",
    "MIIE",
    "postgres://",
    "https://a:b@",
    "://",
    "password=",
    "Password: ",
    "Bearer ",
    "AccountKey=",
    "Server=a;",
    "DE89 3704 0044 0532 0130 00",
    "GB82WEST",
    "123-45-6789",
    "SSN ",
    "phone ",
    "Mr. ",
    "Dr. Anna ",
    "Anna Schmidt ",
    "my name is ",
    "order #",
    "HAT136 ",
    "2026-03-02T08:15:00Z ",
    "$12.50 ",
    "12 EUR ",
    "550e8400-e29b-41d4-a716-446655440000 ",
    "[redacted:email]",
    "[redacted:card]",
    "[redacted:",
    "[omitted:7]",
    "[omitted:",
    "```\n",
    "١٢٣",
    "\uff14\uff11",
    "e\u0301",
    "IİI",
    "\r\n",
]


def look_at_found(case: bytes) -> Hashable:
    """What is redacted in a text; the name is its kinds."""
    text = _text(case)
    if text is None:
        return "no text"
    found = find(text)
    _check_places([(each.start, each.end) for each in found], text)
    assert all(each.kind in KINDS for each in found)
    assert find(text) == found
    replaced = _replaced(text, found)
    if find(replaced):
        assert _takes_more_looks(text), "what was replaced leaves something that is found"
        return "more looks than there are"
    return tuple(sorted({each.kind for each in found})), min(len(found), 4)


def _takes_more_looks(text: str) -> bool:
    """Whether the detectors would find all of ``text``, had they no bound on how often they look at it again."""
    before = detectors_of._MOST_LOOKS
    detectors_of._MOST_LOOKS = 10 * len(text)
    try:
        return len(text) > REPEATED or not find(_replaced(text, find(text)))
    finally:
        detectors_of._MOST_LOOKS = before


def _replaced(text: str, found: Sequence[Found]) -> str:
    pieces, at = [], 0
    for each in found:
        pieces += [text[at : each.start], f"[redacted:{each.kind}]"]
        at = each.end
    return "".join([*pieces, text[at:]])


def look_at_entities(case: bytes) -> Hashable:
    """The entities of one to some turns that a text is cut into; the name is their types."""
    text = _text(case)
    if text is None:
        return "no text"
    contents = text.split("\u241e")
    payload: dict[str, Any] = {"turns": [_turn(number, content) for number, content in enumerate(contents)]}
    found = entities_of(payload)
    assert entities_of(payload) == found
    assert [each["turn_id"] for each in found] == sorted(each["turn_id"] for each in found)
    for number, content in enumerate(contents):
        of_turn = [each for each in found if each["turn_id"] == _turn(number, "")["turn_id"]]
        _check_places([(each["start"], each["end"]) for each in of_turn], content)
        for each in of_turn:
            assert each["text"] == content[each["start"] : each["end"]], "another text than at its place"
            assert each["text_sha256"] == hashlib.sha256(each["text"].encode()).hexdigest()
            without = words_alone(content)[each["start"] : each["end"]]
            assert each["text"] == without, "what stands for something is no entity"
    json.dumps(found).encode()
    return tuple(sorted({each["type"] for each in found})), min(len(found), 4), min(len(contents), 3)


def _turn(number: int, content: str) -> dict[str, Any]:
    return {"turn_id": f"00000000-0000-4000-8000-{number:012x}", "role": "user", "content": content}


def _check_places(places: Sequence[tuple[int, int]], text: str) -> None:
    at = 0
    for start, end in places:
        assert at <= start < end <= len(text), "places are out of order, overlap or lie outside"
        at = end


def _text(case: bytes) -> str | None:
    try:
        return case.decode()
    except UnicodeDecodeError:
        return None


def made(pool: Sequence[bytes], rng: random.Random) -> bytes:
    """A text of the pool after some changes, or one of pieces; one in five hundred is as long as they get."""
    size = LARGEST if rng.randrange(500) == 0 else rng.choice([40, 200, 200, 1_000])
    kind = rng.randrange(6)
    if kind == 0:
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 30)))
    elif kind == 1:
        text = _repeated(rng, size)
    else:
        text = rng.choice(pool).decode()
        for _ in range(rng.randint(1, 4)):
            text = _changed(text, pool, rng)
    if kind == 5 and size == LARGEST:
        text *= LARGEST // max(len(text), 1)
    return text[:LARGEST].encode()


def _repeated(rng: random.Random, size: int) -> str:
    """One to three pieces again and again, between two that are there once."""
    unit = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 3)))
    return rng.choice(["", *PIECES]) + unit * (size // len(unit.encode())) + rng.choice(["", *PIECES])


def _changed(text: str, pool: Sequence[bytes], rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice([0, 0, 1, 3, 20]))
    kind = rng.randrange(6)
    if kind == 0:
        return text[:start] + rng.choice(PIECES) + text[end:]
    if kind == 1:
        return text[:start] + text[end:]
    if kind == 2:
        return text[:start] + text[start:end] * 2 + text[end:]
    if kind == 3:
        return text[:start] + rng.choice("0123456789aZ -") + text[end:]
    if kind == 4:
        other = rng.choice(pool).decode()
        at = rng.randrange(len(other) + 1)
        return text[:start] + other[at : at + 60] + text[end:]
    return text[:start] + "\u241e" + text[end:]


def _seeds(name: str) -> Iterator[bytes]:
    yield from saved(name)
    yield from (text.encode() for text in texts())
    # Each piece again and again: the cheapest of all denials of service.
    yield from ((piece * (REPEATED // len(piece.encode()))).encode() for piece in PIECES)


def _target(name: str, look: Callable[[bytes], Hashable]) -> Target:
    return Target(name, list(_seeds(name)), made, look)


def detectors() -> Target:
    """Texts to ``agent.content.detectors.find``."""
    return _target("detectors", look_at_found)


def entities() -> Target:
    """Texts, cut into turns at a character of their own, to ``agent.entities.entities.entities_of``."""
    return _target("entities", look_at_entities)
