"""How an event lies in the database, so that its turns can be read without the rest of it, and are kept once.

The text of a capture is its own turns, one after the other (store.log.layout), and then the envelope without
``inputs.turns``, written so that ``inputs`` is its last member and ``outputs`` the last but one: what was left out goes
back in by slices. Nodes and edges are left out where they are what ``agent.core.graph`` makes of the inputs, byte for
byte. This text is cut into chunks of about 64 KiB, never inside a turn, each kept plain or as a zlib stream where that
is clearly smaller. An event without turns is kept as it came, in the same chunks.

A plain chunk starts with 0x00, which no zlib stream does (RFC 1950).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

from agent.core.graph import Graph, build_graph
from store.errors import DamagedDatabase
from store.log.capture import SentCapture
from store.log.deflate import compress, decompress
from store.log.envelope import Envelope, encode_sent, parse_kept
from store.log.identifiers import packed
from store.log.layout import Chunk, Layout, OwnTurn, Reference
from store.log.skeleton import skeleton

_CHUNK_BYTES: Final = 64 * 1024
_PLAIN: Final = b"\x00"

# Below this a stream's own cost is more than the page space that it saves.
_SMALLEST_STREAM: Final = 1024
_WORTH_IT: Final = 0.85

# What ends the rest of a capture: inputs, payload, envelope.
_CLOSING: Final = b"}}}"


@dataclass(frozen=True, slots=True)
class Rest:
    """All of an event but its turns; see ``Layout.graph_at``. ``has_turns`` False: all of it."""

    text: bytes
    graph_at: int | None
    has_turns: bool


@dataclass(frozen=True, slots=True)
class EventBody:
    """What the database holds of an event: its ``layout`` and the ``kept`` chunks."""

    layout: Layout
    kept: bytes


def rest_of(envelope: Envelope, capture: SentCapture | None, *, erased: Collection[bytes] = ()) -> Rest:
    """What is kept of an event beside its turns. Raises BadRequest for a number that overflows a double.

    ``erased`` are turns whose content is not kept: where their skeletons do not make the graph, it stays as sent, and
    what was found in their content goes.
    """
    if capture is None:
        # Written only for that check: what is kept is the text as it came.
        encode_sent(envelope.payload)
        encode_sent(envelope.members)
        return Rest(envelope.text, None, has_turns=False)
    payload = envelope.payload
    inputs = {name: value for name, value in payload["inputs"].items() if name != "turns"}
    others = {name: value for name, value in payload.items() if name not in ("inputs", "outputs")}
    head = encode_sent({**envelope.members, "payload": others})[:-2]
    head += b"," if others else b""
    tail = b'"inputs":' + encode_sent(inputs) + b"}}"
    if "outputs" not in payload:
        return Rest(head + tail, None, has_turns=True)
    sent = without_entities(payload["outputs"], erased)
    kept = as_kept(payload, erased) if erased else payload
    outputs = _without_graph(sent, kept["inputs"])
    if outputs is None:
        head += b'"outputs":' + encode_sent(sent)
        return Rest(head + b"," + tail, None, has_turns=True)
    head += b'"outputs":' + encode_sent(outputs)[:-1]
    return Rest(head + b"}," + tail, len(head), has_turns=True)


def as_kept(payload: dict[str, Any], erased: Collection[bytes | None]) -> dict[str, Any]:
    """The payload of a capture with skeletons in place of ``erased`` turns, and without what was found in them."""
    inputs = payload.get("inputs")
    if not erased or not isinstance(inputs, dict) or not isinstance(inputs.get("turns"), list):
        return payload
    turns = [
        parse_kept(b"".join(skeleton(turn)))
        if isinstance(turn, dict) and packed(turn.get("turn_id")) in erased
        else turn
        for turn in inputs["turns"]
    ]
    changed = {"outputs": without_entities(payload["outputs"], erased)} if "outputs" in payload else {}
    return {**payload, **changed, "inputs": {**inputs, "turns": turns}}


def without_entities(outputs: Any, erased: Collection[bytes | None]) -> Any:
    """The outputs without the entities (CONTRACT 6) of ``erased`` turns; themselves where there are none to go.

    What is no entity of a turn with a name may have been found in any of them, and goes too.
    """
    if not erased or not isinstance(outputs, dict) or "entities" not in outputs:
        return outputs
    entities = outputs["entities"]
    sent = entities if isinstance(entities, list) else []
    kept = [entity for entity in sent if (turn_id := _turn_of(entity)) is not None and turn_id not in erased]
    return outputs if kept == entities else {**outputs, "entities": kept}


def entity_turns(outputs: Any) -> frozenset[bytes]:
    """The turns that the entities of the outputs name."""
    entities = outputs.get("entities") if isinstance(outputs, dict) else None
    named = map(_turn_of, entities if isinstance(entities, list) else ())
    return frozenset(turn_id for turn_id in named if turn_id is not None)


def _turn_of(entity: Any) -> bytes | None:
    return packed(entity.get("turn_id")) if isinstance(entity, dict) else None


def lay_out(rest: Rest, own: Sequence[OwnTurn], turns: Sequence[Reference | None]) -> EventBody:
    """The body of an event that brings ``own`` turns; ``turns`` as in ``Layout``."""
    batches = list(_batches(own))
    own_bytes = sum(len(turn.head) + len(turn.tail) for turn in own)
    together = len(batches) == 1 and own_bytes + len(rest.text) <= _CHUNK_BYTES
    kept: list[bytes] = []
    chunks: list[Chunk] = []
    for batch in batches:
        pieces = [piece for turn in batch for piece in (turn.head, turn.tail)]
        sizes = tuple(map(len, pieces))
        kept.append(_keep(b"".join([*pieces, rest.text] if together else pieces)))
        chunks.append(Chunk(len(kept[-1]), sizes))
    if not together:
        for start in range(0, len(rest.text), _CHUNK_BYTES):
            kept.append(_keep(rest.text[start : start + _CHUNK_BYTES]))
            chunks.append(Chunk(len(kept[-1]), ()))
    kinds = "".join(turn.kind for turn in own)
    body = b"".join(kept)
    layout = Layout(tuple(chunks), kinds, tuple(turns), rest.graph_at, rest.has_turns, crc32(body))
    return EventBody(layout, body)


@dataclass(frozen=True, slots=True)
class OpenBody:
    """A kept body read back: its own turns, and the rest."""

    layout: Layout
    own: tuple[OwnTurn, ...]
    rest: Rest


def open_body(layout: Layout, kept: bytes) -> OpenBody:
    """Read a kept body back. Raises DamagedDatabase."""
    if crc32(kept) != layout.checksum:
        raise DamagedDatabase("a stored body is not what was written")
    own: list[OwnTurn] = []
    rest: list[bytes] = []
    kinds = iter(layout.kinds)
    for chunk, text in zip(layout.chunks, _chunk_texts(layout, kept), strict=True):
        start = 0
        sizes = iter(chunk.sizes)
        for head, tail in zip(sizes, sizes, strict=True):
            middle = start + head
            own.append(OwnTurn(next(kinds), text[start:middle], text[middle : middle + tail]))
            start = middle + tail
        rest.append(text[start:])
    return OpenBody(layout, tuple(own), Rest(b"".join(rest), layout.graph_at, layout.has_turns))


def event_text(body: OpenBody, turns: Iterable[bytes], head: bytes) -> bytes:
    """The envelope's JSON text: ``head`` (``{"position":1,``), then all that was sent, with the texts of ``turns``."""
    if not body.rest.has_turns:
        return head + body.rest.text[1:]
    texts = list(turns)
    return head + _with_turns(with_graph(body, texts).text, texts)[1:]


def chunk_text(chunk: bytes) -> bytes:
    """The text of one kept chunk. Raises DamagedDatabase where it cannot be had back."""
    if chunk.startswith(_PLAIN):
        return chunk[len(_PLAIN) :]
    try:
        return decompress(chunk)
    except ValueError:
        raise DamagedDatabase("a stored body cannot be unpacked") from None


def with_members(text: bytes, reference: Reference) -> bytes:
    """A turn's text with what the reference says of its derived members."""
    if not reference.without and not reference.members:
        return text
    fields = {name: value for name, value in parse_kept(text).items() if name not in reference.without}
    return encode_sent({**fields, **parse_kept(reference.members or b"{}")})


def with_graph(body: OpenBody, turns: Sequence[bytes]) -> Rest:
    """The rest with its nodes and edges in it, as ``turns`` make them; itself where they stand there as sent."""
    if body.rest.graph_at is None:
        return body.rest
    at, rest = body.rest.graph_at, body.rest.text
    graph = build_graph(parse_kept(_inputs_text(_with_turns(rest, turns), at)))
    comma = b"" if rest[:at].endswith(b"{") else b","
    return Rest(rest[:at] + comma + _graph_members(graph) + rest[at:], None, has_turns=True)


def _with_turns(rest: bytes, turns: Sequence[bytes]) -> bytes:
    """The text of a capture: its rest with ``turns`` as the last member of ``inputs``."""
    inner = rest[: -len(_CLOSING)]
    comma = b"" if inner.endswith(b"{") else b","
    return inner + comma + b'"turns":[' + b",".join(turns) + b"]" + _CLOSING


def _inputs_text(joined: bytes, graph_at: int) -> bytes:
    """The text of ``inputs``: what follows ``},"inputs":`` at the end of the outputs."""
    return joined[graph_at + len(b'},"inputs":') : -2]


def _graph_members(graph: Graph) -> bytes:
    return b'"nodes_created":' + graph.nodes_json() + b',"edges_created":' + graph.edges_json()


def _without_graph(outputs: Any, inputs: dict[str, Any]) -> dict[str, Any] | None:
    """The outputs without nodes and edges, where both are what the inputs make; None where they are not."""
    if not isinstance(outputs, dict) or "nodes_created" not in outputs or "edges_created" not in outputs:
        return None
    try:
        graph = build_graph(inputs)
        same = graph.nodes_json() == encode_sent(outputs["nodes_created"])
        same = same and graph.edges_json() == encode_sent(outputs["edges_created"])
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        # Inputs of another writer, which need not be a payload of section 1.
        return None
    others = {name: value for name, value in outputs.items() if name not in ("nodes_created", "edges_created")}
    return others if same else None


def _batches(turns: Sequence[OwnTurn]) -> Iterator[list[OwnTurn]]:
    batch: list[OwnTurn] = []
    size = 0
    for turn in turns:
        batch.append(turn)
        size += len(turn.head) + len(turn.tail)
        if size >= _CHUNK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _keep(text: bytes) -> bytes:
    stream = compress(text) if len(text) >= _SMALLEST_STREAM else text
    return stream if len(stream) < len(text) * _WORTH_IT else _PLAIN + text


def _chunk_texts(layout: Layout, kept: bytes) -> Iterator[bytes]:
    if sum(chunk.kept_bytes for chunk in layout.chunks) != len(kept):
        raise DamagedDatabase("a stored body is not as long as its layout says")
    start = 0
    for chunk in layout.chunks:
        end = start + chunk.kept_bytes
        yield chunk_text(kept[start:end])
        start = end
