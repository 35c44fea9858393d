"""What is told by its own form: addresses of mail and web, UUIDs, IP addresses, paths of files."""

from __future__ import annotations

import re
from typing import Final

from agent.entities.rule import Rule, Rules, Scan, at

_EMAIL: Final = re.compile(
    r"[\w.+%-](?<![\w.+%/@-].)[\w.+%-]{0,63}@(?:[^\W_](?:[\w-]{0,62})\.){1,8}([^\W\d_]{2,24})(?![\w@-])(?!:\w)"
)
# "icon@2x.png" is a picture, and no mailbox.
_EACH_FILES: Final = "png jpg jpeg gif svg webp ico css js ts py json md txt html xml yaml yml"
_FILES: Final = frozenset(_EACH_FILES.split())
_IN_URL: Final = r"[^\s<>\"'`{}|\\^，。、；！？（）「」『』【】《》\x00-\x1f]"  # noqa: RUF001 - as it is written
# What a signed or private link carries behind the question mark is a credential: there the address ends.
_CREDENTIAL: Final = (
    r"(?![?#&][\w.-]{0,40}(?:token|key|secret|passw|signature|auth|credential|session|sig|code|pwd)[\w-]{0,10}=)"
)
_URL: Final = re.compile(
    rf"(?:https?|ftps?|wss?|gs)://(?:{_CREDENTIAL}{_IN_URL}){{3,2040}}"
    r"|www\.(?:[\w-]{1,63}\.){1,6}[^\W\d_]{2,24}(?:/[\w./?&=%~+#-]{0,1000})?",
    re.IGNORECASE,
)
_UUID: Final = re.compile(r"[0-9a-f](?<![\w-].)[0-9a-f]{7}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])", re.IGNORECASE)
_IN_UUID: Final = re.compile(r"-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-")
_IPV4: Final = re.compile(r"(?<![\w./-])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w-]|\.\d)")
_VERSION: Final = re.compile(r"(?:version|release|v\.?)[ :=]{0,2}\Z", re.IGNORECASE)
_IPV6: Final = re.compile(r"[0-9a-f](?<![\w:.].)[0-9a-f]{0,3}:[0-9a-f:]{3,35}(?![\w:])", re.IGNORECASE)
_PATH: Final = re.compile(r"/(?<![\w./~:<@$}*-]/)[\w.@+-]{1,128}(?:/[\w.@+-]{1,128}){0,24}(?![\w/(])(?<!\.)")
_HOME_PATH: Final = re.compile(r"~(?<!\w~)(?:/[\w.@+-]{1,128}){1,24}(?<!\.)")
_DRIVE_PATH: Final = re.compile(r"[A-Z](?<!\w.):\\[\w.@+-]{1,128}(?:\\[\w.@+-]{1,128}){1,24}(?<!\.)")
_ROOT: Final = re.compile(r"/(?:home|usr|etc|tmp|var|opt|root|mnt|Users|Applications|Library|bin|lib|srv|dev|proc)/")
_EXTENSION: Final = re.compile(r"/[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,6}\Z")


_BRACKETS: Final = {")": "(", "]": "["}
_PUNCTUATION: Final = ".,;:!?*_~"


def _without_punctuation(address: str) -> int:
    """The length of an address without the punctuation of its sentence, and brackets that it did not open."""
    end = len(address)
    while end and (
        address[end - 1] in _PUNCTUATION
        or (
            (opening := _BRACKETS.get(address[end - 1]))
            and address.count(address[end - 1], 0, end) > address.count(opening, 0, end)
        )
    ):
        end -= 1
    return end


def _is_mailbox(found: re.Match[str]) -> bool:
    return found[1].lower() not in _FILES and found[0][0] not in ".+-%"


def _is_ipv4(found: re.Match[str]) -> bool:
    before = found.string[max(0, found.start() - 10) : found.start()]
    return all(int(part) < 256 for part in found.groups()) and not _VERSION.search(before)


def _is_ipv6(found: re.Match[str]) -> bool:
    # "Add::Face" is C++: an address has more parts than a name has, and a digit among them.
    if found[0].count(":") < 3 or not any(map(str.isdigit, found[0])):
        return False
    # Late: few texts have one.
    from ipaddress import AddressValueError, IPv6Address

    try:
        IPv6Address(found[0])
    except AddressValueError:
        return False
    return True


def _is_path(found: re.Match[str]) -> bool:
    # "/v1/items" is none: a file has an ending, or lies where systems keep theirs.
    return _ROOT.match(found[0]) is not None or _EXTENSION.search(found[0][-200:]) is not None


IPV4: Final = Rule(2, _IPV4, "IP_ADDRESS", 0, _is_ipv4)
RULES: Final = Rules(
    words=at("http https ftp ftps ws wss gs www", Rule(1, _URL, "URL", 0, None, _without_punctuation)),
    numbers={".": (IPV4,)},
    scans=(
        Scan(("@",), Rule(2, _EMAIL, "EMAIL_ADDRESS", 0, _is_mailbox)),
        Scan(("-",), Rule(2, _UUID, "UUID"), _IN_UUID),
        Scan(("::", ":0000:", "2001:", "2600:", "2620:", "2a0"), Rule(2, _IPV6, "IP_ADDRESS", 0, _is_ipv6)),
        Scan(("/",), Rule(3, _PATH, "FILE_PATH", 0, _is_path)),
        Scan(("~/",), Rule(3, _HOME_PATH, "FILE_PATH")),
        Scan((":\\",), Rule(3, _DRIVE_PATH, "FILE_PATH")),
    ),
)
