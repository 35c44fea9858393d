"""The demo behind ``make run``: a real conversation becomes one DecisionEvent, through the real function host.

Starts the host on 127.0.0.1 with an embedded store in the folder it is called from, posts a recorded conversation,
prints the graph that came out, and serves until Ctrl-C. ``--once`` ends after printing. ``PORT`` chooses the port. A
function that is told to ask for keys is sent one, and none is shown; where it says to come again later, that is done.
"""

from __future__ import annotations

import argparse
import errno
import http.client
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
# The demo runs from any folder, and from an environment that the project is not installed in.
sys.path.insert(0, str(ROOT))

from caller_key import CAPTURE, bearer, source  # noqa: E402 - after the path above, as the next
from function_host import Answer, FunctionHost, HostError  # noqa: E402 - as above
from port import holder, next_free, why_not  # noqa: E402 - as above

from agent.cli.embedded_path import check_embedded_path  # noqa: E402 - as above
from agent.cli.memory.capturing.answer import CaptureAnswer  # noqa: E402 - as above
from agent.cli.memory.capturing.capture_report import summary  # noqa: E402 - as above
from agent.cli.memory.capturing.inputs_shown import inputs_shown  # noqa: E402 - as above
from agent.cli.memory.drawings.graph_parts import GraphParts  # noqa: E402 - as above
from agent.cli.memory.drawings.graph_tree import Canvas, graph_tree  # noqa: E402 - as above
from agent.cli.terminal import OutputError, Terminal  # noqa: E402 - as above
from agent.config import StoreAddress  # noqa: E402 - as above
from agent.errors import StoreConnectionError  # noqa: E402 - as above

CONVERSATION: Final = ROOT / "examples" / "data" / "tau-airline-booking.json"
SMALL: Final = ROOT / "examples" / "native.json"
FORMAT: Final = "openai-chat"
DATABASE: Final = "memory-graph.db"
_DEFAULT_PORT: Final = "8080"
_LONGEST_WAIT_S: Final = 60


class DemoError(Exception):
    """The demo cannot go on; the lines say why and what to do. ``code`` is the exit code."""

    def __init__(self, *lines: str, code: int = 1) -> None:
        super().__init__(lines[0])
        self.lines = lines
        self.code = code


def main() -> int:
    """Run the demo; returns the exit code: 0 after Ctrl-C too."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--once", action="store_true", help="end after the graph is printed")
    once: bool = parser.parse_args().once
    # A shell's background job ignores SIGINT, and a closed terminal sends SIGHUP: each is to stop the host too.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    terminal = Terminal.of_process()
    try:
        run(terminal, port=port_of(os.environ), once=once)
    except KeyboardInterrupt:
        terminal.explain("", f"Stopped. What was captured stays in ./{DATABASE}.")
    except StoreConnectionError as error:
        terminal.explain(error.message)
        return 1
    except DemoError as error:
        terminal.explain(*error.lines)
        return error.code
    except HostError as error:
        terminal.explain(f"{error}. It wrote:", *(f"  {line}" for line in error.log.splitlines()))
        return 1
    except OutputError as error:
        return terminal.give_up(error)
    return 0


def run(terminal: Terminal, *, port: int, once: bool) -> None:
    """Start the host, show what a capture makes, and serve. Raises DemoError, HostError or StoreConnectionError."""
    check_embedded_path(StoreAddress(path=DATABASE))
    check_port(port)
    environ = {**os.environ, "RUVECTOR_SERVICE_URL": f"embedded:./{DATABASE}"}
    environ.pop("K_SERVICE", None)
    if os.environ.get("RUVECTOR_SERVICE_URL", "").strip():
        terminal.show("RUVECTOR_SERVICE_URL is set; the demo does not use it: its store is always the embedded one.")
    terminal.show(f"Starting the capture function on http://127.0.0.1:{port}, its store in ./{DATABASE} ...")
    with FunctionHost(ROOT / "main.py", port, environ) as host:
        host.wait_until_healthy()
        body = CONVERSATION.read_bytes()
        show_capture(terminal, post(terminal, host, body), body)
        show_retry(terminal, post(terminal, host, body))
        if once:
            return
        steps = [f"  {line}" for line in next_steps(host.url)]
        terminal.show("", "Try next, in another terminal:", *steps, *about_the_key(), "")
        terminal.show(f"Serving on {host.url} until Ctrl-C; its log follows.")
        host.serve(terminal.stderr)


def port_of(environ: Mapping[str, str]) -> int:
    """The port that ``PORT`` asks for, 8080 by default."""
    given = environ.get("PORT", "").strip() or _DEFAULT_PORT
    if not (given.isascii() and given.isdigit() and 0 < int(given) < 65536):
        raise DemoError("PORT must be a number from 1 to 65535.", code=2)
    return int(given)


def check_port(port: int) -> None:
    """Raise DemoError where nobody can listen on ``port``, with who holds it and a port that is free."""
    error = why_not(port)
    if error is None:
        return
    if error.errno == errno.EADDRINUSE:
        why = f"Port {port} is taken by {holder(port)}."
    else:
        why = f"Port {port} cannot be used: {error.strerror}."
    raise DemoError(why, f"Choose another one: PORT={next_free(port)} make run")


def post(terminal: Terminal, host: FunctionHost, body: bytes) -> CaptureAnswer:
    """Post the conversation, again where the function takes it later, and return the typed answer."""
    waited_s = 0
    while (answer := posted(host, body)).status in (429, 503) and answer.retry_after_s is not None:
        pause_s = max(1, answer.retry_after_s)
        waited_s += pause_s
        if waited_s > _LONGEST_WAIT_S:
            raise DemoError(
                f"The function answered the capture with {answer.status}, to be tried again in {pause_s} s.",
                f"The demo waits {_LONGEST_WAIT_S} s at most: set a larger RATE_LIMIT, or none.",
            )
        terminal.show(f"The function takes no more for now ({answer.status}): trying again in {pause_s} s.")
        time.sleep(pause_s)
    if answer.status != 200:
        shown = json.dumps(answer.document, indent=2).splitlines()
        raise DemoError(f"The function answered the capture with {answer.status}:", *shown)
    return CaptureAnswer.model_validate(answer.document)


def posted(host: FunctionHost, body: bytes) -> Answer:
    """Post the conversation once, with a key where the function asks for one."""
    try:
        key = bearer(CAPTURE)
    except (OSError, ValueError) as error:
        raise DemoError(f"The file of {source(CAPTURE)} cannot be read ({type(error).__name__}).") from error
    try:
        return host.request("POST", f"/?format={FORMAT}", body, key)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DemoError(f"The function did not answer the capture ({type(error).__name__}).") from error


def show_capture(terminal: Terminal, answer: CaptureAnswer, body: bytes) -> None:
    """Print what went in, the graph and the event that came out."""
    inputs = inputs_shown(body, FORMAT, captured_at=answer.output.capture_timestamp)
    graph = GraphParts.of(answer.output)
    calls = sum(edge.edge_type == "invokes" for edge in graph.edges)
    terminal.show(
        f"Posted a recorded flight booking: {len(inputs.turns)} messages, {calls} tool calls (tau-bench).",
        "",
        "The graph that came out of it:",
        graph_tree(graph, inputs.turns, Canvas(terminal.width, terminal.encoding)),
        "",
        "The one DecisionEvent behind it:",
        summary(answer, inputs, encoding=terminal.encoding),
        "",
    )
    if answer.receipt.duplicate:
        terminal.show(f"./{DATABASE} held this conversation already, from an earlier run: nothing was added.")


def show_retry(terminal: Terminal, answer: CaptureAnswer) -> None:
    """Print what the same payload, sent again, is answered."""
    turns = answer.receipt.turns
    known = f", {turns.known} turns known" if turns is not None else ""
    said = "duplicate" if answer.receipt.duplicate else "a new event"
    terminal.show(f"Posted again, as a client that retries would: {said}, event {answer.receipt.event_id}{known}.")


def next_steps(url: str) -> Iterator[str]:
    """Commands that work as they are, from the folder that the demo was started in."""
    small = _shown(SMALL)
    script = Path(sys.executable).parent / "memory-graph"
    program = shlex.quote(_shown(script))
    if not script.exists():
        # Not installed: the project is found by its folder.
        program = f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.quote(_shown(sys.executable))} -m agent"
    command = f"{program} agent conversation-memory"
    yield f"curl {url}/health"
    # By a name, not by value: a terminal keeps what it shows.
    key = '-H "Authorization: Bearer $KEY" ' if source(CAPTURE) else ""
    yield f"curl {key}--data-binary {shlex.quote(f'@{small}')} {url}/"
    yield f"{command} health --store {DATABASE}"
    yield f"{command} capture --input {shlex.quote(small)} --store {DATABASE}"


def about_the_key() -> Iterator[str]:
    """What ``$KEY`` of these commands is to hold; nothing where the function asks for no key."""
    variable = source(CAPTURE)
    if variable is not None:
        yield f"$KEY stands for one of the keys in {variable}: set it in that terminal first, as by read -rs KEY."


def _shown(path: Path | str) -> str:
    """``path`` from the current folder if it lies in it, else whole."""
    given, here = Path(path), Path.cwd()
    return str(given.relative_to(here)) if given.is_relative_to(here) else str(given)


if __name__ == "__main__":
    sys.exit(main())
