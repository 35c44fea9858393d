"""The kinds of items that the Responses API has (OpenAI API reference, Responses: input and output items).

The names alone: what an item becomes stands in ``response_items``. A kind that is not here is read all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

ROLES: Final = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}

FUNCTION_CALL: Final = "function_call"
CUSTOM_CALL: Final = "custom_tool_call"
FUNCTION_OUTPUT: Final = "function_call_output"
CUSTOM_OUTPUT: Final = "custom_tool_call_output"

# Hosted calls go by their own id, and their results stand in these members (OpenAI API reference, Responses, output).
RESULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "mcp_call": ("output", "error"),
    "file_search_call": ("results",),
    "code_interpreter_call": ("outputs",),
    "image_generation_call": ("result",),
    "web_search_call": (),
    "mcp_approval_request": (),
}
CALLS: Final = frozenset(
    {FUNCTION_CALL, CUSTOM_CALL, "computer_call", "local_shell_call", "shell_call", "apply_patch_call"}
    | {"tool_search_call", "program", *RESULTS}
)
OUTPUTS: Final = frozenset(
    {FUNCTION_OUTPUT, CUSTOM_OUTPUT, "computer_call_output", "local_shell_call_output", "shell_call_output"}
    | {"apply_patch_call_output", "tool_search_output", "program_output", "mcp_approval_response"}
)
# What the client sets; all else that is neither said nor done comes from the model's side.
SET: Final = frozenset({"additional_tools", "configuration_update", "compaction_trigger"})
KEPT: Final = frozenset({"reasoning", "compaction", "mcp_list_tools", "item_reference"})
PART_TEXT: Final = {"input_text": "text", "output_text": "text", "refusal": "refusal"}
_PARTS: Final = frozenset({*PART_TEXT, "input_image", "input_file", "input_audio", "computer_screenshot"})


def is_item(value: Any) -> bool:
    """Whether ``value`` has the shape of an item that the reference names; a message needs a role and a content."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind is None or kind == "message":
        role = value.get("role")
        return isinstance(role, str) and role in ROLES and "content" in value and _is_content(value["content"])
    return isinstance(kind, str) and (kind in CALLS or kind in OUTPUTS or kind in SET or kind in KEPT)


def is_list_of_items(value: Any) -> bool:
    """Whether ``value`` is a list of nothing but items, at least one."""
    return isinstance(value, list) and bool(value) and all(map(is_item, value))


def tells_itself(item: Mapping[str, Any]) -> bool:
    """Whether an item (``is_item``) could be no message of another API: its type or its parts say so."""
    kind = item.get("type")
    if kind is None or kind == "message":
        return isinstance(item["content"], list) and bool(item["content"])
    return kind != "reasoning" or isinstance(item.get("summary"), list)


def _is_content(content: Any) -> bool:
    if isinstance(content, list):
        return all(isinstance(part, dict) and _is_among(part.get("type"), _PARTS) for part in content)
    return content is None or isinstance(content, str)


def _is_among(kind: Any, kinds: frozenset[str]) -> bool:
    return isinstance(kind, str) and kind in kinds
