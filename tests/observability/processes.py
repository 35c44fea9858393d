"""Processes of their own that report captures: what is imported, who has set a provider, what a fork takes along."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parents[2]


PRELUDE = """
import json, os, sys
from agent.observability import Telemetry

def capture(telemetry, flags="01"):
    traceparent = f"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}"
    request = telemetry.begin({"REQUEST_METHOD": "POST", "HTTP_TRACEPARENT": traceparent}, "ref-1")
    for name in ("validate", "build", "append"):
        with request.spans.span(name):
            request.spans.set(turns=1)
    request.captured(execution_ref="ref-1", duplicate=False, turns=1, received_bytes=1, latency_ms=1)
    request.end()
"""


def start(script: str, **environ: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "LLM_"))}
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(script)],
        cwd=PROJECT,
        # Spans are sent before a process goes on, on a busy machine too; who tests the bound gives another.
        env={**kept, "TELEMETRY_BUDGET_MS": "5000", **environ},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(script: str, **environ: str) -> Any:
    """What ``script`` prints, as JSON."""
    return json.loads(ended(script, **environ).output)


class Ended(NamedTuple):
    """What a process wrote."""

    output: str
    errors: str


def ended(script: str, **environ: str) -> Ended:
    """Run ``script`` to its end, which is a good one."""
    with start(script, **environ) as process:
        try:
            output, errors = process.communicate(timeout=60)
        finally:
            # With what it forked: whoever hangs is not waited for.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, errors
    return Ended(output, errors)
