"""The store over an engine: each method one transaction, or a few that may stand alone.

What the capture function never does (erasure, search, lists) is imported when it is first done: the embedded store is
part of that function's cold start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from store.engines.engine import Connection, Engine
from store.errors import DamagedDatabase, StoreAnswerError, Unavailable
from store.log.append import Prepared, append
from store.log.group_commit import GroupCommit
from store.log.reads import read_event, read_events
from store.log.tenants import made_tenant_key, tenant_key
from store.log.turn_page import read_turns
from store.port import (
    DEFAULT_LIMIT,
    DEFAULT_TENANT,
    Actor,
    Appended,
    Erased,
    EventPage,
    EventsQuery,
    SessionPage,
    SessionsQuery,
    Stats,
    Submission,
    TurnsQuery,
)

if TYPE_CHECKING:
    from store.privacy.erasure import Subject

# An erasure rewrites the files at once where that takes seconds at most; beyond, an operator chooses the hour.
_REWRITTEN_AT_ONCE_BYTES: Final = 256 * 1024 * 1024
# An id that no tenant has.
_NOBODY: Final = 0


class EventStore:
    """``store.port.Store`` over ``engine``. Nothing is opened before use."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._group = GroupCommit(self._commit)

    @property
    def kind(self) -> str:
        """What the engine is, as health answers name it."""
        return self.engine.kind

    def append(
        self, submission: Submission, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Appended:
        return self._group.append(tenant, Prepared.of(tenant, submission), timeout_s)

    def _commit(
        self, tenant: str, batch: Sequence[Prepared], timeout_s: float | None
    ) -> list[Appended | StoreAnswerError]:
        with self.engine.writing(timeout_s=timeout_s) as connection:
            return append(connection, self._tenant(connection, tenant, create=True), batch)

    def event(self, execution_ref: str, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> bytes:
        with self.engine.reading(timeout_s=timeout_s) as connection:
            return read_event(connection, self._tenant(connection, tenant), tenant, execution_ref)

    def events(self, query: EventsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> EventPage:
        if query.conversation_id is not None and query.session_id is None:
            self._list_by_labels(tenant, timeout_s)
        with self.engine.reading(timeout_s=timeout_s) as connection:
            return read_events(connection, self._tenant(connection, tenant), query)

    def sessions(
        self, query: SessionsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> SessionPage:
        from store.lists import session_list

        if query.q is not None:
            from store.lists import search

            search.catch_up(self.engine, self._known_tenant(tenant, timeout_s), timeout_s=timeout_s)
        if any(value is not None for value in (query.user_id, query.agent_id, query.tag, query.conversation_id)):
            self._list_by_labels(tenant, timeout_s)
        with self.engine.reading(timeout_s=timeout_s) as connection:
            return session_list.read_sessions(connection, self._tenant(connection, tenant), query)

    def session(self, session_id: bytes, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> bytes:
        from store.lists import session_list

        with self.engine.reading(timeout_s=timeout_s) as connection:
            return session_list.read_session(connection, self._tenant(connection, tenant), session_id)

    def turns(
        self, query: TurnsQuery, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> tuple[bytes, ...]:
        with self.engine.reading(timeout_s=timeout_s) as connection:
            return read_turns(connection, self._tenant(connection, tenant), query)

    def stats(self, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None) -> Stats:
        from store.log import stats

        with self.engine.reading(timeout_s=timeout_s) as connection:
            return stats.read_stats(connection, self._tenant(connection, tenant))

    def erase_session(
        self, session_id: bytes, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        from store.privacy.erasure import Subject

        return self._erase(Subject("session", session_id), actor, tenant, timeout_s)

    def erase_turn(
        self, turn_id: bytes, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        from store.privacy.erasure import Subject

        return self._erase(Subject("turn", turn_id), actor, tenant, timeout_s)

    def erase_user(
        self, user_id: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Erased:
        from store.privacy.erasure import Subject

        return self._erase(Subject.user(user_id), actor, tenant, timeout_s)

    def _erase(self, subject: Subject, actor: Actor, tenant: str, timeout_s: float | None) -> Erased:
        from store.privacy import erasure

        with self.engine.writing(timeout_s=timeout_s) as connection:
            done = erasure.erase(connection, self._tenant(connection, tenant), subject, actor)
        return done.receipt(actor, files="rewritten" if self.rewrite_files() else "pending")

    def rewrite_files(self) -> bool:
        """Take what was erased out of the files now, if they are small; False where that is left to do.

        An erasure that is done is answered as done, whatever hinders this.
        """
        try:
            return self.engine.scrub(at_most_bytes=_REWRITTEN_AT_ONCE_BYTES)
        except (Unavailable, DamagedDatabase):
            return False

    def export_user(
        self, user_id: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> Iterator[bytes]:
        from store.lists import label_rows
        from store.privacy import audit, export
        from store.privacy.erasure import Subject

        with self.engine.writing(timeout_s=timeout_s) as connection:
            tenant_key = self._tenant(connection, tenant)
            export.require_user(connection, tenant_key, user_id)
            audit.write(connection, tenant_key, actor, "export_user", Subject.user(user_id).name)
        label_rows.catch_up(self.engine, tenant_key, timeout_s=timeout_s)
        return export.export_user(self.engine, tenant_key, user_id, actor, timeout_s=timeout_s)

    def audit(
        self,
        *,
        after: int = 0,
        limit: int = DEFAULT_LIMIT,
        tenant: str = DEFAULT_TENANT,
        timeout_s: float | None = None,
    ) -> tuple[tuple[bytes, ...], int | None]:
        from store.privacy import audit

        with self.engine.reading(timeout_s=timeout_s) as connection:
            return audit.read(connection, self._tenant(connection, tenant), after=after, limit=limit)

    def record(
        self, action: str, subject: str, actor: Actor, *, tenant: str = DEFAULT_TENANT, timeout_s: float | None = None
    ) -> None:
        from store.privacy import audit

        with self.engine.writing(timeout_s=timeout_s) as connection:
            audit.write(connection, self._tenant(connection, tenant, create=True), actor, action, subject)

    def ping(self, *, timeout_s: float | None = None) -> None:
        self.engine.probe(timeout_s=timeout_s)

    def scrub(self) -> None:
        """Rewrite the files whole, whatever their size; see ``Engine.scrub``."""
        self.engine.scrub()

    def migrate(self) -> None:
        """Bring the tables to this release's; any first use does so too."""
        self.engine.probe()

    def tenants(self) -> tuple[str, ...]:
        """The names of all tenants that ever wrote."""
        with self.engine.reading() as connection:
            return tuple(name.decode() for (name,) in connection.execute("SELECT name FROM tenants ORDER BY tenant"))

    def close(self) -> None:
        self.engine.close()

    def _list_by_labels(self, tenant: str, timeout_s: float | None) -> None:
        from store.lists import label_rows

        label_rows.catch_up(self.engine, self._known_tenant(tenant, timeout_s), timeout_s=timeout_s)

    def _known_tenant(self, name: str, timeout_s: float | None) -> int:
        with self.engine.reading(timeout_s=timeout_s) as connection:
            return self._tenant(connection, name)

    def _tenant(self, connection: Connection, name: str, *, create: bool = False) -> int:
        """A tenant's key; that of nobody where it never wrote."""
        if create:
            return made_tenant_key(connection, name)
        key = tenant_key(connection, name)
        return _NOBODY if key is None else key
