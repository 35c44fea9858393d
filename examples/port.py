"""Whether a port is free, and who holds it if not."""

from __future__ import annotations

import http.client
import json
import socket
import sys
from pathlib import Path
from typing import Final

HOST: Final = "127.0.0.1"
_OUR_AGENT: Final = "conversation-memory-agent"
# The state LISTEN in the table of sockets (Linux, include/net/tcp_states.h).
_LISTEN: Final = "0A"


def why_not(port: int) -> OSError | None:
    """What hinders a program to listen on ``port``; None if nothing does."""
    with socket.socket() as probe:
        # As the function host does: a connection that has just ended does not keep a port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            return error
    return None


def holder(port: int) -> str:
    """Who listens on ``port``, as far as can be said."""
    if _is_ours(port):
        return "a capture function that is running already (make run in another terminal?)"
    # Linux only; elsewhere, and for other people's processes, the port is all that is known.
    process = _process(port) if sys.platform == "linux" else None
    return process or "another program"


def next_free(port: int) -> int:
    """A free port near ``port``."""
    above = range(port + 1, min(port + 100, 65536))
    return next((candidate for candidate in above if why_not(candidate) is None), 18080)


def _is_ours(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/health")
        answer = json.loads(connection.getresponse().read(4096))
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return isinstance(answer, dict) and answer.get("agent_id") == _OUR_AGENT


def _process(port: int) -> str | None:
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    for folder in Path("/proc").glob("[0-9]*/fd"):
        try:
            held = {str(entry.readlink()) for entry in folder.iterdir()}
            name = (folder.parent / "comm").read_text().strip()
        except OSError:  # it has ended, or is somebody else's
            continue
        if held & sockets:
            return f"process {folder.parent.name} ({name})"
    return None


def _listening(port: int) -> set[str]:
    """The inodes of the sockets that listen on ``port``, from the tables that proc(5) describes."""
    inodes: set[str] = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        columns = [row.split() for row in rows]
        inodes |= {row[9] for row in columns if row[3] == _LISTEN and int(row[1].rpartition(":")[2], 16) == port}
    return inodes
