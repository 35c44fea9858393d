"""The vendors' own types, each as a function that raises where it does not take a document that we wrote.

``exact``: nothing may stand in it that the vendor's type does not name. What came from a provider may hold more than
its newest SDK says, and is given back as it came.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from typing import Any

from agents.items import TResponseInputItem
from anthropic.types import MessageParam, TextBlockParam
from anthropic.types.beta import BetaMessageParam
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from google.adk.events import Event
from google.adk.sessions import Session
from google.genai import types as genai
from langchain_core.load import load
from langchain_core.messages import BaseMessage, messages_from_dict
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter
from pydantic_ai.messages import ModelMessagesTypeAdapter
from request_types import RequestTypes


@functools.cache
def _adapter(request: Any, *, exact: bool) -> TypeAdapter[Any]:
    return RequestTypes(exact=exact).adapter(request)


def _each(request: Any, items: Iterable[Any], *, exact: bool) -> None:
    adapter = _adapter(request, exact=exact)
    for item in items:
        adapter.validate_json(json.dumps(item), strict=True)


def openai_chat(document: Any, *, exact: bool) -> None:
    """Each message is a ``ChatCompletionMessageParam``."""
    _each(ChatCompletionMessageParam, document["messages"], exact=exact)


def openai_responses(document: Any, *, exact: bool) -> None:
    """Each item is a ``ResponseInputItemParam``."""
    _each(ResponseInputItemParam, document["input"], exact=exact)


def anthropic(document: Any, *, exact: bool) -> None:
    """Each message is a ``MessageParam``, or has blocks of a beta, and ``system`` is a text or text blocks."""
    _each(MessageParam | BetaMessageParam, document["messages"], exact=exact)
    if "system" in document:
        _each(str | list[TextBlockParam], [document["system"]], exact=exact)


def gemini(document: Any, *, exact: bool) -> None:
    """Each content is a ``types.Content``, which takes no other names than its own."""
    contents = document["contents"]
    for content in [*contents, *(document[name] for name in ("systemInstruction",) if name in document)]:
        genai.Content.model_validate_json(json.dumps(content))


def bedrock_converse(document: Any, *, exact: bool) -> None:
    """What the SDK checks before it sends a request for ``Converse``."""
    request = {"modelId": "a model", **{name: document[name] for name in ("messages", "system") if name in document}}
    report = ParamValidator().validate(request, _converse())
    if report.has_errors():
        raise ValueError(report.generate_report())


@functools.cache
def _converse() -> Any:
    service = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    return service.operation_model("Converse").input_shape


def langchain(document: Any, *, exact: bool) -> None:
    """``messages_from_dict`` and ``load`` make messages of them."""
    messages = document["messages"]
    is_constructed = any("lc" in message for message in messages)
    made = load(messages, allowed_objects="messages") if is_constructed else messages_from_dict(messages)
    if not all(isinstance(message, BaseMessage) for message in made) or len(made) != len(messages):
        raise ValueError("some are no messages")


def openai_agents(document: Any, *, exact: bool) -> None:
    """Each item of a session is a ``TResponseInputItem``."""
    _each(TResponseInputItem, document["items"], exact=exact)


def google_adk(document: Any, *, exact: bool) -> None:
    """``session`` is a ``Session``, which takes no other names than its own, and each of its events an ``Event``."""
    session = document["session"]
    Session.model_validate_json(json.dumps(session))
    for event in session["events"]:
        Event.model_validate_json(json.dumps(event), extra="forbid" if exact else "ignore")


def pydantic_ai(document: Any, *, exact: bool) -> None:
    """``ModelMessagesTypeAdapter`` takes the messages."""
    ModelMessagesTypeAdapter.validate_json(json.dumps(document["messages"]), extra="forbid" if exact else "ignore")


ACCEPTING: dict[str, Callable[..., None]] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock-converse": bedrock_converse,
    "langchain": langchain,
    "openai-agents": openai_agents,
    "google-adk": google_adk,
    "pydantic-ai": pydantic_ai,
}
