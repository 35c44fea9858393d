"""What the function host does not tell its server, gunicorn: of settings that it passes nothing for, the default.

- Slow clients keep no thread (``patient_worker``).
- No control socket. gunicorn (25.1 and newer) imports asyncio and starts a thread in the process that its workers are
  forked from, to listen for its own command line tool on ``$HOME/.gunicorn/gunicorn.ctl``. Nobody can reach that in a
  deployed function, and where HOME cannot be written to, it is an error in the log.
- Nobody is taken for a proxy (``BELIEVED``). gunicorn lets whoever connects from loopback, as a sidecar does for all
  its clients, say by a header where the application is mounted, which path was asked for and by which scheme: a
  stranger's ``SCRIPT_NAME`` is then a crash, or another path than the one that was guarded and logged in front of us.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# More than a platform sends to one instance; each may hold 64 KiB before anybody looks at it.
CONNECTIONS: Final = 256
# By gunicorn's own names. Each by itself: through a Unix socket everybody is a proxy, whatever the addresses. What has
# an underscore in its name is dropped: as WSGI has it, it would be the header that has a hyphen there.
BELIEVED: Final[Mapping[str, Any]] = {
    "forwarded_allow_ips": "",
    "forwarder_headers": "",
    "secure_scheme_headers": {},
    "header_map": "drop",
}


def set_server_defaults() -> None:
    """For the servers that this process makes from now on."""
    from gunicorn import config  # with the host that is loading us

    # By name: it is loaded when the server starts its workers.
    config.WorkerClass.default = "agent.edge.patient_worker.PatientWorker"
    config.WorkerConnections.default = CONNECTIONS
    # An older gunicorn has no such setting.
    control_socket = getattr(config, "ControlSocketDisable", None)
    if control_socket is not None:
        control_socket.default = True
    for setting in config.KNOWN_SETTINGS:
        if setting.name in BELIEVED:
            setting.default = BELIEVED[setting.name]
