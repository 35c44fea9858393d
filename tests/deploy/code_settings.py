"""Which environment variables the code reads: seen from outside, by readers that get an environment which remembers.

What other programs read in the same process (the function host, the platform, the OpenTelemetry SDK) stands here as a
list, with who reads it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agent.capture.events.settings import event_settings
from agent.config import RecallSettings, Settings
from agent.observability import Telemetry
from agent.observability.recall_telemetry import RecallTelemetry
from agent.recall.opened_windows import opened_windows
from agent.recall.semantic.settings import semantic_cache
from store.settings import StoreSettings
from tests.conftest import REPOSITORY

TARGETS = ("handler", "capture_event", "recall", "store")
# Read by others than our code, and by whom.
THIRD_PARTY = {
    "PORT": "functions-framework: where it listens; the platform sets it",
    "FUNCTION_TARGET": "functions-framework: which function of main.py; the platform sets it from the entry point",
    "FUNCTION_SIGNATURE_TYPE": "functions-framework: ours are all http, its default",
    "THREADS": "functions-framework: threads of the server",
    "WORKERS": "functions-framework: processes of the server, 1 by default",
    "CLOUD_RUN_TIMEOUT_SECONDS": "functions-framework: the platform sets it",
    "GUNICORN_LOG_LEVEL": "functions-framework",
    "K_SERVICE": "the platform sets it; our code takes it for a sign of being deployed",
    "K_REVISION": "the platform sets it",
    "SSL_CERT_DIR": "the TLS library, and our transport to the store, in place of certifi's authorities",
    "SSL_CERT_FILE": "the TLS library, and our transport to the store, as before",
    "SOURCE_DATE_EPOCH": "the builder's py_compile (PEP 552)",
}
_OTEL = re.compile(r"OTEL_[A-Z0-9_]+\Z")
# What the command line reads, beside what the functions do.
COMMAND_LINE = {"INTO_API_KEY", "PULL_API_KEY", "XDG_STATE_HOME"}
_LOOKS_LIKE_A_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")

_COLLECTED = {"LLM_OBSERVATORY_URL": "https://otlp.example", "RUVECTOR_SERVICE_URL": "https://store.example"}
_STANDARD = {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://otlp.example"}
_WITH_KEY = {"RUVECTOR_API_KEY": "a-key-of-the-store"}
_KEYS = {"RUVECTOR_KEYS": "acme:0123456789abcdef:write", "METRICS_KEY": "fedcba9876543210"}


class Remembering(Mapping[str, str]):
    """An environment that keeps the names that were asked for. A copy of it remembers nothing, and gets nothing."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


Reader = Callable[[Mapping[str, str]], object]
# Recall reads the capture's settings from a copy of its environment, without what a capture may store: so they are read
# here once more, and that taken away.
_READERS: dict[str, tuple[Reader, ...]] = {
    "handler": (Settings.of_capture_function, Telemetry.from_env),
    "capture_event": (event_settings, lambda environ: Telemetry.from_env(environ, trigger="event")),
    "recall": (
        Settings.from_env, RecallSettings.from_env, RecallTelemetry.from_env, opened_windows, semantic_cache,
    ),
    "store": (StoreSettings.from_env,),
}  # fmt: skip
_NOT_RECALLS = {"CAPTURE_CONTENT", "CONTENT_HASH_KEY"}


def read_by(target: str) -> frozenset[str]:
    """The variables that our code reads for one target of main.py."""
    asked: set[str] = set()
    for reader in _READERS[target]:
        for variables in ({}, {**_COLLECTED, **_WITH_KEY, **_KEYS}, _STANDARD):
            environ = Remembering(variables)
            _read(reader, environ)
            asked |= environ.asked
    return frozenset(asked - _NOT_RECALLS if target == "recall" else asked)


def _read(reader: Reader, environ: Mapping[str, str]) -> None:
    read: Any = reader(environ)
    if hasattr(read, "close"):
        read.close()


def read_by_any() -> frozenset[str]:
    """The variables that our code reads for any target, and for the command line."""
    return frozenset(COMMAND_LINE).union(*map(read_by, TARGETS))


def may_be_set(name: str, target: str) -> bool:
    """Whether somebody in a process of this target reads the variable."""
    return name in read_by(target) or name in THIRD_PARTY or (target != "store" and bool(_OTEL.match(name)))


def is_known(name: str) -> bool:
    """Whether somebody reads the variable at all."""
    return name in read_by_any() or name in THIRD_PARTY or bool(_OTEL.match(name))


def names_in_the_code() -> dict[str, set[str]]:
    """The text constants of agent and store that look like a variable's name, with the files that hold them."""
    found: dict[str, set[str]] = {}
    for path in [*REPOSITORY.glob("agent/**/*.py"), *REPOSITORY.glob("store/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and _LOOKS_LIKE_A_VARIABLE.match(node.value)
            ):
                found.setdefault(node.value, set()).add(str(path.relative_to(REPOSITORY)))
    return found
