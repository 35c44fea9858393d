"""What Python imports first in a watched process: it records each thing that is opened for writing, made or removed.

The folder of a file with this text, named ``sitecustomize.py``, stands in PYTHONPATH; WRITES_RECORDED_IN names the file
that the records go to, one path a line. Whether the system let it happen does not matter: the attempt is recorded.
What C code opens by itself is not seen here; the test's user may not write there either.
"""

import os
import sys

_RECORDS = os.open(os.environ["WRITES_RECORDED_IN"], os.O_WRONLY | os.O_APPEND)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate",
    "os.utime", "sqlite3.connect",
}  # fmt: skip


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        if not (isinstance(flags, int) and flags & _WRITING):
            return
        paths: tuple[object, ...] = (path,)
    elif event in _CHANGES:
        paths = arguments[:2] if event in {"os.link", "os.rename", "os.symlink"} else arguments[:1]
    else:
        return
    for path in paths:
        if isinstance(path, str | bytes):
            # pathlib, imported here, would be part of what is watched.
            os.write(_RECORDS, os.path.abspath(os.fsencode(path)) + b"\n")  # noqa: PTH100 - see above


sys.addaudithook(_watch)
