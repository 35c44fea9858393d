"""How near messages are in meaning to a query: their vectors from memory, from the session's file, or computed now.

A session's file is read when something of it is not in memory, and what is computed is appended to it. A folder that
cannot be read or written costs time and nothing else: vectors are computed again. Erased turns are taken out of memory
and of the file whenever they are seen.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Final, NamedTuple

import numpy as np

from agent.core.ids import is_uuid
from agent.core.turn import SessionTurn
from agent.observability.logs import log_event
from agent.recall.semantic.embedder import Embedder
from agent.recall.semantic.nameless import nameless
from agent.recall.semantic.packed import cosines, packed
from agent.recall.semantic.said import Said, said
from agent.recall.semantic.session_file import Filed, Looked, SessionFile
from agent.recall.semantic.vector_files import VectorFiles

# 40 MB of vectors of 384 dimensions.
MOST_HELD: Final = 100_000
# About two seconds of one core: who asks waits for no more, and the rest is found by words until then.
MOST_NEW: Final = 256
_TRIM_EVERY: Final = 64
_MOST_SESSIONS: Final = 1000


class Embedded(NamedTuple):
    """What became of texts, each counted once: computed ``new``, ``known`` already, or ``left`` for later."""

    new: int
    known: int
    left: int


class Semantic:
    """Vectors of turns by one ``embedder``, kept in ``files`` where there are some. Threads may share it.

    ``most_new``: so many texts are computed in one call at most, the newest first; None for any number.
    """

    def __init__(
        self,
        embedder: Embedder,
        files: VectorFiles | None = None,
        *,
        most_new: int | None = MOST_NEW,
        most_held: int = MOST_HELD,
    ) -> None:
        self._embedder = embedder
        self._files = files
        self._most_new = most_new
        self._most_held = most_held
        self._held: OrderedDict[bytes, bytes] = OrderedDict()
        self._forgotten: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._lock = threading.Lock()
        self._appends = 0

    def ranker(self, session_id: str | None) -> Callable[[Sequence[SessionTurn], str], list[float]]:
        """``rank`` for the messages of one session, as a window asks for it."""
        return lambda messages, query: self.rank(messages, query, session_id=session_id)

    def rank(self, messages: Sequence[SessionTurn], query: str, *, session_id: str | None = None) -> list[float]:
        """How near each message is to ``query``, 0..1, in their order; 0 for one that says nothing or is not embedded.

        Of a long message its nearest part counts. Names that many of the messages say count half (``nameless``).
        ``session_id`` says whose file holds them; None: memory alone.
        """
        if session_id is not None:
            self._forget_seen(session_id, frozenset(message.turn_id for message in messages if message.erased))
        if not query.strip():
            return [0.0] * len(messages)
        texts = [said(message) for message in messages]
        there = [text for text in texts if text is not None]
        vectors, _ = self._vectors(session_id, there)
        near = self._nearness(vectors, query, nameless(query, [text.text for text in there]))
        return [0.0 if text is None else near.get(text.digest, 0.0) for text in texts]

    def embed(self, session_id: str, texts: Sequence[Said]) -> Embedded:
        """Compute and file the vectors of ``texts`` of a session; what is there already is left as it is.

        Raises OSError where they cannot be filed.
        """
        return self._vectors(session_id, texts, must_file=True)[1]

    def forget(self, session_id: str, turn_ids: Collection[str], *, looked: Looked | None = None) -> int:
        """Drop the vectors of these turns from memory and file; how many went from the file. ``looked`` as files say.

        Raises OSError.
        """
        file = self._file(session_id)
        if file is None:
            return 0
        gone = [each.digest for each in file.read().filed if each.turn_id in turn_ids]
        with self._lock:
            for digest in gone:
                self._held.pop(digest, None)
        return file.forget(turn_ids, looked=looked) if gone or looked is not None else 0

    def _forget_seen(self, session_id: str, erased: frozenset[str]) -> None:
        """The same for what a reader saw; a session is looked at again only where more of it is erased."""
        if not erased or self._forgotten.get(session_id) == erased:
            return
        try:
            self.forget(session_id, erased)
        except OSError:
            # It is tried again by the next reader, and by ``embed``, which says so.
            log_event("vectors of erased turns are still filed", fields={"session_id": session_id})
            return
        with self._lock:
            self._forgotten[session_id] = erased
            if len(self._forgotten) > _MOST_SESSIONS:
                self._forgotten.popitem(last=False)

    def _vectors(
        self, session_id: str | None, texts: Sequence[Said], *, must_file: bool = False
    ) -> tuple[Mapping[bytes, bytes], Embedded]:
        """The packed vectors of ``texts`` by their digests."""
        wanted = {text.digest: text for text in texts}
        found = self._remembered(wanted)
        file = None if len(found) == len(wanted) or session_id is None else self._file(session_id)
        filed = {} if file is None else _read(file)
        found |= {digest: filed[digest] for digest in wanted if digest in filed}
        absent = [text for digest, text in reversed(wanted.items()) if digest not in found]
        now = absent[: self._most_new]
        known = len(found)
        found |= {text.digest: packed(self._embedder.vectors(text.text)) for text in now}
        self._remember(found)
        if file is not None:
            new = [digest for digest in wanted if digest in found and digest not in filed]
            with nullcontext() if must_file else suppress(OSError):
                self._append(file, [_filed(wanted[digest], found[digest]) for digest in new])
        return found, Embedded(len(now), known, len(absent) - len(now))

    def _file(self, session_id: str) -> SessionFile | None:
        return self._files.of(session_id) if self._files is not None and is_uuid(session_id) else None

    def _append(self, file: SessionFile, new: Sequence[Filed]) -> None:
        if not new or self._files is None:
            return
        file.append(new)
        self._appends += 1
        if self._appends % _TRIM_EVERY == 0:
            self._files.trim()

    def _remembered(self, wanted: Mapping[bytes, Said]) -> dict[bytes, bytes]:
        found = {}
        with self._lock:
            for digest in wanted:
                rows = self._held.get(digest)
                if rows is not None:
                    self._held.move_to_end(digest)
                    found[digest] = rows
        return found

    def _remember(self, found: Mapping[bytes, bytes]) -> None:
        with self._lock:
            self._held.update(found)
            while len(self._held) > self._most_held:
                self._held.popitem(last=False)

    def _nearness(self, vectors: Mapping[bytes, bytes], query: str, bare: str | None) -> dict[bytes, float]:
        """The nearest row of each text; ``bare`` is the query without names, and counts as much as the query."""
        if not vectors:
            return {}
        asked = self._embedder.vectors(query)[0]
        if bare is not None:
            asked = asked + self._embedder.vectors(bare)[0]
            asked /= np.linalg.norm(asked)
        rows = list(vectors.values())
        sizes = np.array([len(row) for row in rows])
        near = cosines(b"".join(rows), asked)
        # Each text has some rows that follow one another: where they start, in rows.
        starts = (np.cumsum(sizes) - sizes) // (sizes.sum() // len(near))
        nearest = np.clip(np.maximum.reduceat(near, starts), 0.0, 1.0)
        return dict(zip(vectors, nearest.tolist(), strict=True))


def _filed(text: Said, rows: bytes) -> Filed:
    return Filed(text.turn_id, text.digest, text.version, rows)


def _read(file: SessionFile) -> dict[bytes, bytes]:
    try:
        return {each.digest: each.vectors for each in file.read().filed}
    except OSError:
        return {}
