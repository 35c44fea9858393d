"""``store pull``: moves another store's events into ours, page by page, each envelope as it came.

Read and written over CONTRACT 10 by the client that captures go through, with its deadlines and retries. What is there
already is a duplicate, so a pull that ended early is simply run again. An event that our store refuses is told and
passed over; a feed whose pages do not advance ends the pull, for it would never end by itself.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass, field
from typing import Any, Final

from agent.bootstrap import store_client
from agent.cli.copied_event import Refusal, copy_event
from agent.cli.embedded_path import check_embedded_path, is_absent
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import STORE_VARIABLE, Invocation
from agent.cli.other_store import OtherStore
from agent.cli.result import print_result
from agent.cli.store.database import DATABASE_VARIABLE, store_settings
from agent.cli.store.feed_walk import FeedWalk, ReadPage
from agent.cli.store.pull_database import database_client
from agent.config import Settings, StoreAddress
from agent.errors import ConfigurationError, StoreConnectionError
from agent.ruvector.client import RuvectorClient
from agent.ruvector.feed import FedEvent, FeedPage
from store.port import DEFAULT_TENANT
from store.settings import StoreSettings

_EMBEDDED: Final = "embedded:"
_SQLITE: Final = "sqlite:///"
_DATABASES: Final = (_SQLITE, "postgresql+psycopg://", "postgresql://")
_KEY_NAME: Final = "command-line"
# As RUVECTOR_KEYS names a tenant.
_TENANT: Final = re.compile(r"[A-Za-z0-9._-]{1,64}\Z", re.ASCII)
# Each refusal is a line on standard error; so many stand in the document too.
_MOST_LISTED: Final = 1000


@dataclass(slots=True)
class _Counts:
    """What came of the events so far."""

    read: int = 0
    new: int = 0
    duplicate: int = 0
    refused: int = 0
    refusals: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PullCommand:
    """One pull from the store at ``source``, whose key stands in the variable ``key_variable``."""

    source: str
    key_variable: str
    types: str
    after: str | None
    page: int
    dry_run: bool
    source_tenant: str | None = None
    tenant: str | None = None

    interrupted = "interrupted: what was stored stays; --after goes on from the cursor above"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Move and print the counts, also where it ends early. The code is PARTLY where not all could be moved."""
        settings, target = _target(invocation)
        _check_tenant("--tenant", self.tenant, is_database=target is not None)
        with ExitStack() as stack:
            reader = stack.enter_context(self._reader(invocation, settings))
            writer = None
            if not self.dry_run:
                writer = stack.enter_context(_writer(settings, target, self.tenant))
            read = self._read_of(reader)
            walk = FeedWalk(read, self.after, self.page, tuple(filter(None, self.types.split(","))))
            counts = _Counts()
            ended = False
            try:
                for event in walk.events():
                    counts.read += 1
                    if writer is not None:
                        _append(writer, event, counts, invocation)
                ended = True
            finally:
                self._print(invocation, counts, walk, ended=ended)
        if walk.stuck:
            invocation.terminal.say("the other store's pages do not advance: what is behind them was not read")
        return ExitCode.PARTLY if counts.refused or walk.stuck else ExitCode.OK

    def _reader(self, invocation: Invocation, settings: Settings) -> AbstractContextManager[RuvectorClient]:
        """A client of the store at ``--from``."""
        url = self.source.strip()
        if not url.startswith(_DATABASES):
            address = self._source_address(invocation)
            if address.path is None:
                _check_tenant("--from-tenant", self.source_tenant, is_database=False)
                return closing(store_client(settings._replace(store=address)))
            url = f"{_SQLITE}{address.path}"
        else:
            url = _source_database(url)
        tenant = _check_tenant("--from-tenant", self.source_tenant, is_database=True)
        return database_client(url, settings, tenant=tenant, key_name=_KEY_NAME, may_be_new=False)

    def _read_of(self, reader: RuvectorClient) -> ReadPage:
        """Reads pages of the source, whose key stands in a variable of its own."""

        def read(after: str | None, /, *, limit: int, types: tuple[str, ...]) -> FeedPage:
            with self._other.asked():
                return reader.reads.feed(after, limit=limit, types=types)

        return read

    @property
    def _other(self) -> OtherStore:
        return OtherStore("--from", self.source, self.key_variable)

    def _source_address(self, invocation: Invocation) -> StoreAddress:
        address = self._other.address(invocation.terminal.environ)
        if is_absent(address):
            raise StoreConnectionError(f"there is no store at {address.path}")
        check_embedded_path(address)
        return address

    def _print(self, invocation: Invocation, counts: _Counts, walk: FeedWalk, *, ended: bool) -> None:
        document = {
            "dry_run": self.dry_run,
            "complete": ended and not walk.stuck,
            "read": counts.read,
            "new": counts.new,
            "duplicate": counts.duplicate,
            "refused": counts.refused,
            "refusals": counts.refusals,
            "cursor": walk.cursor,
        }
        facts = [(name, str(document[name])) for name in ("read", "new", "duplicate", "refused")]
        if self.dry_run:
            facts = [("read", f"{counts.read}, nothing was written")]
        if walk.cursor is not None:
            facts.append(("cursor", walk.cursor))
        print_result(invocation, document, facts)


def _source_database(url: str) -> str:
    """The database at ``--from``, by the rules of ``RUVECTOR_STORE``, which messages then do not name."""
    try:
        return StoreSettings.from_env({DATABASE_VARIABLE: url}).url
    except ConfigurationError as error:
        raise ConfigurationError("--from", error.message.removeprefix(f"{DATABASE_VARIABLE}: ")) from None


def _target(invocation: Invocation) -> tuple[Settings, str | None]:
    """The settings, and the URL of the database to write to; None where it is the server that the settings name."""
    environ = dict(invocation.terminal.environ)
    given = invocation.store
    if given is None and not environ.get(DATABASE_VARIABLE, "").strip():
        service = environ.get(STORE_VARIABLE, "").strip()
        is_database = not service or service.startswith(_EMBEDDED)
    else:
        is_database = given is None or not given.strip().startswith(("http://", "https://"))
    if not is_database:
        return Settings.from_env(invocation.settings()), None
    url = store_settings(invocation).url
    # What says where captures go says nothing of this.
    environ.pop(STORE_VARIABLE, None)
    return Settings.from_env(environ), url


def _writer(settings: Settings, url: str | None, tenant: str | None) -> AbstractContextManager[RuvectorClient]:
    if url is None:
        return closing(store_client(settings))
    name = DEFAULT_TENANT if tenant is None else tenant
    return database_client(url, settings, tenant=name, key_name=_KEY_NAME, may_be_new=True)


def _check_tenant(option: str, given: str | None, *, is_database: bool) -> str:
    """The tenant of a database. Raises ConfigurationError for a server, where the key says the tenant."""
    if given is None:
        return DEFAULT_TENANT
    if not is_database:
        raise ConfigurationError(option, "is for a database: a server knows the tenant by its key")
    if not _TENANT.match(given):
        raise ConfigurationError(option, "must have 1 to 64 letters, digits, dots, underscores and hyphens")
    return given


def _append(writer: RuvectorClient, event: FedEvent, counts: _Counts, invocation: Invocation) -> None:
    """Write one event and count what came of it. Raises what concerns more than this one event."""
    copied = copy_event(writer, event)
    if isinstance(copied, Refusal):
        counts.refused += 1
        if len(counts.refusals) < _MOST_LISTED:
            refusal = {"execution_ref": event.execution_ref, **copied._asdict(), "position": event.position}
            counts.refusals.append(refusal)
        name = event.execution_ref or f"an event without one at position {event.position}"
        invocation.terminal.say(f"refused {name}: {copied.status}, {copied.reason}")
    elif copied.duplicate:
        counts.duplicate += 1
    else:
        counts.new += 1
