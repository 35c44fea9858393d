"""Where a store is: the parts of its base URL that a connection and a request line need (RFC 3986 3, RFC 9112 3).

Schemes other than http and https, user names, queries and what is not ASCII are refused.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# All that prints but what no path may hold; a percent sign stands for what is quoted already.
_PATH_SAFE: Final = "!$%&'()*+,/:;=@[\\]^|~"


class Address(NamedTuple):
    """``host`` is without brackets, ``authority`` as the Host header has it, ``path`` without a slash at its end."""

    scheme: str
    host: str
    port: int
    authority: str
    path: str

    def url(self, target: str) -> str:
        """The whole URL of a ``target``, which begins with a slash and holds the address's own path."""
        return f"{self.scheme}://{self.authority}{target}"


def address_of(base_url: str) -> Address:
    """The address that ``base_url`` names. Raises ValueError where it is none of a store."""
    if not base_url.isascii() or not base_url.isprintable() or " " in base_url:
        raise ValueError("a character that no URL has")
    url = urlsplit(base_url)
    host, default = url.hostname, _DEFAULT_PORTS.get(url.scheme)
    if default is None or not host or url.username is not None or url.query or url.fragment:
        raise ValueError("not the address of a store")
    port = url.port or default
    literal = f"[{host}]" if ":" in host else host
    authority = literal if port == default else f"{literal}:{port}"
    return Address(url.scheme, host, port, authority, quote(url.path.rstrip("/"), safe=_PATH_SAFE))
