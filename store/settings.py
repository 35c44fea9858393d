"""Settings of a store server, read from an environment mapping once, at start.

A setting that does not hold raises ConfigurationError with the variable's name and the place of the entry, never a
value: most of them are secrets, or hold one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlsplit

from agent.core.api_keys import checked_key, digest_of, refuse_repeated
from agent.core.cors import allowed_origins
from agent.core.guarding_settings import refuse_empty
from agent.core.setting_entries import WrongEntry, entries, ordinal
from agent.errors import ConfigurationError
from store.http.access import LOOPBACK_NAME, ROLES, Key
from store.http.quotas import Quota
from store.port import DEFAULT_TENANT

DEFAULT_STORE: Final = "sqlite:///./memory-graph.db"
_SQLITE: Final = "sqlite:///"
_POSTGRESQL: Final = ("postgresql+psycopg", "postgresql")
# A name, an IPv4 address or an IPv6 address in brackets; what is more is for the driver to refuse.
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]+)?\Z", re.ASCII)
_NO_URL_HAS: Final = re.compile(r"[^\x21-\x7e]", re.ASCII)
_NO_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})|%00", re.ASCII)
_NO_PATH_HAS: Final = re.compile(r"[\x00-\x1f\x7f?]", re.ASCII)
_TENANT: Final = re.compile(r"[A-Za-z0-9._-]{1,64}\Z", re.ASCII)
_RATE: Final = re.compile(r"([0-9]{1,6})(?:\.([0-9]{1,3}))?/second\Z", re.ASCII)
_DAY: Final = re.compile(r"([0-9]{1,15})(k|M|G|Ki|Mi|Gi)?/day\Z", re.ASCII)
_UNITS: Final = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """What one store server runs with. ``metrics_key`` is a digest, as the keys hold theirs."""

    url: str = field(repr=False)
    keys: tuple[Key, ...] = ()
    quotas: tuple[Quota, ...] = ()
    cors_origins: tuple[str, ...] = ()
    metrics_key: bytes | None = field(default=None, repr=False)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> StoreSettings:
        """Read the settings. Raises ConfigurationError for the first that does not hold."""
        refuse_empty(environ, "RUVECTOR_KEYS", "RUVECTOR_QUOTAS")
        keys = _keys(environ)
        return cls(
            url=_url(environ),
            keys=keys,
            quotas=_quotas(environ, keys),
            cors_origins=allowed_origins("CORS_ORIGINS", environ.get("CORS_ORIGINS", "")),
            metrics_key=_metrics_key(environ, keys),
        )


def _url(environ: Mapping[str, str]) -> str:
    """Where ``RUVECTOR_STORE`` points. A file is refused in a deployed function, whose disk goes with the instance."""
    variable = "RUVECTOR_STORE"
    url = environ.get(variable, "").strip() or DEFAULT_STORE
    if url.startswith(_SQLITE):
        path = url.removeprefix(_SQLITE)
        if not path or _NO_PATH_HAS.search(path):
            raise ConfigurationError(variable, "sqlite:/// needs a path without ? and control characters, or :memory:")
        if environ.get("K_SERVICE"):
            raise ConfigurationError(variable, "a deployed function needs a database outside of it: postgresql+psycopg")
        return url
    if url.partition("://")[0] not in _POSTGRESQL:
        raise ConfigurationError(
            variable, "must be sqlite:///PATH or postgresql+psycopg://USER:PASSWORD@HOST:PORT/NAME"
        )
    if _NO_URL_HAS.search(url) or _NO_ESCAPE.search(url):
        raise ConfigurationError(variable, "has a character that no URL has: write it as %XX, and % as %25")
    reason = _wrong_with_server(url)
    if reason is not None:
        raise ConfigurationError(variable, reason)
    return url


def _wrong_with_server(url: str) -> str | None:
    """Why ``url`` names no PostgreSQL database; None if it does. Nothing of it is repeated: it may hold a password."""
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        return "is not a URL: special characters of a password are written as %XX"
    if not port_is_valid:
        return "has a port that is none"
    host = parts.netloc.partition("@")[2] if "@" in parts.netloc else parts.netloc
    # libpq takes the host, or the folder of a socket, as a parameter too.
    if not (_HOST.match(host) if host else "host" in parse_qs(parts.query)):
        return "names no host: special characters of a password are written as %XX"
    if not parts.path.strip("/") or parts.path.count("/") > 1 or parts.fragment:
        return "must name one database, as in postgresql+psycopg://HOST/NAME"
    return None


def _keys(environ: Mapping[str, str]) -> tuple[Key, ...]:
    """The keys of ``RUVECTOR_KEYS``; none if it is unset."""
    variable = "RUVECTOR_KEYS"
    keys = entries(variable, environ.get(variable, ""), _key)
    refuse_repeated(variable, tuple(key.digest for key in keys))
    names: set[str] = set()
    for place, key in enumerate(keys, 1):
        if key.name in names:
            raise ConfigurationError(variable, f"the {ordinal(place)} entry needs another key: its name is taken")
        names.add(key.name)
    for place, key in enumerate(keys, 1):
        if key.tenant in names:
            raise ConfigurationError(variable, f"the {ordinal(place)} entry has a tenant that is the name of a key")
    return keys


def _key(entry: str) -> Key:
    tenant, *rest = entry.split(":")
    if not 1 <= len(rest) <= 2:
        raise WrongEntry("must be TENANT:KEY or TENANT:KEY:ROLE")
    if not _TENANT.match(tenant):
        raise WrongEntry("needs a tenant of 1 to 64 letters, digits, dots, underscores and hyphens")
    if len(rest) == 2 and rest[1] not in ROLES:
        raise WrongEntry(f"has a role that is none of {', '.join(ROLES)}")
    return Key.of(tenant, checked_key(rest[0]), *rest[1:])


def _metrics_key(environ: Mapping[str, str], keys: tuple[Key, ...]) -> bytes | None:
    """The digest of ``METRICS_KEY``. It sees all tenants, so it is no tenant's key."""
    variable = "METRICS_KEY"
    text = environ.get(variable, "").strip()
    if not text:
        return None
    try:
        digest = digest_of(checked_key(text))
    except WrongEntry as wrong:
        raise ConfigurationError(variable, wrong.reason) from None
    if any(key.digest == digest for key in keys):
        raise ConfigurationError(
            variable, "is also in RUVECTOR_KEYS: the metrics count all tenants, give them their own"
        )
    return digest


def _quotas(environ: Mapping[str, str], keys: tuple[Key, ...]) -> tuple[Quota, ...]:
    """The quotas of ``RUVECTOR_QUOTAS``, each of somebody who can call: a name misspelt would bound nobody."""
    variable = "RUVECTOR_QUOTAS"
    quotas = entries(variable, environ.get(variable, ""), _quota)
    callers = {name for key in keys for name in (key.tenant, key.name)} or {DEFAULT_TENANT, LOOPBACK_NAME}
    for place, quota in enumerate(quotas, 1):
        if quota.name not in callers:
            raise ConfigurationError(variable, f"the {ordinal(place)} entry names no tenant and no key's name")
        if any(quota.name == other.name for other in quotas[: place - 1]):
            raise ConfigurationError(variable, f"the {ordinal(place)} entry has the name of an entry before it")
    return quotas


def _quota(entry: str) -> Quota:
    name, *limits = entry.split(":")
    rate = _RATE.match(limits[0]) if limits else None
    day = _DAY.match(limits[-1]) if limits else None
    if not limits or len(limits) != (rate is not None) + (day is not None):
        raise WrongEntry("must be NAME:N/second, NAME:BYTES/day or NAME:N/second:BYTES/day")
    quota = Quota(
        name,
        None if rate is None else int(rate[1]) * 1000 + int((rate[2] or "").ljust(3, "0")),
        None if day is None else int(day[1]) * _UNITS[day[2] or ""],
    )
    if 0 in (quota.milli_per_second, quota.bytes_per_day):
        raise WrongEntry("must be above 0")
    return quota
