"""E-mail addresses, internationalised ones too (RFC 6531). ``user@host:path`` and the user of a URL are none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.content.found import Found

# Vowel signs of Indic scripts and of Thai are no letters for ``re``, and भारत is a domain.
_SIGNS: Final = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0e31-\u0eff"
# The domain has a dot: what has none is a user at a machine.
_AT: Final = re.compile(rf"@(?=[^\W_][\w{_SIGNS}-]{{0,62}}\.\w)|%40(?=[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.[A-Za-z])")
# The part before the @, read backwards. Marks that quotes, lists, queries and assignments also leave there are allowed
# only in between: to=mia@ and **mia@ begin with the m.
_LOCAL: Final = re.compile(rf"[\w+{_SIGNS}](?:[\w.+{_SIGNS}-]|['!#$%^~&](?=[^\W_])){{0,63}}+")
_QUOTED_LOCAL: Final = re.compile(r'"[^"\\\n]{1,62}"')
_DOMAIN: Final = re.compile(
    rf"(?:[^\W_](?:[\w{_SIGNS}-]{{0,62}})\.){{1,8}}"
    rf"(?P<last>xn--[A-Za-z0-9-]{{2,59}}|[^\W\d_](?:[^\W\d_]|[{_SIGNS}]){{1,23}})(?![\w{_SIGNS}-])"
)
# A domain of ASCII letters that a script without spaces runs on behind.
_ASCII_DOMAIN: Final = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}(?P<last>[A-Za-z]{2,24})(?=[^\x00-\x7f])")
_PATH: Final = re.compile(r":(?:[/~]|[\w.-]{1,64}/)")
_URL: Final = re.compile(r"://[^\s/\"'<>]{0,128}\Z")
_ESCAPE: Final = re.compile(r"\\{1,2}(?:u[0-9A-Fa-f]{4}|[nrt])|%[0-9A-Fa-f]{2}")
# None of them is a top-level domain.
_NAMES_OF_FILES: Final = frozenset({"png", "jpg", "jpeg", "gif", "svg", "webp", "js", "css", "ts", "json"})
# Paraguay and Moldova, and files oftener than any other country: a path goes before one of those, or a line behind it.
_FILES_AND_COUNTRIES: Final = frozenset({"py", "md"})
_IN_PATH: Final = re.compile(
    r"(?:\A|[^\w@./~-])(?:(?:\.{1,2}|~)?/|[\w.~-]{1,64}/[\w.~-]{1,64}/)(?:[\w.~-]{1,64}/){0,8}\Z"
)
# One folder is enough where it is named as those of programs are: correo/juan@primaria.md is an address.
_IN_FOLDER: Final = re.compile(
    r"(?:\A|[^\w@./~-])"
    r"(?:apps?|blog|content|docs?|examples?|guides?|libs?|notes|packages|pages|posts|scripts|src|tests?|tools)/\Z"
)
_PLACE_IN_FILE: Final = re.compile(r"::|:\d{1,5}(?!\d)|#L\d")
# pkg@1.2.3.zip, image@2x.md: no domain is a version. One number is: 999.md, 163.com.
_VERSION: Final = re.compile(r"v?\d{1,4}(?:\.\d{1,4})+\.[^\W\d_]+|v\d{1,4}\.(?:md|py)|\dx\.(?:md|py)", re.IGNORECASE)
# A decorator or a function: +@app.get("/"). None is named as the domains that most addresses have.
_CALL: Final = re.compile(r"\((?![^\x00-\x7f])")
_NO_FUNCTIONS: Final = frozenset({"com", "org", "net", "edu", "gov"})
_BEFORE_SSH: Final = re.compile(r"\b(?:ssh|scp|rsync|sftp|mosh)\s(?:-\w{1,8}\s(?:[^\s@]{1,40}\s)?){0,2}\Z")
_LONGEST_LOCAL: Final = 64


def emails(text: str) -> Iterator[Found]:
    """Each address in ``text``."""
    done = 0
    for at in _AT.finditer(text):
        end = _end(text, at.end())
        start = at.start() if end is None else _start(text, at.start(), max(done, at.start() - _LONGEST_LOCAL))
        if end is not None and start < at.start() and not _is_of_another_kind(text, start, at.end(), end):
            done = end
            yield Found(start, end, "email")


def _end(text: str, after: int) -> int | None:
    """Where the domain ends that begins at ``after``; None where it is none."""
    domain = _DOMAIN.match(text, after)
    if domain is not None and not domain["last"].isascii():
        # 发到li.na@xinhe.example。谢谢 has no space before the next word either.
        domain = _ASCII_DOMAIN.match(text, after) or domain
    elif domain is None:
        domain = _ASCII_DOMAIN.match(text, after)
    if domain is None or domain["last"].lower() in _NAMES_OF_FILES:
        return None
    return domain.end()


def _start(text: str, at: int, earliest: int) -> int:
    """Where the part before the @ begins; ``at`` where there is none."""
    before = text[earliest:at]
    if before.endswith('"') and not before.endswith(('\\"', '="', ':"')):
        quoted = _QUOTED_LOCAL.match(before[::-1])
        return at if quoted is None else at - quoted.end()
    local = _LOCAL.match(before[::-1])
    if local is None or not any(map(str.isalnum, local[0])):
        return at
    start = at - local.end()
    if (start > 0 and text[start - 1] in "\\%") or "%" in local[0]:
        # The end of an escape is no part of it: "\nmia@", "%3Cmia@".
        for escape in _ESCAPE.finditer(text, max(0, start - 6), at):
            start = max(start, escape.end())
    while start < at and text[start] in ".-'!#$%^~&":
        start += 1
    if not local[0].isascii() and text[at - 1].isascii():
        start = _after_unspaced(text, start, at)
    return start


def _after_unspaced(text: str, start: int, at: int) -> int:
    """Where an ASCII name begins that a script without spaces runs up to: 发到li.na@."""
    place = at
    while place > start and text[place - 1].isascii():
        place -= 1
    return place if place > start and ord(text[place - 1]) >= 0x0E00 else start


def _is_of_another_kind(text: str, start: int, domain: int, end: int) -> bool:
    """Whether it is a user at a host: in a URL, before a path, or behind a command; or a file, a package, a call."""
    last = text[domain:end].rpartition(".")[2].lower()
    if _CALL.match(text, end) is not None and last not in _NO_FUNCTIONS:
        return True
    if _VERSION.fullmatch(text, domain, end) is not None:
        return True
    if last in _FILES_AND_COUNTRIES and _is_file(text, start, domain, end):
        return True
    if text.startswith(":", end) and _PATH.match(text, end) is not None:
        return True
    before = text[max(0, start - 140) : start]
    return ("://" in before and _URL.search(before) is not None) or _BEFORE_SSH.search(before[-64:]) is not None


def _is_file(text: str, start: int, domain: int, end: int) -> bool:
    """Whether a path goes before it, or a place in a file behind: docs/guide@next.md, me@main.py:12."""
    before = text[max(0, start - 140) : start]
    if _PLACE_IN_FILE.match(text, end) is not None:
        return True
    if not before.endswith("/"):
        return False
    return _IN_PATH.search(before) is not None or (
        text.count(".", domain, end) == 1 and _IN_FOLDER.search(before) is not None
    )
