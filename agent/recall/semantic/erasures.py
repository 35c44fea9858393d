"""Erasures looked for: the vectors of turns that the store no longer has the content of go from the files (10a).

The feed shows no erasures, so the sessions that have vectors are compared with the store's list: one whose version is
above what its file was checked at is asked for its changed turns. The file of a session that is not in the store
(any longer) goes whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Final, NamedTuple

from agent.errors import NewerContract, StoreNotFound, StoreWriteError
from agent.recall.semantic.semantic import Semantic
from agent.recall.semantic.session_file import Looked
from agent.recall.semantic.vector_files import VectorFiles
from agent.recall.turns import turn_pages
from agent.ruvector.reads import StoreReads

_PAGE: Final = 200


class Swept(NamedTuple):
    """How many texts of erased turns lost their vectors, and how many files of sessions went whole."""

    texts: int
    sessions: int


def sweep(reads: StoreReads, semantic: Semantic, files: VectorFiles) -> Swept:
    """Look once for erasures in all sessions that have vectors, and trim the folder. Raises as ``StoreReads``, OSError.

    What is erased while it looks is found the next time.
    """
    filed = set(files.sessions())
    versions = {session: version for session, version in _versions(reads) if session in filed} if filed else {}
    texts = sessions = 0
    for session_id in sorted(filed):
        file, version = files.of(session_id), versions.get(session_id)
        looked = Looked(file.read().unchecked, version or 0)
        erased = None if version is None else _erased(reads, session_id, looked)
        if erased is None:
            file.remove()
            sessions += 1
        elif looked.until > looked.since:
            texts += semantic.forget(session_id, erased, looked=looked)
    files.trim()
    return Swept(texts, sessions)


def _erased(reads: StoreReads, session_id: str, looked: Looked) -> set[str] | None:
    """The turns that were erased above ``looked.since``; None where nobody can say."""
    if looked.until <= looked.since:
        return set()
    try:
        pages = turn_pages(reads, session_id, changed_after=looked.since)
        return {turn.turn_id for page in pages for turn in page.turns if turn.erased}
    except (StoreNotFound, NewerContract):
        return None


def _versions(reads: StoreReads) -> Iterator[tuple[str, int]]:
    cursor: str | None = None
    while True:
        page = reads.sessions(limit=_PAGE, cursor=cursor)
        yield from ((row.session_id.lower(), row.version) for row in page.sessions)
        if page.next_cursor is None:
            return
        if page.next_cursor == cursor:
            raise StoreWriteError("the store's pages do not advance", upstream_status=HTTPStatus.OK)
        cursor = page.next_cursor
