"""A request as the routes see it: method, path, query and body out of a WSGI environ (PEP 3333), bounded.

Refuses what it would otherwise have to guess at: a path or query that is not UTF-8, a query name that the route does
not take, one that comes twice, a body shorter than announced, a coding of the body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from store.errors import BadRequest, NotFound, TooLarge
from store.http.edge import EMBEDDED, Caller

MAX_BODY_BYTES: Final = 32 * 1024 * 1024
NO_SUCH_PATH: Final = "there is no such path"
_MAX_QUERY_FIELDS: Final = 20
_DIGITS: Final = re.compile(r"[0-9]{1,19}\Z", re.ASCII)
# RFC 9110 5.6.2 and CONTRACT 7: visible ASCII.
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}\Z", re.ASCII)
_TOO_LARGE: Final = f"a body has at most {MAX_BODY_BYTES} bytes"


class Request:
    """One request. Nothing but the path is read or checked before it is asked for.

    ``variable`` is what the path has in place of its route's variable. Raises NotFound for a path that is not UTF-8.
    """

    __slots__ = ("_environ", "caller", "method", "path", "variable")

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self._environ = environ
        self.method: str = environ["REQUEST_METHOD"]
        self.path = _path(environ.get("PATH_INFO", ""))
        self.variable = ""
        self.caller: Caller = EMBEDDED

    @property
    def tenant(self) -> str:
        """Whose rows this request meets."""
        return self.caller.tenant

    @property
    def timeout_s(self) -> float | None:
        """How long the caller has time for the answer, in seconds; None where it does not say.

        Not a header: only a caller in this process can say it (``ruvector.timeout_s`` of the environ).
        """
        timeout_s: float | None = self._environ.get("ruvector.timeout_s")
        return timeout_s

    def query(self, *names: str) -> dict[str, str]:
        """The query, which may hold ``names`` and nothing else, each once. Raises BadRequest."""
        text = self._environ.get("QUERY_STRING", "")
        if not text:
            return {}
        try:
            fields = parse_qsl(_utf_8(text), keep_blank_values=True, errors="strict", max_num_fields=_MAX_QUERY_FIELDS)
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

    def body(self) -> bytes:
        """The whole body. Raises TooLarge before more than 32 MiB are read, BadRequest for one cut short.

        Its bytes are the caller's to spend: before they are read where they were announced.
        """
        environ = self._environ
        if environ.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() != "identity":
            raise BadRequest("a body is sent without Content-Encoding")
        announced = environ.get("CONTENT_LENGTH")
        if not announced:
            return self._unannounced_body()
        if not _DIGITS.match(announced):
            raise BadRequest("Content-Length must be a number")
        length = int(announced)
        if length > MAX_BODY_BYTES:
            raise TooLarge(_TOO_LARGE)
        self.caller.spend(length)
        body = _read(environ["wsgi.input"], length)
        if len(body) < length:
            raise BadRequest("the body is shorter than its Content-Length")
        return body

    def _unannounced_body(self) -> bytes:
        environ = self._environ
        if not (environ.get("wsgi.input_terminated") or environ.get("HTTP_TRANSFER_ENCODING")):
            return b""
        body = _read(environ["wsgi.input"], MAX_BODY_BYTES + 1)
        self.caller.spend(len(body))
        return body


def _path(text: str) -> str:
    try:
        return _utf_8(text)
    except UnicodeDecodeError:
        raise NotFound(NO_SUCH_PATH) from None


def _utf_8(text: str) -> str:
    """PEP 3333 hands bytes over as latin-1 text. Raises UnicodeDecodeError where they are not UTF-8.

    Text that cannot be that is text already: httpx's transport hands it over decoded.
    """
    if text.isascii():
        return text
    try:
        sent = text.encode("latin-1")
    except UnicodeEncodeError:
        return text
    return sent.decode("utf-8")


def _read(stream: Any, length: int) -> bytes:
    """Up to ``length`` bytes; one more than the limit is TooLarge."""
    parts: list[bytes] = []
    missing = length
    try:
        while missing and (part := stream.read(missing)):
            parts.append(part)
            missing -= len(part)
    except Exception:  # noqa: BLE001 - each host has its own errors for broken chunks and for who is gone or too slow
        raise BadRequest("the body broke off, came too slowly, or its chunks are malformed") from None
    if length - missing > MAX_BODY_BYTES:
        raise TooLarge(_TOO_LARGE)
    return b"".join(parts)
