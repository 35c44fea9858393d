"""The function host's server opens no control socket.

gunicorn (25.1 and newer) imports asyncio and starts a thread in the process that its workers are forked from, to listen
for its own command line tool on ``$HOME/.gunicorn/gunicorn.ctl``. Nobody can reach that in a deployed function, and
where HOME cannot be written to, it is an error in the log.
"""

from __future__ import annotations


def no_control_socket() -> None:
    """Turn it off for the servers that this process makes from now on; nothing to do for an older gunicorn.

    The host passes none of gunicorn's own settings through, so the setting's default is changed.
    """
    from gunicorn import config  # with the host that is loading us

    setting = getattr(config, "ControlSocketDisable", None)
    if setting is not None:
        setting.default = True
