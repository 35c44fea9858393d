"""The store behind a conversation memory: opened by its name, with what reads it, writes to it and holds its sessions.

None is what the environment names, as everywhere (``RUVECTOR_SERVICE_URL``, ``RUVECTOR_API_KEY``; by default the
embedded ``./memory-graph.db``). A database that is not there yet is made by the first write, and by no read. Refuses,
by ConfigurationError, an address that is none and intents that do not hold, by StoreConnectionError a path at which no
embedded store can be (a client would wait for such a store as for one that is busy), and by TypeError what names none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent import __version__
from agent.ambient import peak_memory_bytes
from agent.bootstrap import embedded_fault, store_client
from agent.capture.service import CaptureService
from agent.config import Settings, StoreAddress
from agent.content.policy import FULL, ContentPolicy
from agent.errors import StoreConnectionError, StoreNotFound, StoreWriteError
from agent.once import Once
from agent.recall.held import HeldSession, HeldSessions
from agent.ruvector.reads import StoreReads
from agent.sdk.file_reads import FileAsked
from agent.sdk.kept_views import KeptViews
from agent.window_settings import ContextSettings

if TYPE_CHECKING:
    from agent.intents import Intents
    from agent.ruvector.client import RuvectorClient
    from agent.sdk.context import Cutting

IN_MEMORY: Final = ":memory:"
_ADDRESSES: Final = ("http://", "https://", "embedded:")
_NOTHING_SET: Final[Mapping[str, str]] = {}
_NOT_READ: Final = (HTTPStatus.FORBIDDEN, HTTPStatus.METHOD_NOT_ALLOWED)


class OpenedStore:
    """A store until it is closed: ``client`` writes to it, ``asked`` is who asks it and is closed with it.

    ``intents`` are those that answers are read by, ``environ`` says how windows are cut, ``content`` how much of a
    capture is stored. ``clock`` gives aware instants, ``new_id`` random UUIDs, ``process_id`` the number of the
    process. After a fork the store is the parent's alone: two processes on one connection would read each other's
    answers, and a lock that a thread had stays locked. Whatever is asked of it in another process raises
    StoreConnectionError at once, as once it is closed: an embedded store would open anew, and one in memory empty.
    """

    def __init__(
        self,
        client: RuvectorClient,
        asked: RuvectorClient | FileAsked,
        *,
        intents: Intents,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        process_id: Callable[[], int],
        environ: Mapping[str, str] = _NOTHING_SET,
        content: ContentPolicy = FULL,
    ) -> None:
        self._client = client
        self._process_id = process_id
        self._opened_by = process_id()
        self._asked = asked
        self._reads = StoreReads(asked)
        self._is_closed = False
        self.service = CaptureService(
            lambda: self.client,
            clock=clock,
            elapsed=time.monotonic,
            peak_memory=peak_memory_bytes,
            release=__version__,
            content=content,
        )
        self.held = HeldSessions(self._reads)
        self.intents = intents
        self.clock = clock
        self.new_id = new_id
        self.views = KeptViews()
        self.cutting: Once[Cutting] = Once(partial(_cutting, ContextSettings.from_env(environ), dict(environ)))

    @property
    def client(self) -> RuvectorClient:
        """Who writes to it."""
        self._check()
        return self._client

    @property
    def reads(self) -> StoreReads:
        """Who reads it."""
        self._check()
        return self._reads

    @property
    def kind(self) -> str:
        """``embedded`` or ``http``."""
        return self._client.kind

    def close(self) -> None:
        """Close it; in another process only for that: the connections stay as they are for who opened them."""
        self._is_closed = True
        if self._process_id() == self._opened_by:
            self._asked.close()

    def session(self, session_id: str) -> HeldSession | None:
        """The session (a UUID in lower case) as it is now; None for one that the store never had."""
        self._check()
        try:
            return self.held.session(session_id)
        except StoreNotFound:
            return None

    def newest_conversation(self, session_id: str) -> str | None:
        """The conversation (a UUID in lower case) with the newest turn of the session; None where it has no turns.

        One small read, however long the session is: whoever only writes needs no more of it. None too where the key may
        write and not read, or the store has no such read: such a program still writes.
        """
        try:
            turns = self.reads.turns(session_id, last=1, limit=1).turns
        except StoreNotFound:
            return None
        except StoreWriteError as error:
            if error.upstream_status in _NOT_READ:
                return None
            raise
        return turns[-1].conversation_id.lower() if turns else None

    def _check(self) -> None:
        if self._process_id() != self._opened_by:
            raise StoreConnectionError(
                "this memory was opened in another process: make a ConversationMemory after the fork"
            )
        if self._is_closed:
            raise StoreConnectionError("the conversation memory is closed")


def open_store(
    store: str | os.PathLike[str] | None,
    *,
    api_key: str | None,
    intents: Intents | str | os.PathLike[str] | None,
    environ: Mapping[str, str],
    clock: Callable[[], datetime],
    new_id: Callable[[], str],
    process_id: Callable[[], int],
) -> OpenedStore:
    """The store that ``store`` names. Nothing is connected, and no database made, before it is read or written."""
    settings = _settings(store, api_key, environ)
    client = store_client(settings)
    asked: RuvectorClient | FileAsked = client
    path = settings.store.path
    if path is not None and path != IN_MEMORY:
        _check_path(path)
        # What an empty store answers, an empty store knows best.
        empty = settings._replace(store=StoreAddress(path=IN_MEMORY))
        asked = FileAsked(path, client, lambda: store_client(empty))
    known = _intents(intents, settings)
    return OpenedStore(
        client,
        asked,
        intents=known,
        content=settings.content._replace(params=known.redacted_params),
        clock=clock,
        new_id=new_id,
        process_id=process_id,
        environ=environ,
    )


def _cutting(settings: ContextSettings, environ: Mapping[str, str]) -> Cutting:
    # Counters and models are loaded by who asks for a window.
    from agent.sdk.context import Cutting

    return Cutting(settings, environ)


def _intents(given: object, settings: Settings) -> Intents:
    from agent.intents import NO_INTENTS, Intents, load_intents

    if isinstance(given, str | os.PathLike):
        return load_intents(Path(given))
    if given is None:
        return NO_INTENTS if settings.intents is None else settings.intents
    if not isinstance(given, Intents):
        raise TypeError("intents must be Intents, or the path of the file that holds them")
    return given


def _settings(store: str | os.PathLike[str] | None, api_key: str | None, environ: Mapping[str, str]) -> Settings:
    named = dict(environ)
    if api_key is not None:
        named["RUVECTOR_API_KEY"] = api_key
    # Who may capture through the function is nothing to a program that has the store.
    named.pop("CAPTURE_API_KEYS", None)
    if store is None:
        return Settings.from_env(named)
    given = os.fspath(store)
    if isinstance(store, str) and given.startswith(_ADDRESSES):
        return Settings.from_env({**named, "RUVECTOR_SERVICE_URL": given})
    # Through the same rule as any address, then the path to the letter: names of files may end with a space.
    if given == IN_MEMORY:
        # It goes with the process wherever that runs, and says so.
        named.pop("K_SERVICE", None)
    settings = Settings.from_env({**named, "RUVECTOR_SERVICE_URL": f"embedded:{given}"})
    return settings._replace(store=StoreAddress(path=given))


def _check_path(path: str) -> None:
    folder = Path(os.path.realpath(path)).parent
    fault = embedded_fault(path) if folder.is_dir() else "its folder does not exist"
    if fault is not None:
        raise StoreConnectionError(f"the embedded store cannot be opened: {fault}")
