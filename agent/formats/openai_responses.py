"""The format ``openai-responses``: items of the Responses API, as clients send them and as they come back.

A request ``{instructions?, input}``, an answer (``object: "response"``), recorded calls of both, and a list of items.
What an item becomes stands in ``response_items``; places are those of the items, and ``instructions`` are the first
turn (``place`` ``system``). Refuses, with every path that is wrong: what is no item, unknown roles and wrong types.

What stands beside the items of a request or an answer is kept under its own name beside the turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.errors import Problem, ValidationError
from agent.formats.common_fields import POSTED, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.recording import recorded_calls
from agent.formats.end_user import context_of, end_user
from agent.formats.openai_responses_calls import answered, is_answer, recorded, with_answer
from agent.formats.response_item_kept import INSTRUCTIONS
from agent.formats.response_item_kinds import is_list_of_items, tells_itself
from agent.formats.response_items import read_items
from agent.formats.writing import Session, Written

# Members that only requests of this API have, of those whose input is a text: others take one too (embeddings, speech).
_OWN_OPTIONS: Final = frozenset(
    {"previous_response_id", "conversation", "max_output_tokens", "reasoning", "include", "store", "truncation"}
    | {"max_tool_calls", "parallel_tool_calls", "prompt_cache_key", INSTRUCTIONS}
)
_NOT_OURS: Final = frozenset({"messages", "voice", "contents", "choices"})
_IN_REQUEST: Final = POSTED | {"input", INSTRUCTIONS}
# The text of an answer's output comes once more, as some SDKs write it.
_IN_ANSWER: Final = POSTED | {"output", "output_text"}


def detect(document: Any) -> bool:
    """A request, an answer or recorded calls of the Responses API, or a list of items that tells itself."""
    calls = recorded_calls(document)
    if calls is not None:
        return any(
            is_request(call.request) or is_answer(answered(call)) or _is_stream(call.events or ()) for call in calls
        )
    return is_request(document) or is_answer(document) or is_telling_list(document)


def is_telling_list(document: Any) -> bool:
    """A list of items, of which at least one could be no message of another API."""
    return is_list_of_items(document) and any(map(tells_itself, document))


def is_request(document: Any) -> bool:
    """``{input}`` with items, or with a text and an option that only this API has."""
    if not isinstance(document, dict) or not document.keys().isdisjoint(_NOT_OURS):
        return False
    sent = document.get("input")
    return is_list_of_items(sent) or (isinstance(sent, str) and not document.keys().isdisjoint(_OWN_OPTIONS))


def _is_stream(events: tuple[Any, ...]) -> bool:
    return any(isinstance(event, dict) and str(event.get("type")).startswith("response.") for event in events)


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one in a list, a request or an answer, in recorded calls as they begin."""
    calls = recorded_calls(document)
    if calls is not None:
        yield from recorded(calls, read_request)
        return
    problems: list[Problem] = []
    native: dict[str, Any] = {}
    if is_answer(document):
        messages = _answer(document, problems)
        native = {name: value for name, value in document.items() if name not in _IN_ANSWER}
    elif isinstance(document, dict):
        messages = read_request(document, "$", problems)
        native = {name: value for name, value in document.items() if name not in _IN_REQUEST}
    else:
        messages = read_request({"input": document if isinstance(document, list) else 0}, "$", problems, at="")
    ignored = Ignored()
    context = context_of([end_user("openai-responses", document, "$", ignored)], "$", ignored)
    yield refusal_of(problems) if problems else Conversation(messages, context=context, native=native, ignored=ignored)


def _answer(body: Mapping[str, Any], problems: list[Problem]) -> list[Message]:
    output = body["output"]
    if not output:
        problems.append(Problem("$.output", "minItems"))
    return with_answer(read_items(output, "$.output", problems), body)


def read_request(body: Mapping[str, Any], path: str, problems: list[Problem], *, at: str = ".input") -> list[Message]:
    """The turns of a request's body: its instructions first, then its items. Appends to ``problems``."""
    messages = []
    instructions = body.get(INSTRUCTIONS)
    if isinstance(instructions, str):
        messages.append(Message("system", instructions, "system", native={"of": INSTRUCTIONS}))
    elif instructions is not None:
        problems.append(Problem(f"{path}.{INSTRUCTIONS}", "type"))
    sent = body.get("input")
    if isinstance(sent, str):
        sent = [{"role": "user", "content": sent}]
    if not isinstance(sent, list):
        problems.append(Problem(f"{path}{at}", "type" if "input" in body else "required"))
    elif not sent and not messages:
        problems.append(Problem(f"{path}{at}", "minItems"))
    else:
        messages += read_items(sent, f"{path}{at}", problems)
    return messages


def write(session: Session) -> Written:
    """The history of ``session`` as the ``input`` of a request, with ``instructions`` where it came with some."""
    from agent.formats.conversation.said import document, said  # a capture only reads
    from agent.formats.response_items_out import items_of

    found, lost = said(session, "openai-responses")
    members: dict[str, Any] = {}
    if found and found[0].role == "system" and (found[0].native or {}).get("of") == INSTRUCTIONS:
        members[INSTRUCTIONS] = found[0].content
        found = found[1:]
    return document(session, {**members, "input": items_of(found, lost)}, lost)
