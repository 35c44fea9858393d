"""A request as the routes see it: method, path, query and body out of a WSGI environ (PEP 3333), bounded.

Refuses what it would otherwise have to guess at: a query name that the route does not take, one that comes twice, a
body shorter than announced, a coding of the body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from store.errors import BadRequest, TooLarge
from store.identifiers import packed
from store.port import DEFAULT_LIMIT, MAX_LIMIT

MAX_BODY_BYTES: Final = 32 * 1024 * 1024
_LARGEST: Final = 2**63 - 1
_MAX_QUERY_FIELDS: Final = 20
_DIGITS: Final = re.compile(r"[0-9]{1,19}\Z", re.ASCII)
# RFC 9110 5.6.2 and CONTRACT 7: visible ASCII.
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}\Z", re.ASCII)
_TOO_LARGE: Final = f"a body has at most {MAX_BODY_BYTES} bytes"


class Request:
    """One request. Nothing is read or checked before it is asked for."""

    __slots__ = ("_environ", "method", "path")

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self._environ = environ
        self.method: str = environ["REQUEST_METHOD"]
        self.path = _decoded(environ.get("PATH_INFO", ""))

    def query(self, *names: str) -> dict[str, str]:
        """The query, which may hold ``names`` and nothing else, each once. Raises BadRequest."""
        text = self._environ.get("QUERY_STRING", "")
        if not text:
            return {}
        try:
            fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_QUERY_FIELDS)
        except ValueError:
            raise BadRequest("the query cannot be read") from None
        query = dict(fields)
        if not query.keys() <= set(names):
            raise BadRequest(f"the query may hold {', '.join(names)}" if names else "this path takes no query")
        if len(query) < len(fields):
            raise BadRequest("a query name stands twice")
        return query

    def caller_key(self, inputs_hash: str | None) -> str | None:
        """The caller's ``Idempotency-Key``; one that equals ``inputs_hash`` is not the caller's (CONTRACT 10)."""
        key = self._environ.get("HTTP_IDEMPOTENCY_KEY")
        if key is None or key == inputs_hash:
            return None
        if not _KEY.match(key):
            raise BadRequest("Idempotency-Key must have 1 to 255 visible ASCII characters")
        return str(key)

    @property
    def timeout_s(self) -> float | None:
        """How long the caller has time for the answer, in seconds; None where it does not say.

        Not a header: only a caller in this process can say it (``ruvector.timeout_s`` of the environ).
        """
        timeout_s: float | None = self._environ.get("ruvector.timeout_s")
        return timeout_s

    def body(self) -> bytes:
        """The whole body. Raises TooLarge before more than 32 MiB are read, BadRequest for one cut short."""
        environ = self._environ
        if environ.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() != "identity":
            raise BadRequest("a body is sent without Content-Encoding")
        announced = environ.get("CONTENT_LENGTH")
        if not announced:
            chunked = environ.get("wsgi.input_terminated") or environ.get("HTTP_TRANSFER_ENCODING")
            return _read(environ["wsgi.input"], MAX_BODY_BYTES + 1) if chunked else b""
        if not _DIGITS.match(announced):
            raise BadRequest("Content-Length must be a number")
        length = int(announced)
        if length > MAX_BODY_BYTES:
            raise TooLarge(_TOO_LARGE)
        body = _read(environ["wsgi.input"], length)
        if len(body) < length:
            raise BadRequest("the body is shorter than its Content-Length")
        return body


def whole_number(query: Mapping[str, str], name: str, *, lowest: int = 0, highest: int = _LARGEST) -> int | None:
    """The value of ``name`` in ASCII digits; None where it is absent. Raises BadRequest, which names the range."""
    text = query.get(name)
    if text is None:
        return None
    if not _DIGITS.match(text) or not lowest <= int(text) <= highest:
        raise BadRequest(f"{name} must be a whole number from {lowest} to {highest}")
    return int(text)


def page_limit(query: Mapping[str, str], name: str = "limit", *, default: int = DEFAULT_LIMIT) -> int:
    """A page's size, 1..1000."""
    value = whole_number(query, name, lowest=1, highest=MAX_LIMIT)
    return default if value is None else value


def identifier(query: Mapping[str, str], name: str) -> bytes | None:
    """The UUID under ``name``, in any case; None where it is absent."""
    text = query.get(name)
    if text is None:
        return None
    value = packed(text)
    if value is None:
        raise BadRequest(f"{name} must be a UUID")
    return value


def _decoded(path: str) -> str:
    """PEP 3333 hands the bytes of a path over as latin-1 text; httpx's transport hands over the text itself."""
    try:
        return path.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return path


def _read(stream: Any, length: int) -> bytes:
    """Up to ``length`` bytes; one more than the limit is TooLarge."""
    parts: list[bytes] = []
    missing = length
    while missing and (part := stream.read(missing)):
        parts.append(part)
        missing -= len(part)
    if length - missing > MAX_BODY_BYTES:
        raise TooLarge(_TOO_LARGE)
    return b"".join(parts)
