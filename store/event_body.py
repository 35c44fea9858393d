"""How an event lies in the database, so that its turns can be read without the rest of it, and are kept once.

The text of a capture is its turns, comma between them, and then the envelope without ``inputs.turns``, written so that
``inputs`` is its last member: putting the turns back in is two slices. This text is cut into chunks of about 64 KiB,
never inside a turn, each kept plain or as a zlib stream where that is clearly smaller. A turn's row says in which
chunk it stands, and where. An event without turns is kept as it came, in the same chunks.

A kept chunk: its length in 4 bytes, big-endian, then its bytes. A zlib stream starts with 0x78 (RFC 1950); a plain
chunk starts with 0x00, which no JSON text and no zlib stream does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from store.capture import SentCapture, SentTurn
from store.deflate import compress, decompress
from store.envelope import Envelope, encode_sent
from store.errors import DamagedDatabase

_CHUNK_BYTES: Final = 64 * 1024
_LENGTH_BYTES: Final = 4
_PLAIN: Final = b"\x00"

# Below this a stream's own cost is more than the page space that it saves.
_SMALLEST_STREAM: Final = 1024
_WORTH_IT: Final = 0.85


class TurnPlace(NamedTuple):
    """Where a turn's members (SentTurn.tail) stand. A tuple for the reason that SentTurn is one.

    ``chunk`` and ``chunk_bytes`` cut the chunk out of the kept body, ``start`` and ``size`` the text out of the chunk.
    """

    chunk: int
    chunk_bytes: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class EventBody:
    """``kept`` is what the database holds. ``turns_bytes`` is the length of the turns' text; 0 where there is none."""

    kept: bytes
    turns_bytes: int
    places: tuple[TurnPlace, ...]


def lay_out(envelope: Envelope, capture: SentCapture | None) -> EventBody:
    """The body of an event. Raises BadRequest for a number that overflows a double."""
    if capture is None:
        # Written only for that check: what is kept is the text as it came.
        encode_sent(envelope.payload)
        encode_sent(envelope.members)
        return EventBody(b"".join(_keep(part) for part in _parts(envelope.text)), 0, ())
    rest = _without_turns(envelope)
    batches = list(_batches(capture.turns))
    turns_bytes = sum(len(turn.head) + len(turn.tail) + 1 for turn in capture.turns) - 1
    together = len(batches) == 1 and turns_bytes + len(rest) <= _CHUNK_BYTES
    kept: list[bytes] = []
    places: list[TurnPlace] = []
    offset = 0
    for number, batch in enumerate(batches, 1):
        pieces = [piece for turn in batch for piece in (turn.head, turn.tail, b",")]
        if number == len(batches):
            pieces[-1] = rest if together else b""
        chunk = _keep(b"".join(pieces))
        places += _places(batch, offset + _LENGTH_BYTES, len(chunk) - _LENGTH_BYTES)
        kept.append(chunk)
        offset += len(chunk)
    if not together:
        kept += [_keep(part) for part in _parts(rest)]
    return EventBody(b"".join(kept), turns_bytes, tuple(places))


def event_text(kept: bytes, turns_bytes: int, position: int) -> bytes:
    """The envelope's JSON text with its ``position``."""
    text = b"".join(_chunks(kept))
    turns, rest = text[:turns_bytes], text[turns_bytes:]
    head = b'{"position":%d,' % position
    return head + rest[1:-3] + b',"turns":[' + turns + b"]}}}" if turns_bytes else head + rest[1:]


def chunk_text(chunk: bytes) -> bytes:
    """The text of one chunk without its length. Raises DamagedDatabase where it cannot be had back."""
    if chunk.startswith(_PLAIN):
        return chunk[len(_PLAIN) :]
    try:
        return decompress(chunk)
    except ValueError:
        raise DamagedDatabase("a stored body cannot be unpacked") from None


def _without_turns(envelope: Envelope) -> bytes:
    """The envelope without ``inputs.turns``, ``payload`` last in it and ``inputs`` last in that."""
    payload = envelope.payload
    inputs = {name: value for name, value in payload["inputs"].items() if name != "turns"}
    others = {name: value for name, value in payload.items() if name != "inputs"}
    return encode_sent({**envelope.members, "payload": {**others, "inputs": inputs}})


def _batches(turns: Sequence[SentTurn]) -> Iterator[list[SentTurn]]:
    batch: list[SentTurn] = []
    size = 0
    for turn in turns:
        batch.append(turn)
        size += len(turn.head) + len(turn.tail)
        if size >= _CHUNK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _places(batch: Sequence[SentTurn], chunk: int, chunk_bytes: int) -> Iterator[TurnPlace]:
    start = 0
    for turn in batch:
        start += len(turn.head)
        size = len(turn.tail)
        yield TurnPlace(chunk, chunk_bytes, start, size)
        start += size + 1


def _parts(text: bytes) -> Iterator[bytes]:
    return (text[start : start + _CHUNK_BYTES] for start in range(0, len(text), _CHUNK_BYTES))


def _keep(text: bytes) -> bytes:
    stream = compress(text) if len(text) >= _SMALLEST_STREAM else text
    chunk = stream if len(stream) < len(text) * _WORTH_IT else _PLAIN + text
    return len(chunk).to_bytes(_LENGTH_BYTES, "big") + chunk


def _chunks(kept: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(kept):
        end = start + _LENGTH_BYTES + int.from_bytes(kept[start : start + _LENGTH_BYTES], "big")
        yield chunk_text(kept[start + _LENGTH_BYTES : end])
        start = end
