"""Whom a document was written for: the end user, where its format has a field of its own for that person's id.

It becomes the ``context.user_id`` of what is captured, so that the person can be found and erased by it. What does not
fit (no string, an empty one, one that no address of the store holds) and what differs from call to call is told, and
left where it stands: a document is never refused for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from agent.core.json_path import json_path
from agent.formats import OPENAI_CHAT
from agent.formats.conversation.message import Ignored

USER_ID: Final = "user_id"
# As long as a name that sessions can be listed by (agent.recall.http.query).
MAX_CHARACTERS: Final = 1000
UNFIT: Final = "end users' ids that are none"
DIFFERENT: Final = "end users that differ"
_OPENAI: Final = (("user",), ("safety_identifier",))
# Where it stands in a request (OpenAI API reference, Chat Completions and Responses; Anthropic API reference, Messages)
# or among a span's attributes (OpenTelemetry registry, enduser and user; OpenInference, user.id; the AI SDK's metadata
# by the names that its tracers take): the first that fits. ``google_adk`` reads the user of its sessions itself.
FIELDS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = MappingProxyType(
    {
        OPENAI_CHAT: _OPENAI,
        "openai-responses": _OPENAI,
        "anthropic": (("metadata", "user_id"),),
        "otel-genai": (("enduser.id",), ("user.id",), ("enduser.pseudo.id",)),
        "openinference": (("user.id",), ("ai.telemetry.metadata.userId",), ("ai.telemetry.metadata.user.id",)),
    }
)
# An address takes these for steps on its way, and for no name.
_NO_NAMES: Final = frozenset({"", ".", ".."})


def end_user(form: str, holder: Any, path: str, ignored: Ignored) -> str | None:
    """The end user's id in ``holder``: a document of the format ``form``, or a span's attributes, at ``path``."""
    for at in FIELDS.get(form, ()):
        found = _at(holder, at)
        if isinstance(found, str) and found not in _NO_NAMES and len(found) <= MAX_CHARACTERS:
            return found
        if found is not None:
            ignored.add(UNFIT, path + json_path(at).removeprefix("$"))
    return None


def context_of(users: Iterable[str | None], path: str, ignored: Ignored) -> dict[str, Any]:
    """The ``context`` of what was said for ``users``, None where nobody is named; empty where they are several."""
    named = dict.fromkeys(user for user in users if user is not None)
    if len(named) > 1:
        ignored.add(DIFFERENT, path)
    return {USER_ID: next(iter(named))} if len(named) == 1 else {}


def with_given(told: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The ``context`` that a document told, with what is ``given`` beside it, which counts before it.

    An empty id of a user says nothing (CONTRACT 10).
    """
    says_nothing = given.get(USER_ID) == "" and USER_ID in told
    return {**told, **{name: value for name, value in given.items() if not (says_nothing and name == USER_ID)}}


def beside(form: str, native: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """``native`` without the id that ``context`` has of the end user: it is said once, and stays where it differs."""
    kept = dict(native)
    for name, *more in FIELDS.get(form, ()) if USER_ID in context else ():
        if _at(kept, (name, *more)) != context[USER_ID]:
            continue
        held = kept.pop(name)
        rest = {key: value for key, value in held.items() if key not in more} if more else {}
        if rest:
            kept[name] = rest
    return kept


def _at(holder: Any, path: Iterable[str]) -> Any:
    for name in path:
        holder = holder.get(name) if isinstance(holder, dict) else None
    return holder
