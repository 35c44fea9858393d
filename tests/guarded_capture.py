"""Runs captures through the function host's own application under an audit hook, and reports what they touched.

Started as a process of its own by the verification checklist, since an audit hook cannot be taken back. Prints one
JSON object: the addresses that were connected to, the names that were looked up, the files that were opened for
writing, the processes that were started, and the statuses that were answered.
"""

import json
import os
import sys
from typing import Any

from tests.conftest import REPOSITORY

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC


def main() -> None:
    seen: dict[str, list[Any]] = {"connected": [], "looked_up": [], "written": [], "started": [], "statuses": []}
    watching = False

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if not watching:
            return
        if event == "socket.connect":
            seen["connected"].append(list(args[1]) if isinstance(args[1], tuple) else str(args[1]))
        elif event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"}:
            seen["looked_up"].append(str(args[0]))
        elif event == "open" and isinstance(args[2], int) and args[2] & WRITING and str(args[0]) != os.devnull:
            seen["written"].append(str(args[0]))
        elif event in {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"}:
            seen["started"].append(event)

    sys.addaudithook(hook)
    sys.dont_write_bytecode = True
    import functions_framework

    source = str(REPOSITORY / "main.py")
    client = functions_framework.create_app("handler", source).test_client()
    watching = True
    for body in sys.stdin.buffer.read().splitlines():
        seen["statuses"].append(client.post("/", data=body).status_code)
    watching = False
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
