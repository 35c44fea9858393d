"""Which published contract an event keeps, and whether this release can read it (CONTRACT 6).

Writers spell it in many ways: ``2.0.0-rc.1``, ``2.0.0+build.5``, ``v2``, the number 2. Whatever begins with a number
has that number as its major: a contract that is misread as ours would be folded wrongly, and nobody would be told.
Digits that go on with a letter are no number: there are writers who name a commit there.
"""

from __future__ import annotations

import re
from typing import Any, Final

from agent.core.agent_identity import AGENT_VERSION
from agent.errors import NewerContract

# Possessive: of any number of digits each is looked at once.
_BEGINNING: Final = re.compile(r"\s*+[vV]?(\d++)(?![A-Za-z])", re.ASCII)
_BARE: Final = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}\Z", re.ASCII)
# A larger major counts as this one: it is newer all the same.
_LARGEST: Final = 999_999_999


def major_version(version: Any) -> int | None:
    """The major of ``version``; None for what does not begin with a number, which says nothing."""
    match = _BEGINNING.match(_text(version))
    if match is None:
        return None
    digits = match[1].lstrip("0")
    return int(digits or "0") if len(digits) <= len(str(_LARGEST)) else _LARGEST


def _text(version: Any) -> str:
    if isinstance(version, str):
        return version
    if version is None or isinstance(version, bool | list | dict):
        return ""
    try:
        # A number with a fraction or an exponent may be of a type of the parser's own.
        return str(version if isinstance(version, int) else int(float(version)))
    except OverflowError:
        return ""


def kept_version(version: Any) -> str | None:
    """What may be kept of ``version`` where nothing may stay that somebody said; None for what is no version.

    ``2.1.0`` itself; of any other spelling the major alone, as ``2.0.0``: the rest may be anything.
    """
    major = major_version(version)
    if major is None:
        return None
    return version if isinstance(version, str) and _BARE.match(version) else f"{major}.0.0"


_OURS: Final = major_version(AGENT_VERSION)


def refuse_newer(version: Any) -> None:
    """Raise NewerContract for an ``agent_version`` that breaks with the contract of this release."""
    major = major_version(version)
    if major is not None and _OURS is not None and major > _OURS:
        raise NewerContract(major)
