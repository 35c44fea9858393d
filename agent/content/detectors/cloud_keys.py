"""Keys of clouds: AWS ids by their prefix, AWS secrets and Azure storage keys beside a name, Google's ``AIza``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.detectors.starts import starts_of
from agent.content.detectors.view import STAND_INS
from agent.content.found import Found

# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html: those that stand for credentials.
_AWS_ID: Final = re.compile(r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])")
_AWS_PREFIXES: Final = ("AKIA", "ASIA", "ABIA", "ACCA")
_GOOGLE: Final = re.compile(r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")
_GOOGLE_OAUTH: Final = re.compile(r"(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{20,1024}+)")
_SECRET: Final = re.compile(r"(?<![A-Za-z0-9/+_-])([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=_-])")
_STORAGE: Final = re.compile(r"(?<![A-Za-z0-9/+-])[A-Za-z0-9/+]{86}==(?![A-Za-z0-9/+=])")
_AWS_NAMES: Final = re.compile(r"(?i)secret|aws|access.?key|AKIA|ASIA|" + STAND_INS["cloud_key"])
_AZURE_NAMES: Final = re.compile(r"(?i)azure|storage|account.?key|blob|cosmos|primary.?key|shared.?key")
_NEAR: Final = 80


def cloud_keys(text: str) -> Iterator[Found]:
    """Each key of a cloud in ``text``."""
    patterns = [*((prefix, _AWS_ID) for prefix in _AWS_PREFIXES), ("AIza", _GOOGLE)]
    patterns += (("GOCSPX-", _GOOGLE_OAUTH), ("ya29.", _GOOGLE_OAUTH))
    for prefix, pattern in patterns:
        if prefix in text:
            for place in starts_of(prefix, text):
                key = pattern.match(text, place)
                if key is not None:
                    yield Found(place, key.end(), "cloud_key")
    last = -_NEAR
    for secret in _SECRET.finditer(text):
        # One speaks for the next, and so on through a list of any length.
        if _is_mixed(secret[1]) and (secret.start() - last < _NEAR or _named(text, secret.start(), _AWS_NAMES)):
            last = secret.end()
            yield Found(*secret.span(1), "cloud_key")
    if "==" in text:
        for storage in _STORAGE.finditer(text):
            if _named(text, storage.start(), _AZURE_NAMES):
                yield Found(storage.start(), storage.end(), "cloud_key")


def _named(text: str, place: int, names: re.Pattern[str]) -> bool:
    """Whether one of ``names`` stands before ``place``, near to it."""
    return names.search(text, max(0, place - _NEAR), place) is not None


def _is_mixed(secret: str) -> bool:
    """Whether it is no digest and no path: capitals, small letters and digits, and few slashes."""
    return (
        any("A" <= character <= "Z" for character in secret)
        and any("a" <= character <= "z" for character in secret)
        and any("0" <= character <= "9" for character in secret)
        and secret.count("/") <= 6
    )
