"""The keys of callers, for all sides that ask for one (CONTRACT 7, 10): read, compared, and never kept themselves.

A key comes as ``Authorization: Bearer KEY`` and nowhere else: that header is the one that proxies, logs and browsers
know to hold a secret. It is kept as its SHA-256. What is sent is compared with every key, each in constant time: the
time taken tells nothing. Who has no key configured asks for none: then IAM or the network says who may call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final

from agent.core.setting_entries import WrongEntry, entries, ordinal
from agent.errors import ConfigurationError, Unauthorized

_SHORTEST: Final = 16
_NAME_DIGITS: Final = 8
# Visible ASCII, as a header carries it, without what separates entries and their parts.
_KEY: Final = re.compile(r"[\x21-\x2b\x2d-\x39\x3b-\x7e]+\Z", re.ASCII)
# RFC 9110 11.4: the scheme in any case. A key is visible ASCII, so bytes beyond it (latin-1 in WSGI) are no key.
_BEARER: Final = re.compile(r"bearer +([\x21-\x7e]+) *\Z", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """The keys of one side, which may all the same. Without any, everybody is let in."""

    digests: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """What the keys are called, in their order."""
        return tuple(map(name_of, self.digests))

    @classmethod
    def parse(cls, variable: str, text: str) -> ApiKeys:
        """The keys of a setting, between commas or line ends.

        Raises ConfigurationError with the place of one that is none, or that is there twice.
        """
        digests = entries(variable, text, lambda entry: digest_of(checked_key(entry)))
        refuse_repeated(variable, digests)
        return cls(digests)

    def check(self, environ: Mapping[str, Any]) -> bytes:
        """The digest of the key in the request ``environ`` (WSGI); empty where none is needed. Raises Unauthorized."""
        if not self.digests:
            return b""
        sent = sent_digest(environ)
        if place_of(sent, self.digests) is None:
            raise Unauthorized("the key is not known", reason="unknown")
        return sent


def checked_key(text: str) -> str:
    """``text``, if it may be a key. Raises WrongEntry."""
    if not _KEY.match(text):
        raise WrongEntry("needs a key of visible ASCII characters without comma and colon")
    if len(text) < _SHORTEST:
        raise WrongEntry(f"has a key that is too short: at least {_SHORTEST} characters are needed")
    return text


def refuse_repeated(variable: str, digests: tuple[bytes, ...]) -> None:
    """Raise ConfigurationError for a key that stands there twice: one of the two was meant to be another."""
    for place, digest in enumerate(digests, 1):
        if digest in digests[: place - 1]:
            raise ConfigurationError(
                variable, f"the {ordinal(place)} entry has the key of an entry before it", place=place
            )


def digest_of(key: str) -> bytes:
    """What is kept of a key, and compared: its SHA-256."""
    return sha256(key.encode()).digest()


def name_of(digest: bytes) -> str:
    """What a key is called in logs, audits and quotas: the first digits of its digest, and nothing of the key."""
    return digest.hex()[:_NAME_DIGITS]


def sent_digest(environ: Mapping[str, Any]) -> bytes:
    """The digest of the key in ``Authorization``. Raises Unauthorized where there is none."""
    match = _BEARER.match(environ.get("HTTP_AUTHORIZATION", ""))
    if match is None:
        raise Unauthorized("a key is needed, as in Authorization: Bearer KEY", reason="missing")
    return digest_of(match[1])


def place_of(sent: bytes, digests: Iterable[bytes]) -> int | None:
    """The place of the key that was sent; None for an unknown one. All are compared, whichever fits."""
    found: int | None = None
    for place, digest in enumerate(digests):
        if compare_digest(digest, sent):
            found = place
    return found
