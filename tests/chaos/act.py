"""What a fault does to one request and its answer, and how a canned answer of HTTP is written."""

from __future__ import annotations

import json
from typing import Literal, NamedTuple

Outcome = Literal["whole", "lost", "half", "trickled", "swallowed"]


class Act(NamedTuple):
    """What happens on the way there and back.

    ``wait_s`` before the request is passed on, ``late_s`` before the answer is. ``instead`` is answered in place of the
    other side, which is asked all the same where ``passes_on``. ``answer`` says what becomes of an answer: ``lost`` and
    ``half`` cut the connection (with a reset where ``hard``), ``swallowed`` leaves it silent for
    ``late_s`` before it is cut.
    ``gap_s`` stands between the bytes of one that is trickled, and ``part`` of one that is cut in half comes.
    """

    wait_s: float = 0.0
    late_s: float = 0.0
    instead: bytes | None = None
    passes_on: bool = True
    answer: Outcome = "whole"
    gap_s: float = 0.0
    part: float = 0.5
    hard: bool = True


UNTOUCHED = Act()


def http_answer(status: int, body: bytes | None = None, **fields: str) -> bytes:
    """An answer as it goes over the wire; ``Retry_After`` is written ``Retry-After``."""
    content = json.dumps({"error": "injected", "message": "a fault"}).encode() if body is None else body
    named = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in fields.items()}}
    lines = [f"HTTP/1.1 {status} Injected", *(f"{name}: {value}" for name, value in named.items())]
    return "\r\n".join([*lines, f"Content-Length: {len(content)}", "", ""]).encode() + content
