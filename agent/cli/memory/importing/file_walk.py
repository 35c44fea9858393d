"""One file from its first value to its last: the documents in it, in order, whatever it is split into.

Values are documents by themselves, or records that belong together. Of records whose format names their conversation
only places are held while the file is read once; then each conversation is read by itself. Records of other formats
are one document, and are held.
"""

from __future__ import annotations

import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, NamedTuple, cast

from agent.capture.json_pieces import BYTE_ORDER_MARK, Bytes, Fault, Piece, Shape, pieces_of, shape_of
from agent.cli.memory.importing.account import JUNK
from agent.cli.memory.importing.conversations import Conversations, Found, Refused, Value
from agent.cli.memory.importing.recognition import Recognition
from agent.cli.memory.importing.sources import Reading, Source, Unreadable
from agent.edge.document import parse_value
from agent.edge.json_text import BLANK
from agent.errors import ValidationError

UNKNOWN: Final = "no conversation that we read"
CUT_OFF: Final = "cut off"
CHANGED: Final = "changed while it was read"
# By the rule that the parser names (CONTRACT 2).
_KINDS: Final = {
    "depth": "nested deeper than 128",
    "duplicate_key": "a key twice",
    "number_range": "a number out of range",
    "surrogate": "half of a surrogate pair",
    "utf8": "not UTF-8",
}
NOT_JSON: Final = "not JSON"
# Files begin with records that say little, and a few that say more come soon.
_SAMPLE: Final = 64
_SAMPLE_BYTES: Final = 4 * 1024 * 1024
_COPY_BYTES: Final = 1024 * 1024


class Mark(NamedTuple):
    """Where a file may be taken up again: an offset (of records, how many conversations were read) and a place."""

    offset: int
    place: int


class Step(NamedTuple):
    """One document: its conversations, or why it is ``skipped``, by kind. ``place`` is None for what is only a record.

    ``mark``: where the file goes on behind it, None where it cannot be taken up there. ``may_come_again``: other
    records of the file may say more of the same conversation.
    """

    place: int | None
    found: Sequence[Found | Refused] = ()
    skipped: str | None = None
    error: ValidationError | None = None
    mark: Mark | None = None
    may_come_again: bool = False


class FileWalk:
    """The way through one source. ``seen`` counts what its values are, for who is told that we read none of them."""

    def __init__(
        self,
        source: Source,
        recognition: Recognition,
        conversations: Conversations,
        *,
        at: str | None = None,
        start: Mark | None = None,
    ) -> None:
        self._source = source
        self._recognition = recognition
        self._conversations = conversations
        self._is_located = at is not None
        self._start = start or Mark(0, 0)
        self._position: Callable[[], int] = lambda: 0
        self._passed = 0
        self._passes = 1
        self.size = 0
        self.shape = Shape.EMPTY
        self.seen: Counter[str] = Counter()

    @property
    def progress(self) -> float:
        """How much of the file was read, from 0 to 1."""
        if not self.size:
            return 0.0
        return min(1.0, (self._passed + self._position()) / (self.size * self._passes))

    def steps(self) -> Iterator[Step]:
        """The documents, in order. Raises Unreadable where the file, or the rest of it, cannot be read."""
        with self._opened() as reading:
            self.shape = shape_of(reading)
        if self.shape is Shape.WIDE:
            raise Unreadable(self.shape.value)
        form = None if self._is_located else self._record_format()
        if form is None:
            yield from self._documents()
            return
        key = getattr(self._recognition.format(form), "key", None)
        yield from self._whole(form) if key is None else self._grouped(form, key)

    @contextmanager
    def _opened(self) -> Iterator[Reading]:
        with self._source.open() as reading:
            self.size, self._position = reading.size, reading.position
            try:
                yield reading
            finally:
                # Asked between two openings too, when the file is closed.
                reached = 0
                self._position = lambda: reached

    def _record_format(self) -> str | None:
        sample = []
        with self._opened() as reading:
            for count, piece in enumerate(pieces_of(reading, self.shape)):
                try:
                    value = None if piece.fault else parse_value(piece.text)[0]
                except ValidationError:
                    value = None
                if not _is_junk(value):
                    sample.append(value)
                if count + 1 >= _SAMPLE or piece.end > _SAMPLE_BYTES:
                    break
        return self._recognition.of_records(sample) if sample and self.shape is not Shape.VALUES else None

    def _documents(self) -> Iterator[Step]:
        place = self._start.place
        with self._opened() as reading:
            if self._start.offset:
                reading.seek(self._start.offset)
            for piece in pieces_of(reading, self.shape, start=self._start.offset):
                mark = Mark(piece.end, place + 1)
                parsed = self._parsed(piece, place)
                if isinstance(parsed, Step):
                    yield parsed._replace(mark=mark)
                else:
                    found = self._conversations.of_document(parsed)
                    yield Step(place, found or (), UNKNOWN if found is None else None, mark=mark)
                place += 1
            reading.check_end()

    def _whole(self, form: str) -> Iterator[Step]:
        records: list[Any] = []
        plain, size = True, 0
        with self._opened() as reading:
            for piece in pieces_of(reading, self.shape):
                parsed = self._parsed(piece, None)
                if isinstance(parsed, Step):
                    yield parsed
                else:
                    records.append(parsed.value)
                    plain, size = plain and parsed.plain, size + parsed.size
            value = Value(records, plain, b"", size, 0)
            for each in self._conversations.of_records(value, form, is_whole_file=True):
                yield Step(each.place, (each,))
            reading.check_end()

    def _grouped(self, form: str, key: Callable[[Any], str | None]) -> Iterator[Step]:
        self._passes = 2
        spans: dict[str, array[int]] = {}
        with self._seekable() as reading:
            yield from self._index(reading, key, spans)
            self._passed, self._position = self.size, lambda: 0
            for place, (name, some) in enumerate(spans.items()):
                if place >= self._start.place:
                    value = self._records(reading, some, place, (key, name))
                    found = () if value is None else self._conversations.of_records(value, form, is_whole_file=False)
                    why = CHANGED if value is None else None
                    yield Step(place, found, why, mark=Mark(0, place + 1), may_come_again=True)
                self._passed += sum(some[1::2]) - sum(some[::2])

    def _index(self, reading: Bytes, key: Callable[[Any], str | None], spans: dict[str, array[int]]) -> Iterator[Step]:
        """Note where each conversation's records stand; what is no record is told."""
        # Records that name no conversation belong to the one before them, or to the first.
        current: array[int] = array("Q")
        is_named = False
        for piece in pieces_of(reading, self.shape):
            parsed = self._parsed(piece, None)
            if isinstance(parsed, Step):
                # Told when they were first met.
                if not self._start.place:
                    yield parsed
                continue
            name = key(parsed.value)
            if name is not None:
                current = spans.setdefault(name, array("Q") if is_named else current)
                is_named = True
            current.extend((piece.start, piece.end))
        if not is_named and current:
            spans[""] = current

    def _records(
        self, reading: Reading, spans: array[int], place: int, owner: tuple[Callable[[Any], str | None], str]
    ) -> Value | None:
        """The records that were seen there; None where something else stands there now."""
        (key, name), records, plain, size = owner, [], True, 0
        for start, end in zip(spans[::2], spans[1::2], strict=True):
            reading.seek(start)
            text = reading.read(end - start).removeprefix(BYTE_ORDER_MARK).strip(BLANK)
            try:
                value, is_plain = parse_value(text)
            except ValidationError:
                return None
            if _is_junk(value) or key(value) not in (None, name):
                return None
            records.append(value)
            plain, size = plain and is_plain, size + len(text)
        return Value(records, plain, b"", size, place)

    @contextmanager
    def _seekable(self) -> Iterator[Reading]:
        with self._opened() as reading:
            if not self._source.is_packed:
                yield reading
                return
            with tempfile.TemporaryFile() as copy:
                while some := reading.read(_COPY_BYTES):
                    copy.write(some)
                copy.seek(0)
                yield Reading(cast("BinaryIO", copy), lambda: 0, self.size)
                reading.check_end()

    def _parsed(self, piece: Piece, place: int | None) -> Value | Step:
        if piece.fault is not None:
            self.seen[NOT_JSON] += 1
            return Step(place, skipped=CUT_OFF if piece.fault is Fault.CUT_OFF else piece.fault.value)
        try:
            value, plain = parse_value(piece.text)
        except ValidationError as error:
            rule = error.problems[0].rule if error.problems else ""
            kind = _KINDS.get(rule, NOT_JSON)
            self.seen[NOT_JSON] += 1
            is_cut = not piece.is_ended and kind in (NOT_JSON, _KINDS["utf8"])
            return Step(place, skipped=CUT_OFF if is_cut else kind, error=error)
        self.seen["objects" if isinstance(value, dict) else "lists" if isinstance(value, list) else "other values"] += 1
        if _is_junk(value):
            return Step(place, skipped=JUNK)
        return Value(value, plain, piece.text, len(piece.text), 0 if place is None else place)


def _is_junk(value: Any) -> bool:
    return not isinstance(value, dict | list) or not value
