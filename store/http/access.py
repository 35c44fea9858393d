"""Who calls the store and what they may: keys with a tenant and a role, or callers on this host alone (CONTRACT 10).

One key is one tenant. How a key is read, kept and compared is for ``agent.core.api_keys`` to say; logs, audits and
quotas know it by ``Key.name``. Without keys the store serves its own host, and refuses what a proxy on it forwards or a
web page opened on it sends.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agent import errors
from agent.core.api_keys import digest_of, name_of, place_of, sent_digest
from store.errors import Forbidden, Unauthorized
from store.http.edge import Right
from store.http.quotas import Quotas
from store.port import DEFAULT_TENANT

LOOPBACK_NAME: Final = "loopback"
_EVERY_RIGHT: Final[frozenset[Right]] = frozenset({"read", "write", "admin"})
_WITHOUT_ROLE: Final[frozenset[Right]] = frozenset({"read", "write"})
ROLES: Final[Mapping[str, frozenset[Right]]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"write"}),
    "admin": _EVERY_RIGHT,
}
_CONTENT_LENGTH: Final = re.compile(r"[0-9]{1,19}\Z", re.ASCII)
# What proxies add, as WSGI names it. The headers X-Forwarded-* are many: see _was_forwarded.
_PROXY_HEADERS: Final = ("HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")
_X_FORWARDED: Final = "HTTP_X_FORWARDED"


@dataclass(frozen=True, slots=True)
class Key:
    """One configured key: whose it is, what it is called, what it may. The key itself is not kept."""

    tenant: str
    name: str
    digest: bytes = field(repr=False)
    rights: frozenset[Right]

    @classmethod
    def of(cls, tenant: str, secret: str, role: str | None = None) -> Key:
        """The key ``secret`` of ``tenant``. Without a role it reads and appends."""
        digest = digest_of(secret)
        rights = _WITHOUT_ROLE if role is None else ROLES[role]
        return cls(tenant, f"{tenant}-{name_of(digest)}", digest, rights)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from."""

    tenant: str
    key_name: str
    _quotas: Quotas = field(repr=False, compare=False)
    rights: frozenset[Right] = frozenset()

    def may(self, right: Right) -> bool:
        """Whether its key may do this too."""
        return right in self.rights

    def spend(self, byte_count: int) -> None:
        """Take ``byte_count`` from what the tenant and the key may send today. Raises TooManyRequests."""
        self._quotas.spend((self.tenant, self.key_name), byte_count)


class Guard:
    """Lets a request in, or raises Unauthorized, Forbidden or TooManyRequests.

    ``metrics_key`` is the digest of the key that opens the metrics. ``origins`` are the web origins whose pages may
    call a store without keys, each by its exact name: "*" lets no page in here, for it would be every page that is
    open in a browser on this host.
    """

    def __init__(
        self,
        keys: tuple[Key, ...] = (),
        *,
        quotas: Quotas,
        metrics_key: bytes | None = None,
        origins: tuple[str, ...] = (),
    ) -> None:
        self._keys = keys
        self._digests = tuple(key.digest for key in keys)
        self._quotas = quotas
        self._metrics_key = metrics_key
        self._origins = frozenset(origins)

    def check(self, environ: Mapping[str, Any], right: Right) -> Caller:
        """Who calls, if they may do what needs ``right``; one request is taken from their quotas."""
        if self._keys:
            key = self._key(environ)
            if right not in key.rights:
                raise Forbidden(f"the key does not have the right {right}")
            caller = Caller(key.tenant, key.name, self._quotas, key.rights)
        elif self._is_from_here(environ):
            caller = Caller(DEFAULT_TENANT, LOOPBACK_NAME, self._quotas, ROLES["admin"])
        else:
            raise Forbidden("no keys are configured, so only programs on the store's own host may call it")
        self._quotas.admit((caller.tenant, caller.key_name), _announced(environ))
        return caller

    def check_metrics(self, environ: Mapping[str, Any]) -> None:
        """Return if the caller may see the metrics: they count all tenants, so no tenant's key opens them."""
        if self._is_from_here(environ):
            return
        if self._metrics_key is None:
            raise Forbidden("METRICS_KEY is not set, so only programs on the store's own host may read the metrics")
        if place_of(_sent_digest(environ), (self._metrics_key,)) is None:
            raise Unauthorized("the key does not open the metrics")

    def _key(self, environ: Mapping[str, Any]) -> Key:
        place = place_of(_sent_digest(environ), self._digests)
        if place is None:
            raise Unauthorized("the key is not known")
        return self._keys[place]

    def _is_from_here(self, environ: Mapping[str, Any]) -> bool:
        origin = environ.get("HTTP_ORIGIN")
        by_a_page = origin is not None and origin not in self._origins
        return _is_loopback(environ.get("REMOTE_ADDR")) and not _was_forwarded(environ) and not by_a_page


def _sent_digest(environ: Mapping[str, Any]) -> bytes:
    try:
        return sent_digest(environ)
    except errors.Unauthorized as refused:
        # The same refusal, as this side answers it.
        raise Unauthorized(refused.message) from None


def _is_loopback(address: str | None) -> bool:
    """Whether the peer is on this host; a server always names the peer, so None is a call in this process."""
    if address is None:
        return True
    try:
        peer = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(peer, ipaddress.IPv6Address) and peer.ipv4_mapped is not None:
        return peer.ipv4_mapped.is_loopback
    return peer.is_loopback


def _was_forwarded(environ: Mapping[str, Any]) -> bool:
    """Whether a proxy says, even without a value, that it speaks for somebody else."""
    return any(name in environ for name in _PROXY_HEADERS) or any(name.startswith(_X_FORWARDED) for name in environ)


def _announced(environ: Mapping[str, Any]) -> int:
    """The length of the body as announced; what is no number is for the reader of the body to refuse."""
    length = environ.get("CONTENT_LENGTH", "")
    return int(length) if _CONTENT_LENGTH.match(length) else 0
