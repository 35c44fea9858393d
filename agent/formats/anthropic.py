"""The format ``anthropic``: conversations of the Messages API (Anthropic API reference, Messages).

``{system?, messages}`` as it is sent, a list of such messages, a message that came back, the events that it was
streamed as, and recorded calls ``{request, response}``. Refuses, with every path that is wrong, roles that nobody
knows and fields of the wrong type. A body whose messages are texts alone is claimed by nobody's shape: it has to be
named ``anthropic``, or to say something else that only this API is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from agent.errors import ValidationError
from agent.formats.anthropic_answer import answer_of, is_answer, is_stream
from agent.formats.anthropic_blocks import DEMANDS, DIALECT, is_call, is_result
from agent.formats.blocks.documents import Provider, read_body, read_recorded
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.recording import Recorded, recorded_calls
from agent.formats.writing import Session, Written

_ROLES: Final = frozenset({"user", "assistant", "system"})
# Blocks that no other API's messages have, beside calls and results.
_OWN_BLOCKS: Final = frozenset(
    {"redacted_thinking", "compaction", "container_upload", "tool_addition", "tool_removal", "mcp_tool_listing"}
)
_SHARED_BLOCKS: Final = frozenset({"text", "thinking", "image", "document", "search_result", "fallback"})
# Members of messages of other APIs.
_OF_OTHERS: Final = frozenset({"tool_calls", "tool_call_id", "function_call", "parts"})


def detect(document: Any) -> bool:
    """Messages with blocks of this API, or a request, an answer, events or recorded calls that are its."""
    calls = recorded_calls(document)
    if calls is not None:
        return any(_request_of(call) is not None or answer_of(call) is not None for call in calls)
    return _is_request(document) or _says_it(document) or is_answer(document) or is_stream(document)


def _is_request(body: Any) -> bool:
    if not isinstance(body, dict) or not _may_be(body.get("messages")):
        return False
    if _says_it(body["messages"]) or "anthropic_version" in body:
        return True
    tools = body.get("tools")
    declared = tools if isinstance(tools, list) else []
    has_schema = any(isinstance(tool, dict) and "input_schema" in tool for tool in declared)
    return has_schema or "stop_sequences" in body or _is_system(body.get("system"))


def _is_system(system: Any) -> bool:
    if isinstance(system, list):
        return bool(system) and all(isinstance(block, dict) and block.get("type") == "text" for block in system)
    return isinstance(system, str)


def _may_be(messages: Any) -> bool:
    """Whether nothing in ``messages`` is another API's."""
    return isinstance(messages, list) and bool(messages) and all(map(_may_be_message, messages))


def _may_be_message(message: Any) -> bool:
    if not isinstance(message, dict) or message.keys() & _OF_OTHERS:
        return False
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or role not in _ROLES:
        return False
    return isinstance(content, str) or (isinstance(content, list) and all(map(_may_be_block, content)))


def _may_be_block(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and (kind in _SHARED_BLOCKS or _is_own(block))


def _is_own(block: Mapping[str, Any]) -> bool:
    kind = block["type"]
    if kind == "thinking":
        return isinstance(block.get("thinking"), str)
    if kind in ("image", "document"):
        return isinstance(block.get("source"), dict)
    if is_call(kind):
        return isinstance(block.get("id"), str) and "input" in block
    if is_result(kind):
        return isinstance(block.get("tool_use_id"), str)
    return kind in _OWN_BLOCKS


def _says_it(messages: Any) -> bool:
    """Whether ``messages`` are this API's, and say so by a block."""
    return _may_be(messages) and any(
        _is_own(block) for message in messages if isinstance(message["content"], list) for block in message["content"]
    )


def _request_of(call: Recorded) -> Mapping[str, Any] | None:
    """The request of a call of this API: by what it says, or by what came back."""
    request = call.request
    if not isinstance(request, dict) or "messages" not in request:
        return None
    response = call.response if isinstance(call.response, dict) else {}
    # A refused call, and one that only counts tokens.
    is_error = response.get("type") == "error" and isinstance(response.get("error"), dict)
    is_count = response.keys() == {"input_tokens"}
    is_ours = _is_request(request) or answer_of(call) is not None or is_error or is_count
    return request if is_ours else None


def _request_named(call: Recorded) -> Mapping[str, Any] | None:
    """The request of a call that somebody says is of this API, if nothing in it is another's."""
    request = call.request
    return request if isinstance(request, dict) and _may_be(request.get("messages")) else None


def _request_beside(call: Recorded) -> Mapping[str, Any] | None:
    """The request of a call that stands among those of this API: also of one that failed, and so says less."""
    response = call.response
    is_failed = call.events is None and not (isinstance(response, dict) and "error" not in response)
    return _request_of(call) or (_request_named(call) if is_failed else None)


PROVIDER: Final = Provider(DIALECT, _request_beside, answer_of, "model")
_NAMED: Final = replace(PROVIDER, request_of=_request_named)


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one in a body or an answer, in recorded calls as many as they begin."""
    recorded = recorded_calls(document)
    if recorded is not None:
        # Where no call says whose it is, somebody else did: whoever asks for this format.
        yield from read_recorded(PROVIDER if detect(document) else _NAMED, recorded)
    elif is_answer(document):
        yield from read_recorded(PROVIDER, [Recorded(None, document, None, None)])
    elif is_stream(document):
        yield from read_recorded(PROVIDER, [Recorded(None, None, tuple(document), None)])
    else:
        yield read_body(PROVIDER, document)


def write(session: Session) -> Written:
    """The history of ``session`` as one list of messages, with the instructions that it begins with beside it."""
    from agent.formats.blocks.out import write_messages  # a capture only reads

    return write_messages(session, DIALECT, DEMANDS)
