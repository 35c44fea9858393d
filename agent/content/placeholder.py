"""What stands in a stored text for what may not stand there (CONTRACT 8): ``[redacted:<kind>]``, ``[omitted:<n>]``.

A text that is a placeholder already is left as it is, so narrowing twice is narrowing once. Only the kinds that there
are count: whoever writes ``[redacted:anything]`` has written a text like any other. Nobody can tell a hash that was
made here from 32 bytes that a caller chose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# What detectors find, in the order in which one gives its name to several that overlap: what leaks most first, then
# what is narrower.
DETECTED: Final = (
    "private_key",
    "jwt",
    "vendor_token",
    "connection_string",
    "url_password",
    "cloud_key",
    "iban",
    "card",
    "national_id",
    "email",
    "phone",
)
# What an operator names (``redaction.params``), and what is left out whole.
PARAM: Final = "param"
OMITTED: Final = "omitted"
# A body of 10 MiB has no value whose RFC 8785 form is longer than eight digits say.
_ONE: Final = re.compile(
    rf"\[(?:redacted:(?P<kind>{'|'.join((*DETECTED, PARAM))})|{OMITTED}:[0-9]{{1,8}}(?::[0-9a-f]{{64}})?)\]", re.ASCII
)


def redacted(kind: str) -> str:
    """The placeholder for what a detector found, or for the value of a parameter."""
    return f"[redacted:{kind}]"


def omitted(characters: int, digest: str | None) -> str:
    """The placeholder for so many characters; ``digest`` is their HMAC-SHA-256 in lower-case hex, if there is one."""
    return f"[omitted:{characters}]" if digest is None else f"[omitted:{characters}:{digest}]"


def is_placeholder(text: str) -> bool:
    """Whether ``text`` is one placeholder and nothing else."""
    return text.startswith("[") and _ONE.fullmatch(text) is not None


def is_redacted(text: str) -> bool:
    """Whether ``text`` is one placeholder of a kind, which says nothing of what it stands for."""
    return text.startswith("[redacted:") and is_placeholder(text)


def without_digest(placeholder: str) -> str:
    """A placeholder without the hash in it: as many characters, and nothing that a caller could have written there."""
    return f"[{':'.join(placeholder[1:-1].split(':')[:2])}]"


def end_of_placeholder(text: str, start: int) -> int | None:
    """Where the placeholder ends that begins at ``start``; None where there is none."""
    match = _ONE.match(text, start)
    return None if match is None else match.end()


def may_hold_placeholders(text: str) -> bool:
    """Whether something in ``text`` begins as a placeholder does: nearly never."""
    return "[redacted:" in text or "[omitted:" in text


def placeholders_in(text: str) -> list[tuple[int, int]]:
    """Where placeholders stand in ``text``, from and to before, in order."""
    return [match.span() for match in _ONE.finditer(text)] if may_hold_placeholders(text) else []


def kinds_in(text: str) -> Iterator[tuple[int, int, str]]:
    """The placeholders of ``text``, each with its kind, which is ``OMITTED`` for what was left out whole."""
    for match in _ONE.finditer(text):
        yield match.start(), match.end(), match["kind"] or OMITTED
