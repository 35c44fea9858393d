"""The only place where the parts are put together: settings, store client, service, HTTP surface.

Settings are checked when this is called (at start); nothing is connected or opened before the first capture.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, NamedTuple

from agent import __version__
from agent.ambient import new_id, peak_memory_bytes, utc_now
from agent.capture.http import CaptureApp
from agent.capture.late import LateCapture
from agent.config import RecallSettings, Settings
from agent.edge.body import MAX_BODY_BYTES
from agent.edge.room import Room
from agent.observability import Telemetry, configure_logging, log_event
from agent.once import Once
from agent.ready_start import log_ready
from agent.refused_start import refused_start_logged
from schemas import openapi_bytes

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from flask import Flask, Request, Response
    from httpx import BaseTransport

    from agent.capture.events.app import EventApp
    from agent.capture.service import CaptureService
    from agent.content.policy import ContentPolicy
    from agent.recall.http.app import RecallApp
    from agent.ruvector.client import RuvectorClient

Function = Callable[["Request"], "Response"]

# CONTRACT 7: a health answer comes within 2 s, whatever the store does.
HEALTH_TIMEOUT_S: Final = 1.5


def target_function(environ: Mapping[str, str], host: Flask) -> Function:
    """The function of the target that ``host`` loads: its settings are checked, and those of no other.

    The host calls its Flask application by the name of the target.
    """
    # Late: only a host has a server.
    from agent.edge.one_arena import one_arena
    from agent.edge.server_settings import set_server_defaults
    from agent.edge.settled_heap import SettledHeap

    set_server_defaults()
    one_arena()
    others = {"store": store_function, "recall": recall_function, "capture_event": event_function}
    function = others.get(host.import_name, capture_function)(environ, host)
    host.wsgi_app = SettledHeap(host.wsgi_app)  # type: ignore[method-assign]  # Flask's own way to add WSGI middleware
    return function


def capture_function(environ: Mapping[str, str], host: Flask | None = None) -> Function:
    """The capture function for a functions-framework host, ready to answer.

    ``host`` is the Flask application that loads the function: its own pages are replaced by typed JSON.
    A setting that does not hold ends the start with one log line that names the variable: SystemExit, since the host
    would print frames for any other exception.
    """
    with refused_start_logged():
        app = capture_app(environ)
    if host is not None:
        from agent.edge.host import TypedAnswers, type_protocol_errors

        type_protocol_errors(app.refused_by_host)
        host.wsgi_app = TypedAnswers(host.wsgi_app, app.refused_by_host)  # type: ignore[method-assign]  # Flask's own way to add WSGI middleware
    return lambda request: app.handle(request.environ)


def capture_app(environ: Mapping[str, str], client: Callable[[], RuvectorClient] | None = None) -> CaptureApp:
    """The HTTP surface of the capture function, with its service behind it.

    ``client`` gives a store client that the caller closes; without it one is made on first use, for the process's life.
    """
    settings = Settings.of_capture_function(environ)
    configure_logging(sys.stderr, level=settings.log_level)
    callers = settings.opened_callers(time.monotonic_ns)
    client = client or Once(lambda: store_client(settings))
    telemetry = Telemetry.from_env(environ)
    log_ready("capture", settings)
    return CaptureApp(
        LateCapture(lambda: capture_service_on(client, settings.content)),
        telemetry=telemetry,
        health=lambda: asdict(client().health(timeout_s=HEALTH_TIMEOUT_S)),
        openapi=openapi_bytes,
        clock=utc_now,
        new_id=new_id,
        release=__version__,
        room=room_for_bodies(),
        callers=callers,
        content=settings.content.mode,
    )


def event_function(environ: Mapping[str, str], host: Flask | None = None) -> Function:
    """The capture behind a queue, started as ``capture_function`` is; ``host`` answers nothing by itself."""
    with refused_start_logged():
        app = event_app(environ)
    if host is not None:
        from agent.edge.host import type_protocol_errors

        type_protocol_errors(app.refused_by_host)
        # Whole: for a function of CloudEvents the host would parse what came, and repeat it where it cannot.
        host.wsgi_app = app  # type: ignore[method-assign]  # Flask's own way to add WSGI middleware
    return lambda request: app.handle(request.environ)


def event_app(environ: Mapping[str, str]) -> EventApp:
    """The surface of the capture that a queue pushes to, with its service behind it. Raises ConfigurationError."""
    # Late: the capture function needs none of it.
    from agent.capture.events.app import EventApp
    from agent.capture.events.settings import event_settings
    from schemas import events_openapi_bytes

    settings = event_settings(environ)
    configure_logging(sys.stderr, level=settings.log_level)
    client = Once(lambda: store_client(settings))
    telemetry = Telemetry.from_env(environ, trigger="event")
    log_ready("event", settings)
    return EventApp(
        LateCapture(lambda: capture_service_on(client, settings.content)),
        telemetry=telemetry,
        health=lambda: asdict(client().health(timeout_s=HEALTH_TIMEOUT_S)),
        openapi=events_openapi_bytes,
        clock=utc_now,
        new_id=new_id,
        release=__version__,
        room=room_for_bodies(),
        callers=settings.opened_callers(time.monotonic_ns),
        content=settings.content.mode,
    )


def room_for_bodies() -> Room:
    """Room for what an instance captures at once: as many bytes as the largest body has."""
    return Room(MAX_BODY_BYTES, clock=time.monotonic)


def capture_service_on(client: Callable[[], RuvectorClient], content: ContentPolicy) -> CaptureService:
    """The capture without HTTP in front, on a store that the caller closes; ``content`` is how much of it is stored."""
    from agent.capture.service import CaptureService  # late: an instance that answers for itself needs none of it

    return CaptureService(
        client,
        clock=utc_now,
        elapsed=time.monotonic,
        peak_memory=peak_memory_bytes,
        release=__version__,
        content=content,
    )


def recall_function(environ: Mapping[str, str], host: Flask | None = None) -> Function:
    """The read side as a function of the host, ready to answer; it answers whatever ``host`` would answer by itself.

    A setting that does not hold ends the start with one log line that names the variable.
    """
    with refused_start_logged():
        settings = RecallSettings.from_env(environ)
        app = recall_app(environ, settings)
    from agent.edge.host import type_protocol_errors
    from agent.recall.http.cors import recall_cors

    if host is not None:
        type_protocol_errors(app.refused_by_host)
    return _hosted(recall_cors(settings.cors_origins).around(app), host)


def recall_app(environ: Mapping[str, str], settings: RecallSettings) -> RecallApp:
    """The HTTP surface of the read side. Nothing is connected or opened before the first request that reads."""
    # Late: the capture function needs none of it.
    from agent.observability.recall_telemetry import RecallTelemetry
    from agent.recall.http.app import RecallApp
    from agent.recall.opened_windows import opened_windows
    from agent.recall.source import Source
    from schemas import recall_openapi_bytes

    configure_logging(sys.stderr, level=settings.settings.log_level)
    client = Once(lambda: store_client(settings.settings))
    callers = settings.settings.opened_callers(time.monotonic_ns)
    telemetry = RecallTelemetry.from_env(environ)
    log_ready("recall", settings.settings, writes=False)
    return RecallApp(
        Once(lambda: Source.of(client().reads)),
        telemetry=telemetry,
        health=lambda: asdict(client().health(timeout_s=HEALTH_TIMEOUT_S)),
        openapi=recall_openapi_bytes,
        clock=utc_now,
        new_id=new_id,
        release=__version__,
        callers=callers,
        settings=settings.context,
        windows=opened_windows(environ),
        hints=settings.intents.hints,
    )


class ServedStore(NamedTuple):
    """A store's HTTP surface over an engine of this ``kind``; ``close`` lets go of its database."""

    application: WSGIApplication
    kind: str
    close: Callable[[], None]


def store_function(environ: Mapping[str, str], host: Flask | None = None) -> Function:
    """The store's server (CONTRACT 10) as a function of the host, ready to answer.

    What ``host`` would answer by itself, the store answers. A setting that does not hold ends the start with one log
    line that names the variable.
    """
    with refused_start_logged():
        served = store_app(environ)
    log_event("store ready", fields={"store": served.kind, "release": __version__})
    # Late: the capture function needs none of it.
    from agent.hosted_store import refuse_protocol_errors

    if host is not None:
        refuse_protocol_errors()
    return _hosted(served.application, host)


def _hosted(application: Callable[..., Iterable[bytes]], host: Flask | None) -> Function:
    """``application`` as a function of ``host``; it answers whatever the host would answer by itself."""
    # Late: the capture function needs none of it.
    from agent.edge.hosted import HostedApplication

    hosted = HostedApplication(application)
    if host is not None:
        host.wsgi_app = hosted.in_place_of_pages(host.wsgi_app)  # type: ignore[method-assign, assignment]  # Flask's own way to add WSGI middleware
    return hosted.answer


def store_app(environ: Mapping[str, str]) -> ServedStore:
    """The HTTP surface of the store that the settings name, with its guard, its quotas and its figures.

    Raises ConfigurationError. Nothing is connected or opened before the first request.
    """
    from agent.edge.room_in_front import RoomInFront
    from agent.hosted_store import no_room
    from store.http.access import Guard
    from store.http.cors import with_cors
    from store.http.metrics import Metrics
    from store.http.quotas import Quotas
    from store.http.request import MAX_BODY_BYTES as MAX_WRITE_BYTES
    from store.server import create_app
    from store.settings import StoreSettings
    from store.urls import open_store

    settings = StoreSettings.from_env(environ)
    configure_logging(sys.stderr, level="INFO")
    store = open_store(settings.url)
    metrics = Metrics()
    metrics.pool(store.engine.connections)
    guard = Guard(
        settings.keys,
        quotas=Quotas(settings.quotas, monotonic_ns=time.monotonic_ns, clock=utc_now),
        metrics_key=settings.metrics_key,
        origins=settings.cors_origins,
    )
    application = create_app(store, clock=utc_now, new_id=new_id, guard=guard, metrics=metrics)
    guarded = RoomInFront(application, Room(MAX_WRITE_BYTES, clock=time.monotonic), refused=no_room)
    return ServedStore(with_cors(guarded, settings.cors_origins), store.kind, store.close)


def store_client(settings: Settings) -> RuvectorClient:
    """A client of the configured store: over HTTP, or the same client in process over WSGI."""
    # Late: a start needs none of it.
    from agent.ruvector.client import RuvectorClient
    from agent.ruvector.transport import KeepAliveTransport

    address = settings.store
    transport, base_url = _embedded(address.path) if address.path else (KeepAliveTransport(), str(address.url))
    return RuvectorClient(
        transport,
        base_url=base_url,
        api_key=address.api_key,
        kind=address.kind,
        deadline_s=settings.deadline_s,
        at_most_once=settings.at_most_once,
    )


def embedded_fault(path: str) -> str | None:
    """Why the file ``path`` is no database that a store of this release can use; None where it is one, or none yet."""
    from store.engines.connection import has_tables
    from store.errors import DatabaseLocked, StoreAnswerError

    try:
        has_tables(path)
    except DatabaseLocked:
        # Somebody is at work in it, and will be waited for.
        return None
    except StoreAnswerError as error:
        return error.message
    return None


def _embedded(path: str) -> tuple[BaseTransport, str]:
    from agent.ruvector.embedded import EmbeddedTransport
    from store.engines.sqlite import SqliteStore
    from store.server import create_app

    store = SqliteStore(path)
    application = create_app(store, clock=utc_now, new_id=new_id)
    return EmbeddedTransport(application, close_store=store.close), "http://embedded.invalid"
