"""What the documents say of dead letters: how long a store may be down, and the commands that look at one."""

from __future__ import annotations

import base64
import gzip
import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.deploy.terraform_module import Module

QUEUE = (REPOSITORY / "docs/operate/queue.md").read_text()
RUNBOOK = (REPOSITORY / "docs/operate/runbook.md").read_text()
BODIES = [b'{"content": "Gr\xc3\xbc\xc3\x9fe>>>???"}', gzip.compress(b"x" * 99, mtime=0)]


@cache
def figures() -> tuple[int, int, int]:
    """Deliveries, and the shortest and the longest pause in seconds, as Terraform has them."""
    module = Module()
    push = module.resources("google_pubsub_subscription")["push"]
    (retry,), (letters,) = push["retry_policy"], push["dead_letter_policy"]
    least, most = (int(module.value(retry[name]).rstrip("s")) for name in ("minimum_backoff", "maximum_backoff"))
    return int(module.value(letters["max_delivery_attempts"])), least, most


def time_of(deliveries: int) -> int:
    """The seconds that so many deliveries take, each pause twice the one before."""
    _, least, most = figures()
    return sum(min(most, least * 2**number) for number in range(deliveries - 1))


def test_the_page_s_figures_are_those_of_the_queue() -> None:
    rows = re.findall(r"^\| (\d+)\b[^|]*\|\D*?(?:(\d+) hours )?(\d+) minutes \(([\d ]+) s\)", QUEUE, re.MULTILINE)
    said = [(int(n), int(hours or 0), int(minutes), int(s.replace(" ", ""))) for n, hours, minutes, s in rows]
    assert [n for n, *_ in said] == [figures()[0], 20, 5]
    for deliveries, *time in said:
        assert time == [time_of(deliveries) // 3600, time_of(deliveries) % 3600 // 60, time_of(deliveries)]


def test_the_page_s_formula_gives_them() -> None:
    assert "10 · (2⁶ - 1) + 600 · (*n* - 7) seconds" in QUEUE
    assert all(10 * (2**6 - 1) + 600 * (n - 7) == time_of(n) for n in range(7, 101))
    assert figures()[1:] == (10, 600)


def test_the_runbook_and_the_page_speak_of_as_many_deliveries() -> None:
    deliveries = figures()[0]
    assert f"was not acknowledged in {deliveries} deliveries" in QUEUE
    assert f"--max-delivery-attempts={deliveries} " in QUEUE
    assert f"After {deliveries} attempts (about {round(time_of(deliveries) / 3600)} hours)" in RUNBOOK


@pytest.mark.parametrize("body", BODIES, ids=["text", "gzip"])
def test_the_command_that_takes_a_dead_letter_s_body_gives_it_as_it_was(tmp_path: Path, body: bytes) -> None:
    """gcloud writes bytes in the alphabet for URLs (apitools), with ``-`` and ``_``."""
    (command,) = re.findall(r"^gcloud pubsub subscriptions pull .*\n.*>dead\.json$", QUEUE, re.MULTILINE)
    assert set(base64.urlsafe_b64encode(BODIES[0])) & set(b"-_")
    fake = tmp_path / "gcloud"
    fake.write_text(f"#!/bin/sh\necho {base64.urlsafe_b64encode(body).decode()}\n")
    fake.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=tmp_path, env=environ, check=True)
    assert (tmp_path / "dead.json").read_bytes() == body


def test_no_document_hands_what_gcloud_writes_to_base64_as_it_is() -> None:
    for text in (QUEUE, RUNBOOK):
        for line in re.findall(r"^.*base64 -d.*$", text, re.MULTILINE):
            assert "tr '_-' '/+' | base64 -d" in line, line
