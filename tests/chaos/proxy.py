"""A fault proxy: a port of the loopback that passes connections on, and does to them what a fault says.

One for HTTP (``HttpRelay``: request by request) and one for any protocol (``TcpRelay``: piece by piece). It knows
nothing of what is captured, keeps nothing, and speaks no TLS: it stands between processes of one machine.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tests.chaos.act import UNTOUCHED, Act
from tests.live.host import free_port

Address = tuple[str, int] | Path
Plan = Callable[[], Act]
_LENGTH = re.compile(rb"(?im)^content-length:\s*(\d+)\s*$")
_PIECE = 65_536
_RESET = struct.pack("ii", 1, 0)


class Ends(NamedTuple):
    """The two ends of one connection: who called, and who is called."""

    caller: asyncio.StreamReader
    to_caller: asyncio.StreamWriter
    called: asyncio.StreamReader
    to_called: asyncio.StreamWriter


class CutError(Exception):
    """The connection is to be cut; ``hard``: by a reset."""

    def __init__(self, *, hard: bool) -> None:
        super().__init__()
        self.hard = hard


class Relay(Protocol):
    """Passes on what goes both ways until one side ends or CutError says so."""

    async def __call__(self, ends: Ends, plan: Plan) -> None: ...


class FaultProxy:
    """One listening port. ``act`` is asked for each request (or piece of an answer); None leaves all untouched.

    ``targets`` take turns; another list may be set at any time. ``met`` counts what was not left untouched.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, relay: Relay, targets: list[Address]) -> None:
        self._loop = loop
        self._relay = relay
        self.targets = targets
        self.act: Plan | None = None
        self.met = 0
        # It is given up and taken again: the kernel must not give it to another socket meanwhile.
        self.port = free_port()
        self._turn = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.accept()

    def accept(self) -> None:
        """Listen, on the port of before."""
        self._run(self._accept())

    def refuse(self) -> None:
        """Cut all that is open and listen no more: who connects is refused by the kernel."""
        self._run(self._refuse())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _accept(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=256)

    async def _refuse(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in list(self._open):
            task.cancel()
        if self._open:
            await asyncio.wait(list(self._open), timeout=5)

    def _plan(self) -> Act:
        act = UNTOUCHED if self.act is None else self.act()
        self.met += act is not UNTOUCHED
        return act

    async def _serve(self, caller: asyncio.StreamReader, to_caller: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        hard, called = True, None
        try:
            called = await self._connect()
            await self._relay(Ends(caller, to_caller, *called), self._plan)
            hard = False
        except CutError as cut:
            hard = cut.hard
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # A peer went away, or the proxy refuses: cut both ends, which is what the other side is to see.
            pass
        finally:
            self._open.discard(task)
            _end(to_caller, hard=hard)
            if called is not None:
                _end(called[1], hard=hard)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._turn += 1
        targets = self.targets
        target = targets[self._turn % len(targets)]
        if isinstance(target, Path):
            return await asyncio.open_unix_connection(str(target))
        return await asyncio.open_connection(*target)


async def http_relay(ends: Ends, plan: Plan) -> None:
    """Requests one after another, each with an ``Act`` of its own."""
    passed: deque[Act] = deque()

    async def requests() -> None:
        while (request := await _message(ends.caller)) is not None:
            act = plan()
            await asyncio.sleep(act.wait_s)
            if act.instead is not None and not act.passes_on:
                ends.to_caller.write(act.instead)
                await ends.to_caller.drain()
                continue
            passed.append(act)
            ends.to_called.write(request)
            await ends.to_called.drain()

    async def answers() -> None:
        while (answer := await _message(ends.called)) is not None:
            act = passed.popleft()
            await _hand_over(act.instead or answer, ends.to_caller, act)

    await _until_one_ends(requests(), answers())


async def tcp_relay(ends: Ends, plan: Plan) -> None:
    """Pieces as they come; each piece of an answer has an ``Act`` of its own."""

    async def there() -> None:
        while piece := await ends.caller.read(_PIECE):
            ends.to_called.write(piece)
            await ends.to_called.drain()

    async def back() -> None:
        while piece := await ends.called.read(_PIECE):
            act = plan()
            await asyncio.sleep(act.wait_s)
            await _hand_over(piece, ends.to_caller, act)

    await _until_one_ends(there(), back())


async def _hand_over(answer: bytes, caller: asyncio.StreamWriter, act: Act) -> None:
    await asyncio.sleep(act.late_s)
    match act.answer:
        case "lost" | "swallowed":
            raise CutError(hard=act.hard)
        case "half":
            caller.write(answer[: max(1, int(len(answer) * act.part))])
            await caller.drain()
            raise CutError(hard=act.hard)
        case "trickled":
            for place in range(len(answer)):
                caller.write(answer[place : place + 1])
                await caller.drain()
                await asyncio.sleep(act.gap_s)
        case "whole":
            caller.write(answer)
            await caller.drain()


async def _message(stream: asyncio.StreamReader) -> bytes | None:
    """The next request or answer whole, which must say its length; None where the sender ended in peace."""
    try:
        head = await stream.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as ended:
        if ended.partial:
            raise
        return None
    length = _LENGTH.search(head)
    return head + (await stream.readexactly(int(length[1])) if length else b"")


async def _until_one_ends(*ways: Coroutine[Any, Any, None]) -> None:
    running = [asyncio.ensure_future(way) for way in ways]
    try:
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    for each in done:
        each.result()


def _end(writer: asyncio.StreamWriter, *, hard: bool) -> None:
    sock: socket.socket | None = writer.get_extra_info("socket")
    if hard and sock is not None and sock.family == socket.AF_INET:
        with suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort() if hard else writer.close()


class ProxyThread:
    """An event loop in a thread of its own, and the proxies that it runs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._proxies: list[FaultProxy] = []
        self._thread.start()

    def proxy(self, relay: Relay, targets: list[Address]) -> FaultProxy:
        """A proxy on a free port."""
        made = FaultProxy(self._loop, relay, targets)
        self._proxies.append(made)
        return made

    def close(self) -> None:
        """Cut all that is open, and end."""
        for proxy in self._proxies:
            proxy.refuse()
        # Transports close in the next turn of the loop.
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@contextmanager
def proxies() -> Iterator[ProxyThread]:
    """Proxies for the length of a block."""
    thread = ProxyThread()
    try:
        yield thread
    finally:
        thread.close()
