"""Google's own Pub/Sub emulator, where this machine has it and a Java to run it: spoken to by its REST surface."""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.live.host import free_port

START_TIMEOUT_S = 60
_PLACES = (
    "/usr/lib/google-cloud-sdk",
    "/usr/share/google-cloud-sdk",
    "/opt/google-cloud-sdk",
    "/snap/google-cloud-cli/current",
)
_COMMAND = "platform/pubsub-emulator/bin/cloud-pubsub-emulator"
_PROJECT = "projects/test-project"


def missing() -> str | None:
    """Why there is no emulator; None where there is one."""
    if shutil.which("java") is None:
        return "the Pub/Sub emulator needs a Java, and none is installed"
    if _command() is None:
        return "the Pub/Sub emulator is not installed (apt package google-cloud-cli-pubsub-emulator)"
    return None


def _command() -> Path | None:
    gcloud = shutil.which("gcloud")
    sdks = [Path(gcloud).resolve().parents[1]] if gcloud else []
    return next((path for sdk in [*sdks, *map(Path, _PLACES)] if (path := sdk / _COMMAND).is_file()), None)


class Emulator:
    """A running emulator; topics and subscriptions by their short names."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=f"{url}/v1/{_PROJECT}/", timeout=30, trust_env=False)

    def topic(self, name: str) -> None:
        self._ask("PUT", f"topics/{name}", {})

    def push(self, name: str, topic: str, endpoint: str, **more: Any) -> None:
        """A push subscription; ``more`` are fields of the Subscription resource."""
        config = {"pushEndpoint": endpoint, **more.pop("pushConfig", {})}
        body = {"topic": f"{_PROJECT}/topics/{topic}", "pushConfig": config, "ackDeadlineSeconds": 10, **more}
        self._ask("PUT", f"subscriptions/{name}", body)

    def keep(self, name: str, topic: str) -> None:
        """A pull subscription."""
        self._ask("PUT", f"subscriptions/{name}", {"topic": f"{_PROJECT}/topics/{topic}"})

    def publish(self, topic: str, data: bytes, **attributes: str) -> None:
        message = {"data": base64.b64encode(data).decode(), "attributes": attributes}
        self._ask("POST", f"topics/{topic}:publish", {"messages": [message]})

    def pulled(self, name: str) -> list[dict[str, Any]]:
        """The messages that a pull subscription has now."""
        answer = self._ask("POST", f"subscriptions/{name}:pull", {"maxMessages": 10, "returnImmediately": True})
        return [one["message"] for one in answer.get("receivedMessages", [])]

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, body: dict[str, Any]) -> Any:
        answer = self._client.request(method, path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def emulator(folder: Path) -> Iterator[Emulator]:
    """An emulator on loopback until the block ends; ``missing`` has said nothing."""
    command, port = _command(), free_port()
    assert command is not None
    with (folder / "emulator.log").open("wb") as log:
        process = subprocess.Popen(
            [command, "--host=127.0.0.1", f"--port={port}"], cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_until_answering(process, port, folder / "emulator.log")
        running = Emulator(f"http://127.0.0.1:{port}")
        yield running
        running.close()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


def _wait_until_answering(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/", timeout=5, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            threading.Event().wait(0.1)
        assert process.poll() is None, log.read_text(errors="replace")
        assert time.monotonic() < end, log.read_text(errors="replace")
