"""Foreign formats: what other programs hold as a conversation, read into the native payload (CONTRACT 3, 3a).

One reader a format, found by its name. ``native`` is no foreign format: the caller handles it before it asks here.
A name that nobody reads is refused, and so is a body that its reader cannot place, with every path that is wrong.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

from agent.errors import Problem, ValidationError

OPENAI_CHAT: Final = "openai-chat"


class Translation(NamedTuple):
    """A foreign body as a native payload.

    ``payload`` has UUIDs for ids, with the native strings beside them, and is for ``validate_payload`` to confirm.
    ``warnings`` name unknown fields of the body by their paths there, at most 50. ``snapshot_path`` is the path of
    the list that is the conversation so far; None where the body only adds to it.
    """

    payload: dict[str, Any]
    warnings: tuple[Problem, ...]
    snapshot_path: str | None


class Reader(Protocol):
    """What every foreign format offers."""

    def read(self, body: dict[str, Any], *, captured_at: str) -> Translation:
        """Translate ``body``, which is left as it is; ``captured_at`` (RFC 3339) is the time of turns without one.

        Raises ValidationError with all problems, at most 50, by their paths in ``body``.
        """
        ...


def reader(name: str) -> Reader:
    """The reader of the format ``name``. Raises ValidationError (rule ``enum``) for a format that nobody reads."""
    if name == OPENAI_CHAT:
        # Late, so that a function that only sees native payloads does not pay for it at its cold start.
        from agent.formats.openai_chat import OpenAIChatReader

        return OpenAIChatReader()
    raise ValidationError(f"the format is none of: native, {OPENAI_CHAT}", [Problem("$", "enum")])
