"""The password in ``scheme://user:password@host``; what stands for one (``${PASSWORD}``, ``<password>``) is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.found import Found

_USER: Final = re.compile(r"://([^\s/?#@:\"'<>`\\]{0,128}+):")
# To the last @ before a slash, else to the first @ at all that a host follows: a password may hold either.
_AUTHORITY: Final = re.compile(r"[^\s/\"'<>`\\\uFDD0-\uFDEF]{1,256}+")
_WITH_SLASH: Final = re.compile(r"([^\s@\"'<>`\\\uFDD0-\uFDEF]{1,128}+)@")
_HOST: Final = re.compile(r"[\w.\[\]%-]")
_STANDS_FOR_ONE: Final = re.compile(
    r"[*xX•.…#?_-]+|\\{0,2}\$\{{1,2}[^{}\n]{0,80}\}{1,2}|#\{[^{}\n]{0,80}\}|\\{0,2}\$[A-Z_]+[0-9]?|\$env:\w{1,64}|\$\([^)\n]{0,80}\)"
    r"|(?i:\$[a-z_]{0,40}(?:pass|pwd|pw|secret)[a-z_]{0,40})|%[sdrvq]|%\w{1,64}%|%\(\w{1,64}\)s|\{{2}[^{}\n]{0,80}\}{2}"
    r"|\{+\s{0,8}[A-Za-z_][\w.\s]{0,80}\}+|\[[^\]\n]{0,80}\]|<[^>\n]{0,80}>|%3C[^\s]{0,80}%3E|&lt;[^;\n]{0,80}&gt;"
    r"|\\{1,2}u003[cC][^;\n]{0,80}\\{1,2}u003[eE]|@@\w{1,64}@@|__[A-Z_]{1,64}__|(?i:your[_-](?:[a-z]{1,16}[_-]){0,2}pass(?:word|wd)?)"
)

_QUOTES: Final = frozenset("\"'`")
_ENDS: Final = frozenset({"", *"\"'`;&,.) \t\r\n<|\\"})


def url_passwords(text: str) -> Iterator[Found]:
    """Each password in a URL of ``text``."""
    if "://" not in text or "@" not in text:
        return
    for user in _USER.finditer(text):
        end = _end(text, user.end())
        if end > user.end() and not is_stand_in(text[user.end() : end]):
            yield Found(user.end(), end, "url_password")


def is_stand_in(password: str) -> bool:
    """Whether this is a place for a password, and none."""
    return _STANDS_FOR_ONE.fullmatch(password) is not None


def stands_for_one(text: str, start: int) -> bool:
    """Whether a place for a password begins at ``start``, in quotes or without: it may hold spaces and semicolons."""
    match = _STANDS_FOR_ONE.match(text, start + (text[start : start + 1] in _QUOTES))
    if match is None or (len(match[0]) < 3 and text.startswith("&", match.end())):
        return False
    return text[match.end() : match.end() + 1] in _ENDS


def _end(text: str, start: int) -> int:
    """Where the password ends that begins at ``start``; ``start`` where it is none."""
    authority = _AUTHORITY.match(text, start)
    if authority is not None:
        place = authority[0].rfind("@")
        while place > 0:
            if _HOST.match(text, start + place + 1) is not None:
                return start + place
            place = authority[0].rfind("@", 0, place)
    with_slash = _WITH_SLASH.match(text, start)
    # host:port/path@version is no password.
    if with_slash is None or re.match(r"\d{1,5}/", with_slash[1]) or not _HOST.match(text, with_slash.end()):
        return start
    return with_slash.end(1)
