"""A deployment that the runbook is typed against: a store and functions as real processes, and a desk."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from agent.bootstrap import new_id
from tests.cli.store.server import StoreServer, store_server
from tests.live.host import FunctionHost, free_port, function_host
from tests.monitoring.desk import Desk, World
from tests.monitoring.site import DEADLINE_S, SERVICES
from tests.monitoring.traffic import post

WRITE, READ, ADMIN, METRICS = (f"a-key-to-{name}-of-this-store" for name in ("write", "read", "admin", "measure"))
KEYS = f"acme:{WRITE}:write,acme:{READ}:read,acme:{ADMIN}:admin"


class Deployment:
    """A store with three keys on one port, functions before it, and a desk that reaches all of them."""

    def __init__(self, folder: Path, running: ExitStack) -> None:
        self.folder = folder
        self._running = running
        self.port = str(free_port())
        self.database = f"sqlite:///{folder / 'store.db'}"
        self.store = self.start_store()
        self.desk = Desk(folder / "desk", World())
        for target in ("handler", "recall"):
            self.function(target, READ if target == "recall" else WRITE)
        self.desk.world.services["conversation-store"] = self.store.url
        self.desk.world.secrets.update(
            {
                "conversation-store-url": self.database,
                "conversation-store-keys": KEYS,
                "conversation-store-write-key": WRITE,
                "conversation-store-read-key": READ,
                "conversation-store-metrics-key": METRICS,
            }
        )

    def start_store(self, **variables: str) -> StoreServer:
        folder = self.folder / new_id()
        folder.mkdir()
        settings = {"RUVECTOR_STORE": self.database, "RUVECTOR_KEYS": KEYS, "METRICS_KEY": METRICS, **variables}
        return self._running.enter_context(store_server(folder, "--port", self.port, **settings))

    def function(self, target: str, key: str) -> FunctionHost:
        """A new revision of the target's function, with this key of the store."""
        host = self._running.enter_context(
            function_host(
                self.folder, target=target, store=self.store.url, RUVECTOR_API_KEY=key, RUVECTOR_DEADLINE_S=DEADLINE_S
            )
        )
        self.desk.world.services[SERVICES[target]] = host.url
        self.desk.world.logs[SERVICES[target]] = str(host.log_path)
        return host

    def send(self, bodies: list[bytes]) -> set[int]:
        return set(post(self.desk.world.services["conversation-memory"], bodies))

    @property
    def sessions(self) -> list[dict[str, Any]]:
        """What is stored, as a reader is told."""
        said = self.desk.type("memory-graph agent conversation-memory sessions --jsonl")
        return [json.loads(line) for line in said.out.splitlines() if line.startswith("{")]
