"""Times captures inside this process; run by the in-process rows in the function's own environment.

``embedded FOLDER ROUNDS`` and ``growth STORE-ADDRESS ROUNDS`` print seconds as JSON, one value a round.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import jiter

from agent.bootstrap import capture_service_on, store_client
from agent.capture.service import NATIVE, CaptureRequest, CaptureService
from agent.config import Settings
from agent.content.policy import FULL
from benchmarks.payloads import Variations, compact, conversation, with_turns

_CAPTURES_A_ROUND = 50
_SMALL, _LARGE = 100, 10_000
_SMALL_CAPTURES = 20
_Side = tuple[Callable[[bytes], None], list[float], list[float]]


def service_on(address: str) -> CaptureService:
    """The capture without HTTP in front, on the store at ``address``."""
    client = store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": address}))
    return capture_service_on(lambda: client, FULL)


class Untraced:
    """No spans: the capture alone."""

    def span(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002 - the port's signature
        return contextlib.nullcontext()

    def set(self, **attributes: str | int | bool) -> None:
        """Drop the attributes."""

    traceparent: str | None = None

    def conversation(self, conversation_id: str, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Drop the counts."""


def capturing(service: CaptureService) -> Callable[[bytes], None]:
    """Capture one body; raises what the service raises."""
    spans = Untraced()

    def capture(body: bytes) -> None:
        answer = service.capture(CaptureRequest(body, NATIVE, None, str(uuid.uuid4())), spans)
        if answer.duplicate:
            raise RuntimeError("the store has this payload already: the figure would be about something else")

    return capture


def appending(descriptor: int) -> Callable[[bytes], None]:
    """The least that keeps the same bytes: parse, hash, append, wait for the disk."""

    def append(body: bytes) -> None:
        jiter.from_json(body, catch_duplicate_keys=True, allow_inf_nan=False)
        hashlib.sha256(body).digest()
        os.write(descriptor, body)
        os.fdatasync(descriptor)

    return append


def timed(act: Callable[[bytes], None], bodies: list[bytes]) -> tuple[float, float]:
    """Seconds and CPU seconds that ``act`` takes for one of ``bodies``."""
    started, cpu_started = time.perf_counter(), time.process_time()
    for body in bodies:
        act(body)
    elapsed, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    return elapsed / len(bodies), cpu / len(bodies)


def embedded(folder: Path, rounds: int) -> dict[str, object]:
    """A capture into the embedded store and an append to a file, round by round."""
    variations = Variations(compact(conversation()), seed=4)
    capture = capturing(service_on(f"embedded:{folder / 'store.db'}"))
    descriptor = os.open(folder / "appended", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    sides: list[_Side] = [(capture, [], []), (appending(descriptor), [], [])]
    for act, _, _ in sides:
        timed(act, variations.many(_CAPTURES_A_ROUND))
    for place in range(rounds):
        for act, seconds, cpu in sides if place % 2 else sides[::-1]:
            took, used = timed(act, variations.many(_CAPTURES_A_ROUND))
            seconds.append(took)
            cpu.append(used)
    os.close(descriptor)
    (_, product, product_cpu), (_, baseline, baseline_cpu) = sides
    return {
        "product": product,
        "baseline": baseline,
        "product_cpu": sorted(product_cpu)[rounds // 2],
        "baseline_cpu": sorted(baseline_cpu)[rounds // 2],
    }


def growth(address: str, rounds: int) -> dict[str, object]:
    """Seconds and CPU seconds a turn: one capture of 10 000 turns, and several of 100, round by round."""
    capture = capturing(service_on(address))
    small, large = Variations(with_turns(_SMALL), seed=5), Variations(with_turns(_LARGE), seed=6)
    timed(capture, small.many(_SMALL_CAPTURES))
    timed(capture, large.many(1))
    sides: list[tuple[Variations, int, int, list[float], list[float]]] = [
        (small, _SMALL, _SMALL_CAPTURES, [], []),
        (large, _LARGE, 1, [], []),
    ]
    for place in range(rounds):
        for variations, turns, count, seconds, cpu in sides if place % 2 else sides[::-1]:
            took, used = timed(capture, variations.many(count))
            seconds.append(took / turns)
            cpu.append(used / turns)
    return {
        name: {"seconds": seconds, "cpu": cpu}
        for name, (*_, seconds, cpu) in zip(("small", "large"), sides, strict=True)
    }


if __name__ == "__main__":
    row, where, rounds_text = sys.argv[1:]
    result = embedded(Path(where), int(rounds_text)) if row == "embedded" else growth(where, int(rounds_text))
    print(json.dumps(result))
