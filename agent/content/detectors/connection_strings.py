"""The secret in a connection string: the value of ``Password=``, ``Pwd=``, ``AccountKey=``, ``SharedAccessKey=``.

A password is one only beside another setting of a connection string; ``password=`` in code is not.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from agent.content.detectors.url_passwords import is_stand_in, stands_for_one
from agent.content.found import Found

_NAME: Final = re.compile(r"(?i)(?<![A-Za-z0-9_])(?:password|pwd|accountkey|sharedaccesskey)\s{0,2}=(?!=)\s{0,2}")
_KEY: Final = re.compile(r"(?:[A-Za-z0-9+/=]|\\{1,2}u00(?:2[bBfF]|3[dD])|%(?:2[bBfF]|3[dD])|\\{1,2}/){16,256}+")
_QUOTED: Final = re.compile(r"\\?([\"'])((?:(?!\\?\1)[^\n\uFDD0-\uFDEF]){1,128})\\?\1")
# Of XML an ampersand's entity and others belong to a password, for all their semicolons.
_BARE: Final = re.compile(
    r"(?:&(?:amp|lt|gt|apos|#[0-9]{1,5}|#x[0-9A-Fa-f]{1,4});|(?<=[A-Za-z0-9])'(?=[A-Za-z0-9])|[^;\s\"'`\\<>」』\uFF09\uFDD0-\uFDEF]|\\(?![\"'nrtu\\])){1,128}+"
)
_BARE_IN_QUERY: Final = re.compile(r"[^&;#\s\"'`\\<>\uFDD0-\uFDEF]{1,128}+")
# Up to the semicolon before the next setting a password may hold spaces and quotes as well.
_REST: Final = re.compile(r"[^;=\n\uFDD0-\uFDEF]{1,64}+(?=;\s{0,2}[A-Za-z][A-Za-z ]{1,40}=)")
_OTHER: Final = re.compile(
    r"(?i)(?<![A-Za-z0-9])(?:server|host|hostname|data source|datasource|user id|user|uid|username|database|dbname|"
    r"initial catalog|addr(?:ess)?|network address|port|driver|provider|endpoint|accountname|encrypt|"
    r"trusted_connection|integrated security|sslmode|dsn)\s{0,2}=|;\s{0,2}[A-Za-z][A-Za-z ]{1,40}="
)
# A call or a member.
_CODE: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*\(|(?:self|this|os|config|settings|env|process|args)\.")
_CODE_IN_SPACES: Final = re.compile(rf"{_CODE.pattern}|[A-Za-z_]+(?:\.[A-Za-z_]+)*(?:[;,)]|\Z)")
_NEAR: Final = 240
_END_OF_TEXT: Final = ".,)"


def connection_strings(text: str) -> Iterator[Found]:
    """Each secret in a connection string of ``text``."""
    if "=" not in text:
        return
    done = 0
    others: list[int] | None = None
    for name in _NAME.finditer(text):
        start = name.end()
        if start < done:
            continue
        if "key" in name[0].lower():
            key = _KEY.match(text, start)
            value = None if key is None or is_stand_in(key[0]) else (start, key.end())
        else:
            others = [other.start() for other in _OTHER.finditer(text)] if others is None else others
            value = _password(text, name.start(), start) if _is_among(others, text, name.start(), start) else None
        if value is not None:
            done = value[1]
            yield Found(*value, "connection_string")


def _is_among(others: list[int], text: str, name: int, start: int) -> bool:
    """Whether another setting stands near to the one from ``name`` on, whose value is at ``start``, on its line."""
    place = bisect_left(others, name)
    if text[max(0, name - 8) : name].rstrip().endswith(";"):
        return True
    before = place > 0 and name - others[place - 1] <= _NEAR and "\n" not in text[others[place - 1] : name]
    after = place < len(others) and others[place] - start <= _NEAR and "\n" not in text[start : others[place]]
    return before or after


def _password(text: str, name: int, start: int) -> tuple[int, int] | None:
    """From where to where the password goes at ``start``; None where something stands for one, or code."""
    if stands_for_one(text, start):
        return None
    quoted = _QUOTED.match(text, start)
    if quoted is not None:
        return quoted.span(2)
    bare = (_BARE_IN_QUERY if text[name - 1 : name] in ("?", "&") else _BARE).match(text, start)
    if bare is None or is_stand_in(bare[0]):
        return None
    end = bare.end()
    rest = _REST.match(text, end)
    if rest is not None:
        return start, rest.end()
    if end == len(text) or text[end] != ";":
        end = start + len(bare[0].rstrip(_END_OF_TEXT))
    is_code = _CODE if text[start - 1] == "=" else _CODE_IN_SPACES
    return None if end <= start or is_code.match(text, start, end) is not None else (start, end)
