"""Items of the Responses API, as a request's ``input`` and as the sessions of the Agents SDK hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.formats.providers.spoken import digests

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_OUTPUT_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
_OUTPUTS = set(_OUTPUT_OF.values())
_SPEAKERS = {"user", "assistant", "system", "developer"}


def openai_responses(document: Any) -> list[str]:
    """OpenAI API reference, Responses, ``input``; guides "Function calling" and "Reasoning models".

    Refused with 400: "No tool output found for function call ...", "No tool call found for function call output with
    call_id ...", "Item 'rs_...' of type 'reasoning' was provided without its required following item". Messages of the
    system may stand anywhere.
    """
    return list(_items(document["input"]))


def openai_agents(document: Any) -> list[str]:
    """The items of a ``Session`` of the Agents SDK are the ``input`` of its next run."""
    return list(_items(document["items"]))


def _items(items: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield from digests(items)
    if not items:
        yield "no items"
    open_: dict[Any, str] = {}
    called: set[Any] = set()
    passed: set[Any] = set()
    for place, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "message":
            if item.get("role") not in _SPEAKERS or not isinstance(item.get("content"), str | list):
                yield f"{place}: no message"
            if open_ and item.get("role") != "assistant":
                yield f"{place}: a message before the outputs of the calls"
            passed |= open_.keys()
        if kind in _OUTPUT_OF:
            yield from (f"{place}: {each}" for each in _call(item, kind))
            if item.get("call_id") in called:
                yield f"{place}: an id of two calls"
            called.add(item.get("call_id"))
            open_[item.get("call_id")] = _OUTPUT_OF[kind]
        if kind in _OUTPUTS and open_.pop(item.get("call_id"), None) != kind:
            yield f"{place}: an output of no open call"
        if kind == "reasoning":
            following = items[place + 1] if place + 1 < len(items) else {"role": "user"}
            if following.get("role") in _SPEAKERS - {"assistant"} or following.get("type") in _OUTPUTS:
                yield f"{place}: reasoning without what it led to"
    if passed & open_.keys():
        yield "calls without outputs, and not at the end"


def _call(item: dict[str, Any], kind: str) -> Iterator[str]:
    if not isinstance(item.get("call_id"), str) or not 0 < len(item["call_id"]) <= 64:
        yield "an id that is too long or none"
    if kind in ("function_call", "custom_tool_call"):
        if not _NAME.fullmatch(str(item.get("name"))):
            yield "a name that no function has"
        if not isinstance(item.get("arguments", item.get("input")), str):
            yield "arguments that are no text"
