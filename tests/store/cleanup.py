"""What is done once this process is gone, also where it was killed and could do nothing itself."""

import subprocess

# Held for the life of the process: each of them waits for the end of the pipe that this process holds.
_waiting: list[subprocess.Popen[bytes]] = []


def once_this_process_is_gone(script: str, *arguments: str) -> None:
    """Run a shell script with ``arguments`` then. It finds out by itself whether there is anything left to do."""
    waiting = subprocess.Popen(
        ["sh", "-c", f"read -r _; {script}", "sh", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _waiting.append(waiting)
