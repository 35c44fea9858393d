"""``embed``: follows the feed and files the vectors of the turns whose events asked for embeddings.

It goes on from where the last run ended. At its start, and from time to time while nothing is new, it looks for
erasures and takes the vectors of erased turns out of the files. It writes to the folder of vectors alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.terminal import Terminal
from agent.config import Settings
from agent.errors import AgentError, ConfigurationError, RateLimitExceeded, StoreError, StoreWriteError
from agent.recall.follow import Follow, position_of
from agent.recall.semantic import position
from agent.recall.semantic.embedder import Embedder
from agent.recall.semantic.erasures import sweep
from agent.recall.semantic.feed import deferred
from agent.recall.semantic.model import VARIABLE as MODEL_VARIABLE
from agent.recall.semantic.said import Said
from agent.recall.semantic.semantic import Semantic
from agent.recall.semantic.settings import CACHE_VARIABLE, semantic_cache, semantic_model
from agent.recall.semantic.vector_files import VectorFiles
from agent.ruvector.feed import FedEvent
from agent.ruvector.reads import StoreReads

# As tail has them.
_SHORTEST_S: Final = 0.1
_LONGEST_S: Final = 3600.0
# A session's file is written once for so many events.
_BATCH: Final = 100
_SWEEP_EVERY_S: Final = 300.0


@dataclass(slots=True)
class _Counts:
    """What was done, in texts: ``known`` ones had their vectors; ``blank`` are turns that say nothing.

    ``erased`` texts lost their vectors. ``events`` asked for embeddings; ``position`` is the last that was looked at.
    """

    events: int = 0
    embedded: int = 0
    known: int = 0
    blank: int = 0
    erased: int = 0
    position: int = 0

    def document(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("events", "embedded", "known", "blank", "erased", "position")}


@dataclass(frozen=True, slots=True)
class EmbedCommand:
    """One walk along the feed: to its end, or (``follow``) until Ctrl-C.

    ``since``: only events beyond this position; None: from where the last run ended. ``interval``: seconds between two
    questions where nothing is new. ``sleep`` waits for so many, ``monotonic`` is a clock in seconds.
    """

    follow: bool
    since: int | None
    interval: float
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic

    interrupted = "stopped"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Embed, and print the counts however it ends. Raises ConfigurationError, and what cannot pass by waiting."""
        environ = invocation.settings()
        settings = Settings.from_env(environ)
        # A number that is none is outside of every range.
        if not _SHORTEST_S <= self.interval <= _LONGEST_S:
            raise ConfigurationError("--interval", f"must be {_SHORTEST_S} to {_LONGEST_S:.0f} seconds")
        files, semantic = _semantic(environ)
        check_embedded_store(settings.store)
        with closing(store_client(settings)) as client:
            work = _Work(client.reads, semantic, files)
            started = False
            try:
                work.begin(self.since)
                started = True
                for event in self._events(work, invocation.terminal):
                    work.add(event)
                work.flush()
                if work.looked_at and not work.counts.events:
                    _say_nobody_asked(invocation.terminal, work.looked_at)
            finally:
                if started:
                    print_result(invocation, work.counts.document())
        return ExitCode.OK

    def _events(self, work: _Work, terminal: Terminal) -> Iterator[FedEvent]:
        if not self.follow:
            return _to_the_end(work.reads, work.counts.position)
        swept_at = self.monotonic()

        def idle(seconds: float) -> None:
            nonlocal swept_at
            work.flush()
            self.sleep(seconds)
            if self.monotonic() - swept_at >= _SWEEP_EVERY_S:
                try:
                    work.sweep()
                except (StoreError, RateLimitExceeded):
                    # A store that is away is waited for by who follows it; what will not pass ends that.
                    return
                swept_at = self.monotonic()

        follow = Follow(
            work.reads,
            after=work.counts.position,
            interval=self.interval,
            sleep=idle,
            away=partial(_say_away, terminal),
            back=lambda: terminal.say("the store is back"),
        )
        return follow.events()


@dataclass(slots=True)
class _Work:
    """Turns that wait to be embedded, by session, and how far that has come. ``looked_at`` counts events."""

    reads: StoreReads
    semantic: Semantic
    files: VectorFiles
    counts: _Counts = field(default_factory=_Counts)
    looked_at: int = 0
    _waiting: dict[str, list[Said]] = field(default_factory=dict)
    _events: int = 0
    _last: position.Position | None = None

    def begin(self, since: int | None) -> None:
        """Look for erasures, and find out where to go on."""
        self.counts.position = position.load(self._file, self.reads) if since is None else since
        self.sweep()

    def add(self, event: FedEvent) -> None:
        """Keep what ``event`` wants to have embedded; every so often it is."""
        self.looked_at += 1
        found = deferred(event)
        if found is not None:
            self.counts.events += 1
            self.counts.blank += found.blank
            self._waiting.setdefault(found.session_id, []).extend(found.said)
        self.counts.position = position_of(event)
        if event.execution_ref is not None:
            self._last = position.Position(self.counts.position, event.execution_ref)
        self._events += 1
        if self._events >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Embed what waits, then note how far that is: what is killed in between is done again."""
        for session_id, said in self._waiting.items():
            with _folder():
                embedded = self.semantic.embed(session_id, said)
            self.counts.embedded += embedded.new
            self.counts.known += embedded.known
        self._waiting.clear()
        self._events = 0
        if self._last is not None:
            with _folder():
                position.save(self._file, self._last)
            self._last = None

    def sweep(self) -> None:
        with _folder():
            self.counts.erased += sweep(self.reads, self.semantic, self.files).texts

    @property
    def _file(self) -> Path:
        return position.file_of(self.files)


def _semantic(environ: Mapping[str, str]) -> tuple[VectorFiles, Semantic]:
    model, folder = semantic_model(environ), semantic_cache(environ)
    if model is None:
        raise ConfigurationError(
            MODEL_VARIABLE,
            "is not set: it names the folder of the model, which make semantic makes; "
            "running it needs pip install '.[semantic]' in a clone",
        )
    if folder is None:
        raise ConfigurationError(CACHE_VARIABLE, "is not set: it names the folder for the vectors")
    files = VectorFiles(folder, model)
    # As many as there are: this is the work that a reader should not have to wait for.
    return files, Semantic(Embedder(model), files, most_new=None)


def _to_the_end(reads: StoreReads, after: int) -> Iterator[FedEvent]:
    """The events beyond a position that are there now. Our store takes a position in place of a cursor."""
    cursor = str(after)
    while True:
        page = reads.feed(cursor)
        yield from page.events
        if page.next_cursor is None or not page.events:
            return
        if page.next_cursor == cursor:
            raise StoreWriteError("the store's pages do not advance", upstream_status=HTTPStatus.OK)
        cursor = page.next_cursor


@contextmanager
def _folder() -> Iterator[None]:
    """What the system says of the folder of vectors, under the name of its setting."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(CACHE_VARIABLE, f"cannot be used: {os.strerror(error.errno or 0)}") from error


def _say_nobody_asked(terminal: Terminal, events: int) -> None:
    """An event that does not ask is none that failed: who sees zeros should know why."""
    terminal.say(
        f"no event asked for embeddings, of {events} that are new: "
        "a capture does with capture_options.compute_embeddings true"
    )


def _say_away(terminal: Terminal, error: AgentError) -> None:
    terminal.say(f"{error.message}; asking again until it is back")
