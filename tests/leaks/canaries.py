"""What is planted as content, and every form in which it could come out again.

A canary is a made-up text that is found nowhere else: words, and one of each kind of secret, valid by its checksum, so
that whoever looks for secrets takes it for one. What is looked for is its ``core``, whole or its first twelve
characters, as it is and in the forms that programs give to a text on its way: capitals and small letters, without gaps,
base64, percent signs, escapes of JSON and of Python, bytes taken for Latin-1, and backwards.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus

_PREFIX: Final = 12
_GAPS: Final = re.compile(r"[ .]")


class Canary(NamedTuple):
    """One planted text; ``core`` is the part of it that nothing else has."""

    kind: str
    text: str
    core: str


def _whole(kind: str, text: str) -> Canary:
    return Canary(kind, text, text)


# Put together here, so that no scanner of repositories takes them for somebody's.
CANARIES: Final = (
    _whole("word", "SECRET-71b"),
    _whole("words", "hunter2"),
    _whole("sentence", "quondam zephyr 71b is Ünïque “here”"),
    _whole("email", "quondam.zephyr@canary71b.example"),
    _whole("cloud_key", "AIza" + "QuondamZephyr71bQuondamZephyr71bQuo"),
    _whole("vendor_token", "sk-" + "proj-QuondamZephyr71bT3BlbkFJQuondamZephyr71b"),
    Canary(
        "private_key",
        "-----BEGIN " + "PRIVATE KEY-----\nMIIQuondamZephyr71bQuondamZephyr71b\n-----END " + "PRIVATE KEY-----",
        "MIIQuondamZephyr71bQuondamZephyr71b",
    ),
    Canary(
        "jwt",
        "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJxdW9uZGFtLTcxYiJ9.QuondamZephyr71bSignatureQuondam_71b",
        "QuondamZephyr71bSignatureQuondam_71b",
    ),
    Canary("url_password", "https://ann:" + "zephyr-71b-quondam@canary.example/", "zephyr-71b-quondam"),
    Canary("connection_string", "postgresql://ann:" + "quondam-71b-zephyr@db.example/memory", "quondam-71b-zephyr"),
    _whole("card", "4539 7187 1023 7107"),
    _whole("iban", "DE37 7187 1023 7107 1871 02"),
    _whole("phone", "+41 44 718 71 02"),
    _whole("national_id", "756.7187.1023.76"),
)
SECRETS: Final = CANARIES[2:]
# All of them in one text, for a place that holds one string.
ALL: Final = " | ".join(canary.text for canary in CANARIES)


def forms(text: str) -> dict[str, str]:
    """The forms of ``text`` that are looked for, by name; a form that is the text itself is left out."""
    found = {
        "upper case": text.upper(),
        "lower case": text.lower(),
        "without gaps": _GAPS.sub("", text),
        "reversed": text[::-1],
        "URL": quote(text, safe=""),
        "URL of a form": quote_plus(text),
        "JSON": json.dumps(text)[1:-1],
        "Python": ascii(text)[1:-1],
        "Latin-1": text.encode().decode("latin-1"),
        **{f"base64 at {shift}": _base64(text.encode(), shift) for shift in range(3)},
    }
    return {"as it is": text, **{name: form for name, form in found.items() if form != text}}


def _base64(data: bytes, shift: int) -> str:
    """What base64 makes of ``data`` wherever it stands in a longer text, ``shift`` bytes behind a group's beginning."""
    encoded = base64.b64encode(bytes(shift) + data).decode()
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + len(data)) * 8 // 6]


def looked_for(core: str) -> dict[str, str]:
    """All that is looked for because of ``core``."""
    found = forms(core)
    if len(core) > _PREFIX:
        found |= {f"{_PREFIX} characters, {name}": form for name, form in forms(core[:_PREFIX]).items()}
    return found


# The longer first: the report names as much as there is.
_LOOKED_FOR: Final = sorted(
    {form for canary in CANARIES for form in looked_for(canary.core).values()}, key=lambda form: (-len(form), form)
)
_ANY: Final = re.compile("|".join(map(re.escape, _LOOKED_FOR)))


def first_found(text: str) -> re.Match[str] | None:
    """Where ``text`` holds a form of a canary."""
    return _ANY.search(text)
