"""A psycopg connection that waits for no answer without end: the one place where the store waits for PostgreSQL.

A peer may acknowledge every byte and never answer: its host hangs, a pooler lost the session, a firewall forgot it. No
setting of the server or of TCP ends such a wait, so this does, in one of two ways. Where an answer must be there by a
certain time (the server was told to give up by then), that time is the bound: ``due``. Elsewhere a statement may take
as long as the server works on it (a migration, ``VACUUM FULL``), and after each ``QUIET_S`` without a byte the server
is asked, over a connection of its own, whether it still does. Who gets no answer closes the connection: whether the
statement was done is not known then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, Final

import psycopg
from psycopg.conninfo import make_conninfo

QUIET_S: Final = 5.0
# To connect, and once more to be answered. libpq knows no shorter one.
_ASKED_S: Final = 2
# How much longer an answer takes than that of who asks for it.
_LATE_S: Final = 1.0
# What waits for the client is done with the statement, or never got all of it.
_WORKS: Final = """
SELECT EXISTS (SELECT 1 FROM pg_stat_activity
    WHERE pid = %s AND state = 'active' AND wait_event_type IS DISTINCT FROM 'Client')
"""


class SilentDatabase(psycopg.OperationalError):
    """No answer came in time; the connection is closed. What was asked may have been done all the same."""


class WatchedConnection(psycopg.Connection[Any]):
    """``due``: when the answer must be there, by ``clock``; None where it may take as long as it is worked on.

    ``pid`` is the server's process, 0 where it is not known: through a pooler libpq has another number.
    ``made_at`` and ``idle_since`` are its pool's (store.engines.postgres_pool).
    """

    due: float | None = None
    quiet_s: float = QUIET_S
    clock: Callable[[], float] = staticmethod(time.monotonic)
    pid: int = 0
    made_at: float = 0.0
    idle_since: float = 0.0

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """As psycopg waits, which comes back to the generator every 0.1 s. Raises SilentDatabase."""
        return super().wait(self._watched(gen), *args, **kwargs)

    def _watched(self, steps: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        try:
            wanted = next(steps)
            quiet_until = self.clock() + self.quiet_s
            is_done = False
            while True:
                ready = yield wanted
                # What has come is read before the time is looked at.
                wanted = steps.send(ready)
                now = self.clock()
                if self.due is not None:
                    if now >= self.due:
                        self._give_up()
                elif ready:
                    quiet_until, is_done = now + self.quiet_s, False
                elif now >= quiet_until:
                    if is_done:
                        self._give_up()
                    is_done = not self._is_worked_on()
                    # What it had done when it was asked may be on its way.
                    quiet_until = self.clock() + (min(_LATE_S, self.quiet_s) if is_done else self.quiet_s)
        except StopIteration as ended:
            return ended.value

    def _give_up(self) -> None:
        self.close()
        raise SilentDatabase("the server does not answer")

    def _is_worked_on(self) -> bool:
        """Whether the server says so. The same server: another one of the URL would know nothing of it."""
        info = self.info
        at: dict[str, Any] = {"host": info.host, "port": info.port, "password": info.password or None}
        if info.hostaddr:
            at["hostaddr"] = info.hostaddr
        url = make_conninfo("", **{**info.get_parameters(), **at})
        try:
            with WatchedConnection.connect(url, connect_timeout=_ASKED_S, autocommit=True) as asking:
                asking.due = self.clock() + _ASKED_S
                row = asking.execute(_WORKS, (self.pid,)).fetchone()
        except psycopg.Error:
            return False
        return row is not None and bool(row[0])
