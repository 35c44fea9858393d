"""A list of messages that no store has, as somebody posts it: read by the formats, kept nowhere.

It is a list of messages of one format, or that format's whole document, with what stands beside its list (``system``,
``contents``). Turns get the same ids each time, so the same list has the same window. No time is made up. Refuses, by
ValidationError with the places of what is wrong, what no format knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from agent.core.ids import conversation_uuid
from agent.core.turn import SessionTurn
from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats import ReadName, format_named
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.payload import Scope, payloads
from agent.recall.written_window import LIST_SESSION

# What clients hold for a model; in the order in which a list is tried: openai-chat knows anything with a role.
FORMATS: Final[tuple[ReadName, ...]] = (
    *("google-adk", "pydantic-ai", "openai-agents", "langchain", "bedrock-converse"),
    *("gemini", "openai-responses", "anthropic", "openai-chat"),
)
WHERE: Final = "$.messages"
_CONVERSATION: Final = conversation_uuid("a list of messages")
# For readers that want a time where there is none; it is taken away again.
_NO_TIME: Final = "1970-01-01T00:00:00Z"


class PostedMessages(NamedTuple):
    """``turns`` of a list in the format ``form``; ``warnings`` name what its reader left out, by place."""

    turns: tuple[SessionTurn, ...]
    form: str
    warnings: tuple[Problem, ...]


def posted_messages(messages: object) -> PostedMessages:
    """``messages``, a JSON value, as turns. An empty list is an ``openai-chat`` one."""
    if messages == []:
        return PostedMessages((), FORMATS[-1], ())
    if not isinstance(messages, list | dict):
        raise ValidationError("messages must be a list of messages", [Problem(WHERE, "type")])
    form = next((name for name in FORMATS if format_named(name).detect(messages)), None)
    if form is None:
        known = f"messages are none of a format that is known: {', '.join(FORMATS)}"
        raise ValidationError(known, [Problem(WHERE, "format")])
    found = _conversation(form, messages)
    scope = Scope(LIST_SESSION, _CONVERSATION, _NO_TIME)
    made = (turn for payload in payloads(found.messages, found, scope, form) for turn in payload["turns"])
    # A turn that only says which branch is current may follow: of a list it says nothing.
    turns = tuple(_line(turn for _, turn in zip(found.messages, made, strict=False)))
    warnings = (*found.warnings, *found.ignored.warnings())[:MAX_PROBLEMS]
    return PostedMessages(turns, form, tuple(_placed(problem) for problem in warnings))


def _conversation(form: ReadName, messages: Any) -> Conversation:
    found = list(format_named(form).read(messages))
    problems = [problem for each in found if isinstance(each, ValidationError) for problem in each.problems]
    conversations = [each for each in found if isinstance(each, Conversation)]
    if not problems and len(conversations) != 1:
        problems = [Problem("$", "several_conversations" if conversations else "required")]
    if problems:
        placed = [_placed(problem) for problem in problems[:MAX_PROBLEMS]]
        raise ValidationError(f"messages are no list of messages in the format {form}", placed)
    return conversations[0]


def _placed(problem: Problem) -> Problem:
    return Problem(WHERE + problem.path[1:], problem.rule)


def _line(made: Iterator[Mapping[str, Any]]) -> Iterator[SessionTurn]:
    """Each turn behind the one before it, as the list has them."""
    before: str | None = None
    for place, fields in enumerate(made, 1):
        derived = fields.get("metadata", {}).get("derived", ())
        turn_id = str(fields["turn_id"])
        yield SessionTurn(
            turn_id=turn_id,
            seq=place,
            conversation_id=_CONVERSATION,
            parent_turn_id=before,
            role=fields["role"],
            content=fields["content"],
            erased=False,
            fields={name: value for name, value in fields.items() if name != "timestamp" or "timestamp" not in derived},
        )
        before = turn_id
