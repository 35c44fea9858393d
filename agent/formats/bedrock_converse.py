"""The format ``bedrock-converse``: conversations of the Converse API (Amazon Bedrock API reference, Converse).

``{system?, messages}`` as it is sent, also as what tokens are counted of (``{input: {converse}}``), a list of such
messages, an answer ``{output: {message}}``, and recorded calls ``{request, response}``. Refuses, with every path that
is wrong, roles that nobody knows and fields of the wrong type. Streams are binary on the wire and not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.errors import ValidationError
from agent.formats.bedrock_converse_blocks import BLOCKS, DEMANDS, DIALECT
from agent.formats.blocks.documents import Answer, Provider, read_body, read_recorded, usage_with_caches
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.recording import Recorded, recorded_calls
from agent.formats.writing import Session, Written

_SENT: Final = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
_ROLES: Final = frozenset({"user", "assistant", "system"})


def detect(document: Any) -> bool:
    """Messages with blocks of this API, alone, in ``messages``, in an answer, or in recorded calls."""
    calls = recorded_calls(document)
    if calls is not None:
        return any(_request_of(call) is not None or _answer_of(call) is not None for call in calls)
    return _is_request(_counted(document)) or _is_list(document) or _is_answer(document)


def _counted(document: Any) -> Any:
    """What tokens are counted of (CountTokens); ``document`` itself where it is something else."""
    held = document.get("input") if isinstance(document, dict) else None
    return held["converse"] if isinstance(held, dict) and "converse" in held else document


def _is_request(body: Any) -> bool:
    return isinstance(body, dict) and _is_list(body.get("messages"))


def _is_list(messages: Any) -> bool:
    """Whether all are messages of blocks of this API, and one of them has a block."""
    if not isinstance(messages, list) or not all(map(_is_message, messages)):
        return False
    return any(message["content"] for message in messages)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return False
    role = message.get("role")
    return isinstance(role, str) and role in _ROLES and all(map(_is_block, message["content"]))


def _is_block(block: Any) -> bool:
    # Other APIs' blocks have a type.
    return isinstance(block, dict) and "type" not in block and bool(block.keys() & BLOCKS)


def _is_answer(document: Any) -> bool:
    output = document.get("output") if isinstance(document, dict) else None
    return isinstance(output, dict) and _is_message(output.get("message"))


def _request_of(call: Recorded) -> Mapping[str, Any] | None:
    request = _counted(call.request)
    return request if _is_request(request) else None


def _answer_of(call: Recorded) -> Answer | None:
    body = call.response
    if not isinstance(body, dict) or not _is_answer(body):
        return None
    message = body["output"]["message"]
    beside = {name: value for name, value in body.items() if name != "output"}
    return Answer(message, beside, None, usage_with_caches(body.get("usage"), _SENT, "outputTokens", "totalTokens"))


PROVIDER: Final = Provider(DIALECT, _request_of, _answer_of, "modelId")


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one in a body or an answer, in recorded calls as many as they begin."""
    recorded = recorded_calls(document)
    if recorded is not None:
        yield from read_recorded(PROVIDER, recorded)
    elif _is_answer(document):
        yield from read_recorded(PROVIDER, [Recorded(None, document, None, None)])
    else:
        yield read_body(PROVIDER, _counted(document))


def write(session: Session) -> Written:
    """The history of ``session`` as one list of messages, with the instructions that it begins with beside it."""
    from agent.formats.blocks.out import write_messages  # a capture only reads

    return write_messages(session, DIALECT, DEMANDS)
