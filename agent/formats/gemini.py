"""The format ``gemini``: what ``generateContent`` is sent and answers, and recorded calls of it.

``{systemInstruction?, contents, ...}`` in the API's spelling or the Python SDK's, one content or a list, the strings
and parts that the SDK takes too, a list of contents alone (a saved chat), a ``GenerateContentResponse``, a list of its
chunks, and recorded calls ``{request, response}``. A content's turns are named by its place. Calls mostly have no ids:
a response is for the next call of its function. Several candidates are branches, of which the first goes on.

Refuses, with every path that is wrong: contents and parts that are no objects, unknown roles, wrong types.

Sources: the Gemini API reference (``models.generateContent``, ``Content``, ``Part``, ``Candidate``); google-genai.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent.errors import Problem, ValidationError
from agent.formats.common_fields import refusal_of
from agent.formats.conversation.message import Conversation
from agent.formats.conversation.recording import Recorded, recorded_calls
from agent.formats.gemini_answer import is_response, is_stream, joined, response_of_call
from agent.formats.gemini_recorded import conversations_of
from agent.formats.gemini_request import is_chat, is_request, options_of, request_messages
from agent.formats.writing import Session, Written


def detect(document: Any) -> bool:
    """Contents, alone or in a request, responses, or recorded calls with either."""
    calls = recorded_calls(document)
    if calls is not None:
        return any(is_request(call.request) or response_of_call(call) is not None for call in calls)
    return is_request(document) or is_response(document) or is_stream(document) or is_chat(document)


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one in a request or a chat, in recorded calls as many as they begin."""
    recorded = recorded_calls(document)
    if recorded is not None:
        yield from conversations_of(recorded)
    elif is_stream(document):
        yield from conversations_of([Recorded(None, joined(document), None, None)], "$.candidates")
    elif is_response(document) and not is_request(document):
        yield from conversations_of([Recorded(None, document, None, None)], "$.candidates")
    else:
        yield _body(document)


def _body(document: Any) -> Conversation | ValidationError:
    problems: list[Problem] = []
    body = document if isinstance(document, dict) else {"contents": document}
    path = "$.contents" if isinstance(document, dict) else "$"
    messages = request_messages(body, path, problems)
    if problems:
        return refusal_of(problems)
    return Conversation(messages, native=options_of([body]))


def write(session: Session) -> Written:
    """The history of ``session`` as ``systemInstruction`` and ``contents``."""
    from agent.formats.gemini_out import write as write_contents  # a capture only reads

    return write_contents(session)
