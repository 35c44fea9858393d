"""What is shown of the result of a call, as items of the Responses API hold it, and whether it is an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent.errors import Problem
from agent.formats.content_parts import content_text
from agent.formats.response_item_kept import image_type


def hosted_result(item: Mapping[str, Any], kind: str, path: str, problems: list[Problem]) -> tuple[str, bool]:
    """What is shown of the result that a call holds, and whether it is an error."""
    if kind == "mcp_call":
        error = item.get("error")
        output = item.get("output")
        failed = error is not None or item.get("status") == "failed"
        if output is None and isinstance(error, dict):
            told = error.get("message", error.get("content"))
            return content_text(told, path, problems), failed
        return content_text(error if output is None else output, path, problems), failed
    if kind == "image_generation_call":
        return f"[image: {image_type(item)}]", False
    listed = item["results" if kind == "file_search_call" else "outputs"]
    if not isinstance(listed, list):
        problems.append(Problem(path, "type"))
        return "", False
    return "\n".join(_listed(listed)), False


def _listed(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, dict):
            told = (entry.get(member) for member in ("logs", "text", "stdout", "stderr", "name"))
            texts = [text for text in told if isinstance(text, str) and text]
            yield from texts
            if not texts and entry.get("type") == "image":
                yield "[image]"


def shown_output(value: Any, kind: str, path: str, problems: list[Problem]) -> tuple[str, bool | None]:
    """What is shown of ``value``, the output at ``path``, and whether it says itself that it is an error or none."""
    if isinstance(value, list) and kind in ("shell_call_output", "tool_search_output"):
        return "\n".join(_listed(value)), None
    if isinstance(value, dict):
        if "content" in value:
            # As the first releases of Codex wrote it.
            success = value.get("success")
            text = content_text(value["content"], f"{path}.content", problems)
            return text, success if isinstance(success, bool) else None
        value = [value]
    return content_text(value, path, problems), None
