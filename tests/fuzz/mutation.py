"""Damage to inputs: in their bytes, and in the structure of a document, which leaves it JSON and takes it further."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

TOKENS = [
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\\u",
    rb"\ud800",
    b"null",
    b"1e999",
    b"NaN",
    b"-",
    b"0",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"e",
    b"true",
    "\U0001f680".encode(),
]
ODD_VALUES = [None, True, 0, -1, 1.5, 2**70, "", "x", "\u0000", "\U0001f680" * 9, [], {}, [[]], {"": None}, "a" * 300]
RENAMED = ["x", "metadata", "turn_id", "native_id", "parent_turn_id"]


def mutated(body: bytes, rng: random.Random) -> bytes:
    """``body`` with one to four local damages."""
    out = bytearray(body)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(6)
        if kind == 0 and out:
            out[min(at, len(out) - 1)] = rng.randrange(256)
        elif kind == 1:
            del out[at : at + rng.randint(1, 40)]
        elif kind == 2:
            out[at:at] = rng.choice(TOKENS)
        elif kind == 3:
            out[at:at] = out[rng.randrange(len(out) + 1) :][: rng.randint(1, 60)]
        elif kind == 4:
            del out[at:]
        else:
            token = rng.choice(TOKENS)
            out[at : at + len(token)] = token
    return bytes(out)


def restructured(body: bytes, rng: random.Random) -> bytes:
    """``body``, JSON, with one to three of its values replaced, taken away, or put where another stands."""
    document = rearranged(json.loads(body), rng)
    return json.dumps(document, ensure_ascii=bool(rng.randrange(2))).encode()


def rearranged(document: Any, rng: random.Random, others: Sequence[Any] = ()) -> Any:
    """``document`` itself after one to three such changes; some take a value of ``others``, too."""
    for _ in range(rng.randint(1, 3)):
        holders = [(holder, key) for holder in nodes(document) for key in keys(holder)]
        if not holders:
            break
        holder, key = rng.choice(holders)
        kind = rng.randrange(5 if others else 4)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            other, other_key = rng.choice(holders)
            holder[key] = copy.deepcopy(other[other_key])
        elif kind == 2 and isinstance(holder, dict):
            holder[rng.choice(RENAMED)] = holder[key]
        elif kind == 4:
            holder[key] = copy.deepcopy(rng.choice(others))
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD_VALUES))
    return document


def nodes(value: object) -> Iterator[dict | list]:
    """The objects and arrays in ``value``, itself first."""
    if isinstance(value, dict | list):
        yield value
        for member in value.values() if isinstance(value, dict) else value:
            yield from nodes(member)


def keys(holder: dict | list) -> list:
    """The keys or places of ``holder``."""
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))
