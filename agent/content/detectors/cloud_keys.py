"""Keys of clouds: AWS ids by their prefix, AWS secrets and Azure storage keys beside a name, Google's ``AIza``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.detectors.starts import begins, starts_of
from agent.content.detectors.view import STAND_INS
from agent.content.found import Found

# Whatever somebody wrote against a key goes with it: the rest of the run, which a longer key would have as well.
_REST: Final = "{0,512}+"
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html: those that stand for credentials.
_AWS_ID: Final = re.compile(rf"(?P<key>(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}})[A-Za-z0-9]{_REST}")
_AWS_PREFIXES: Final = ("AKIA", "ASIA", "ABIA", "ACCA")
_GOOGLE: Final = re.compile(rf"(?P<key>AIza[A-Za-z0-9_-]{{35}})[A-Za-z0-9_-]{_REST}")
_GOOGLE_OAUTH: Final = re.compile(r"(?P<key>GOCSPX-[A-Za-z0-9_-]{28,512}+|ya29\.[A-Za-z0-9_-]{20,1024}+)")
# 40 characters, with a mark of another writing before and after, or with what a name is given, however long.
_SECRET: Final = re.compile(
    r"(?:(?<![A-Za-z0-9+])(?<![A-Za-z0-9/+]/)|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
    r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9+]|/[A-Za-z0-9/+])"
)
_GIVEN: Final = re.compile(
    r"(?i:secret[_. -]?access[_. -]?key)[\"'`\\*]{0,3}\s{0,3}[:=]\s{0,3}[\"'`\\*_-]{0,3}([A-Za-z0-9/+]{41,256}+)"
)
_STORAGE: Final = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{86,102}==")
_AWS_NAMES: Final = re.compile(r"(?i)secret|aws|access.?key|AKIA|ASIA|" + STAND_INS["cloud_key"])
_AZURE_NAMES: Final = re.compile(r"(?i)azure|storage|account.?key|blob|cosmos|primary.?key|shared.?key")
_NEAR: Final = 80


def cloud_keys(text: str) -> Iterator[Found]:
    """Each key of a cloud in ``text``."""
    patterns = [*((prefix, _AWS_ID) for prefix in _AWS_PREFIXES), ("AIza", _GOOGLE)]
    patterns += (("GOCSPX-", _GOOGLE_OAUTH), ("ya29.", _GOOGLE_OAUTH))
    for prefix, pattern in patterns:
        if prefix in text:
            done = 0
            for place in starts_of(prefix, text, glued=True):
                key = pattern.match(text, place) if place >= done else None
                if key is not None and (_is_alone(text, key) or any(map(str.isdigit, key["key"]))):
                    done = key.end()
                    yield Found(place, done, "cloud_key")
    yield from _secrets(text)


def _is_alone(text: str, key: re.Match[str]) -> bool:
    """Whether the key is as long as it has to be, and no word: what goes on is one if it has no digit."""
    return key.end("key") == key.end() and begins(text, key.start())


def _secrets(text: str) -> Iterator[Found]:
    """Each secret that has no prefix, beside a name."""
    last = -_NEAR
    for secret in _SECRET.finditer(text):
        # One speaks for the next, and so on through a list of any length.
        if _is_mixed(secret[1]) and (secret.start() - last < _NEAR or _named(text, secret.start(), _AWS_NAMES)):
            last = secret.end()
            yield Found(*secret.span(1), "cloud_key")
    for given in _GIVEN.finditer(text):
        if _is_mixed(given[1]):
            yield Found(*given.span(1), "cloud_key")
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
