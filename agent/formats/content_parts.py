"""Content parts of chat messages: the text that stands for them, and binary data by its digest (CONTRACT 3a).

What is text is joined by a line break. What is not gets a short placeholder with its media type, never its data.
Refuses content that is neither a string, a list nor null, and parts that are neither objects nor strings.
"""

from __future__ import annotations

import base64
import re
from typing import Any, Final

from agent.core.canonical import sha256_hex
from agent.errors import Problem

MAX_BINARY_BYTES: Final = 4096

_TEXT_FIELD: Final = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_LABEL: Final = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio_url": "audio",
    "input_file": "file",
    "document": "file",
    "video_url": "video",
    "input_video": "video",
}
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z", re.ASCII)
_MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,64}/[A-Za-z0-9!#$&^_.+-]{1,64}\Z", re.ASCII)
# RFC 2397: the media type and its parameters stand before the first comma.
# Possessive, so that a long text without a comma is read once.
_DATA_URL: Final = re.compile(r"data:([^,;]*+)([^,]*+),", re.IGNORECASE)
_MEDIA_TYPE_FIELDS: Final = ("media_type", "mime_type", "mimeType")
# What is base64 by the Chat Completions reference: these fields of these objects.
_BASE64_FIELDS: Final = frozenset({"data", "file_data", "base64"})
_BINARY_HOLDERS: Final = frozenset({"input_audio", "audio", "file"})
_AUDIO_SUBTYPE: Final = {"mp3": "mpeg"}


def content_text(content: object, path: str, problems: list[Problem]) -> str:
    """The text that stands for a message's ``content``; null is the empty string. Appends to ``problems``."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (_part_text(part, f"{path}[{place}]", problems) for place, part in enumerate(content))
        return "\n".join(text for text in texts if text is not None)
    if content is not None:
        problems.append(Problem(path, "type"))
    return ""


def _part_text(part: object, path: str, problems: list[Problem]) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        problems.append(Problem(path, "type"))
        return None
    kind = _kind(part)
    if not isinstance(kind, str):
        problems.append(Problem(f"{path}.type", "type"))
        return None
    field = _TEXT_FIELD.get(kind)
    if field is None:
        return _placeholder(part, kind)
    text = part.get(field)
    if text is None or isinstance(text, str):
        return text
    problems.append(Problem(f"{path}.{field}", "type"))
    return None


def _kind(part: dict[str, Any]) -> object:
    # Some clients leave the type of a text part out.
    return part.get("type", "text" if "text" in part else "part")


def _placeholder(part: dict[str, Any], kind: str) -> str:
    label = _LABEL.get(kind, kind if _PLAIN_NAME.match(kind) else "part")
    sources = (part.get(kind), part.get("source"), part)
    media_type = next((found for source in sources if (found := _media_type(source))), None)
    return f"[{label}: {media_type}]" if media_type else f"[{label}]"


def _media_type(source: object) -> str | None:
    """The media type that an object's own fields, or a data URL in them, tell; None where they do not."""
    if isinstance(source, str):
        url = _DATA_URL.match(source)
        return _checked_media_type(url[1]) if url else None
    if not isinstance(source, dict):
        return None
    named = _named_media_type(source)
    audio = source.get("format")
    if named is None and "data" in source and isinstance(audio, str):
        named = _checked_media_type(f"audio/{_AUDIO_SUBTYPE.get(audio, audio)}")
    if named is None:
        told = (_media_type(value) for value in source.values() if isinstance(value, str))
        named = next((found for found in told if found), None)
    return named


def _named_media_type(source: dict[str, Any]) -> str | None:
    names = (_checked_media_type(source.get(field)) for field in _MEDIA_TYPE_FIELDS)
    return next((name for name in names if name), None)


def _checked_media_type(text: object) -> str | None:
    return text.lower() if isinstance(text, str) and _MEDIA_TYPE.match(text) else None


def without_binaries(field: str, value: Any) -> Any:
    """``value`` of the message field ``field`` with every binary over 4 KiB as ``{sha256, bytes, media_type?}``.

    Binary is a base64 data URL that is a whole string, ``data`` of ``input_audio`` and ``audio``, ``file_data`` of
    ``file``, and either of them beside a media type where it is base64. Digest and size are of the decoded bytes, or
    of the text where it is not base64. Text parts and ``content`` that is a string are text; other opaque fields are
    left alone, since a provider may want its own back (signed or encrypted reasoning). ``content`` is such that
    ``content_text`` found nothing wrong. Without any binary, the very ``value`` is returned.
    """
    if field != "content":
        return _compact(field, value, {}, known=False)
    if isinstance(value, list):
        return _kept_if_equal(
            value, [part if _is_text(part) else _compact("", part, {}, known=False) for part in value]
        )
    return value


def digests_in(value: Any) -> int:
    """How many digests stand in ``value`` for binary data: what holds one is no longer what its provider takes."""
    found, level = 0, [value]
    while level:
        item = level.pop()
        if isinstance(item, dict) and item.keys() >= {"sha256", "bytes"}:
            found += 1
        elif isinstance(item, dict | list):
            level.extend(item.values() if isinstance(item, dict) else item)
    return found


def _is_text(part: object) -> bool:
    kind = _kind(part) if isinstance(part, dict) else None
    return isinstance(part, str) or (isinstance(kind, str) and kind in _TEXT_FIELD)


def _compact(field: str, value: Any, holder: dict[str, Any], *, known: bool) -> Any:
    """``value`` of the field ``field`` of ``holder``; ``known``: an object that holds binary by definition."""
    if isinstance(value, str):
        return _digest(field, value, holder, known=known)
    if isinstance(value, list):
        return _kept_if_equal(value, [_compact("", item, {}, known=False) for item in value])
    if isinstance(value, dict):
        holds = field in _BINARY_HOLDERS
        members = {key: _compact(key, member, value, known=holds) for key, member in value.items()}
        return members if any(members[key] is not member for key, member in value.items()) else value
    return value


def _kept_if_equal(before: list[Any], after: list[Any]) -> list[Any]:
    return after if any(new is not old for new, old in zip(after, before, strict=True)) else before


def _digest(field: str, text: str, holder: dict[str, Any], *, known: bool) -> Any:
    # A character has at most four bytes in UTF-8, and base64 is longer than what it stands for.
    if len(text) * 4 <= MAX_BINARY_BYTES:
        return text
    url = _DATA_URL.match(text)
    if url is not None and url[2].lower().endswith(";base64"):
        decoded = _decoded(text[url.end() :])
    elif field in _BASE64_FIELDS and (known or _named_media_type(holder)):
        decoded = _decoded(text)
        if decoded is None and not known:
            return text
    else:
        return text
    data = text.encode() if decoded is None else decoded
    if len(data) <= MAX_BINARY_BYTES:
        return text
    digest: dict[str, Any] = {"sha256": sha256_hex(data), "bytes": len(data)}
    media_type = _media_type(text) or _media_type(holder)
    if media_type is not None:
        digest["media_type"] = media_type
    return digest


def _decoded(text: str) -> bytes | None:
    """The bytes of strict base64 (RFC 4648 4); None where ``text`` is not that."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None
