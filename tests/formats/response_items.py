"""Items of the Responses API for the tests of every format that has them, and what such a test does over and over."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from agent.errors import ValidationError
from agent.formats import format_named
from tests.formats.chat_messages import base64_text
from tests.formats.round_trips import captures, json
from tests.strategies import json_values

# One of every kind, in the forms that the reference and real clients have.
ITEMS: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be brief."},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "Look"},
            {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
            {"type": "input_file", "file_id": "file-1"},
        ],
    },
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Hm"}],
        "encrypted_content": "gA==",
    },
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "Let me see.", "annotations": [], "logprobs": []}],
    },
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": '{"a": 1}'},
    {"type": "function_call", "call_id": "call_2", "name": "look", "arguments": '{"a":2}', "status": "completed"},
    {"type": "function_call", "call_id": "call_3", "name": "look", "arguments": "no json"},
    {"type": "function_call_output", "call_id": "call_2", "output": "two"},
    {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "one"}]},
    {"type": "function_call_output", "call_id": "call_3", "output": ""},
    {"type": "custom_tool_call", "call_id": "call_4", "name": "patch", "input": '{"a": 1}', "id": "ctc_1"},
    {"type": "custom_tool_call_output", "call_id": "call_4", "output": "done"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["q"], "results": [{"text": "t"}]},
    {"type": "file_search_call", "id": "fs_2", "status": "completed", "queries": ["q"], "results": None},
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "code": "1",
        "container_id": "c",
        "outputs": [{"type": "logs", "logs": "1"}, {"type": "image", "url": "https://x.test/i.png"}],
    },
    {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aGk=", "output_format": "webp"},
    {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
    {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "act", "arguments": "{}"},
    {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": False, "reason": "no"},
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "server_label": "s",
        "name": "act",
        "arguments": '{"b":1}',
        "output": "it did",
        "error": None,
        "status": "completed",
    },
    {
        "type": "mcp_call",
        "id": "mcp_2",
        "server_label": "s",
        "name": "act",
        "arguments": "{}",
        "output": None,
        "error": {"type": "http_error", "code": 500, "message": "broken"},
        "status": "failed",
    },
    {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "call_5",
        "action": {"type": "screenshot"},
        "pending_safety_checks": [],
        "status": "completed",
    },
    {
        "type": "computer_call_output",
        "call_id": "call_5",
        "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    },
    {
        "type": "local_shell_call",
        "id": "lsh_1",
        "call_id": "call_6",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
    },
    {"type": "local_shell_call_output", "id": "call_6", "output": "a\nb"},
    {"type": "shell_call", "call_id": "call_7", "action": {"commands": ["ls"]}, "status": "completed"},
    {
        "type": "shell_call_output",
        "call_id": "call_7",
        "output": [{"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 0}}],
    },
    {
        "type": "apply_patch_call",
        "call_id": "call_8",
        "status": "completed",
        "operation": {"type": "delete_file", "path": "f"},
    },
    {"type": "apply_patch_call_output", "call_id": "call_8", "status": "failed", "output": "no such file"},
    {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {"q": 1}, "status": "completed"},
    {
        "type": "tool_search_output",
        "call_id": None,
        "execution": "server",
        "tools": [{"type": "function", "name": "f", "parameters": {}, "strict": True}],
        "id": "tso",
    },
    {"type": "additional_tools", "role": "developer", "tools": []},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "gB=="},
    {"type": "item_reference", "id": "msg_0"},
    {"type": "program", "id": "p", "call_id": "call_9", "code": "f()", "fingerprint": "x"},
    {"type": "program_output", "id": "po", "call_id": "call_9", "result": "r", "status": "completed"},
    {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "refusal", "refusal": "No."}],
    },
    {"type": "function_call", "call_id": "ABCDEFAB-0000-4000-8000-000000000001", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "ABCDEFAB-0000-4000-8000-000000000001", "output": "ids are as sent"},
    {"role": "assistant", "content": "Done."},
]

LARGE_IMAGE = base64_text(bytes(5000))


@st.composite
def mutations(draw: st.DrawFn, document: Any) -> Any:
    """``document`` with some values in it, at any depth, replaced, taken out or renamed."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 4))):
        holder, key = draw(st.sampled_from(_places(changed)))
        what = draw(st.integers(0, 3))
        if what == 0:
            del holder[key]
        elif what == 1 and isinstance(holder, dict):
            holder[draw(st.sampled_from(["type", "role", "output", "item", "content", "x"]))] = holder[key]
        else:
            holder[key] = draw(json_values)
        if not _places(changed):
            break
    return changed


def _places(document: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    level = [document]
    while level:
        value = level.pop()
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, member in pairs:
            found.append((value, key))
            level.append(member)
    return found


def check_is_read_or_refused(form: str, document: Any) -> None:
    """Whatever comes: detected without an error, and read into payloads that keep the contract, or refused by path."""
    module = format_named(form)
    assert isinstance(module.detect(document), bool)
    before = json.dumps(document)
    found = list(module.read(document))
    assert json.dumps(document) == before
    refused = [each for each in found if isinstance(each, ValidationError)]
    for error in refused:
        assert error.problems
        assert all(problem.path.startswith("$") for problem in error.problems)
    if not refused and all(each.messages for each in found if not isinstance(each, ValidationError)):
        captures(form, document)


def unrelated_documents(shared: Any, own: str) -> Any:
    """Every file of the shared data but those whose names hold ``own``: whole, and line by line."""
    for path in sorted((shared / "data").glob("**/*.json*")):
        if own in path.name:
            continue
        if path.suffix == ".json":
            document = json.loads(path.read_text())
            yield path.name, document
            yield from ((path.name, each) for each in (document if isinstance(document, list) else ()))
            continue
        records = []
        for line in path.read_text().splitlines():
            if line.strip():
                try:
                    records.append(json.loads(line))
                except ValueError:
                    continue
        yield path.name, records
        yield from ((path.name, each) for each in records)
