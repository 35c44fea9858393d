"""The path of a request in its parts, each as the client meant it.

A session's own id may hold any character, a slash too, and stands in the path percent-encoded. WSGI hands a path over
decoded (PEP 3333), where ``a%2Fstate`` and ``a/state`` are the same. The host's server gives the target as it was sent
beside it; it counts if it says the same path, and nothing was mounted or rewritten on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from agent.errors import NotFound

# gunicorn and werkzeug; werkzeug and uWSGI.
_TARGETS: Final = ("RAW_URI", "REQUEST_URI")


class Path(NamedTuple):
    """``parts`` between the slashes; ``is_exact``: a slash within a part was told from one between two."""

    parts: tuple[str, ...]
    is_exact: bool


def path_of(environ: Mapping[str, Any]) -> Path:
    """The path of the request. Raises NotFound for one that is not UTF-8."""
    decoded = _decoded(environ.get("PATH_INFO", ""))
    for name in _TARGETS:
        sent = _path_sent(environ.get(name))
        if sent is not None and not environ.get("SCRIPT_NAME") and unquote_to_bytes(sent) == decoded:
            return Path(tuple(_text(unquote_to_bytes(part)) for part in sent.split("/")[1:]), is_exact=True)
    return Path(tuple(_text(decoded).split("/")[1:]), is_exact=False)


def _decoded(path: str) -> bytes:
    try:
        return path.encode("latin-1")
    except UnicodeEncodeError:
        # Not as PEP 3333 has it: some hand over the text itself.
        return path.encode(errors="surrogatepass")


def _path_sent(target: Any) -> str | None:
    """The path in a request's target (RFC 9112 3.2), still encoded; None where there is none."""
    if not isinstance(target, str):
        return None
    if target.startswith("/"):
        return target.partition("?")[0].partition("#")[0]
    try:
        return urlsplit(target).path or None
    except ValueError:
        return None


def _text(path: bytes) -> str:
    try:
        return path.decode()
    except UnicodeDecodeError:
        raise NotFound("there is nothing at this path: it is not UTF-8") from None
