"""Real files of every kind: each that is of a format imports with its account, every other is named as none.

What is counted here is counted by MANIFEST.md beside the data, or anew from the files, in ways of this test's own.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from tests.cli.memory.importing import events, imported, shown, stored
from tests.cli.memory.recorded_turns import is_counted, provider, turns_of

Counts = dict[str, int]
Count = Callable[[Path, Counts], Counts]

_EXPORTS = "chatgpt-export__"
_CODE = "claude-code__"
_RECORDED = "api-recording__pydantic-ai__"


def rows(path: Path) -> list[Any]:
    """The values of a file; lines that are no JSON are left out."""
    text = path.read_text()
    if path.suffix == ".json":
        return json.loads(text)
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def manifest(shared: Path, name: str) -> Counts:
    """What MANIFEST.md counts in a file."""
    (line,) = [line for line in (shared / "data/MANIFEST.md").read_text().splitlines() if line.startswith(f"| {name} ")]
    counts = line.split(" | ")[3]
    return {kind: int(number) for kind, number in re.findall(r"([^;]+?) (\d+)(?:; |$)", counts)}


def of_manifest(**names: str) -> Count:
    return lambda _, counts: {kind: counts[name] for kind, name in names.items()}


def chatgpt(path: Path, counts: Counts) -> Counts:
    """A turn for each node with a message, a conversation for each that has one."""
    spoken = [sum(node.get("message") is not None for node in each["mapping"].values()) for each in rows(path)]
    assert sum(spoken) == counts["nodes"] - counts.get("nodes without message", 0)
    return {"conversations": sum(map(bool, spoken)), "turns": sum(spoken)}


def claude_code(path: Path, _: Counts) -> Counts:
    """An assistant's message may take several lines; each result in a user's is a turn, and so is its text."""
    said: set[Any] = set()
    turns = 0
    calls: set[Any] = set()
    for row in rows(path):
        message = row.get("message") if isinstance(row, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        if row_is(row, "assistant") and content is not None:
            said.add(message.get("id") or row["uuid"])
            calls |= {block["id"] for block in blocks if block["type"] == "tool_use"}
        elif row_is(row, "user"):
            results = sum(block["type"] == "tool_result" for block in blocks)
            turns += results + (not isinstance(content, list) or len(content) > results)
    return {"turns": turns + len(said), "calls": len(calls)}


def row_is(row: Any, kind: str) -> bool:
    return isinstance(row, dict) and row.get("type") == kind


def codex(path: Path, _: Counts) -> Counts:
    items = [row["payload"] for row in rows(path) if row_is(row, "response_item")]
    calls = sum(item["type"] in ("function_call", "custom_tool_call", "local_shell_call") for item in items)
    return {"conversations": 1, "calls": calls, "tool": sum(item["type"].endswith("_output") for item in items)}


def log_events(path: Path, _: Counts) -> Counts:
    """Each call of a model repeats its whole history: the longest of each trace is the conversation."""
    lengths: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows(path):
        lengths[row["trace_id"]][row["span_id"]] += 1
    return {"conversations": len(lengths), "turns": sum(max(each.values()) for each in lengths.values())}


def spans(path: Path, _: Counts) -> Counts:
    """The same of spans, where the results of tools are parts of a user's message, the last one's a span's own."""
    found = [row["attributes"] for row in rows(path)]
    answered = {each.get("gen_ai.tool.call.id") for each in found if each["gen_ai.operation.name"] == "execute_tool"}
    lengths: dict[str, int] = defaultdict(int)
    for attributes in found:
        if attributes["gen_ai.operation.name"] != "chat":
            continue
        length = 1 if "gen_ai.system_instructions" in attributes else 0
        parts: list[Any] = []
        for name in ("gen_ai.input.messages", "gen_ai.output.messages"):
            for message in json.loads(attributes.get(name, "[]")):
                parts = message["parts"]
                results = sum(part["type"] == "tool_call_response" for part in parts)
                length += results + (len(parts) > results)
        length += sum(part["type"] == "tool_call" and part["id"] in answered for part in parts)
        session = attributes["gen_ai.conversation.id"]
        lengths[session] = max(lengths[session], length)
    return {"sessions": len(lengths), "turns": sum(lengths.values())}


def langgraph(path: Path, _: Counts) -> Counts:
    """A message for each id that chunks, or whole messages, come under."""
    found = rows(path)
    text = json.dumps(found)
    assert "AIMessageChunk" in text
    return {"conversations": 1 if isinstance(found, list) else len(found)}


def toolbench(path: Path, _: Counts) -> Counts:
    """Lists that repeat what was said: what two begin with alike is one beginning."""
    beginnings = set()
    for number, row in enumerate(rows(path)):
        for messages in row["answer_generation"]["train_messages"]:
            for end in range(1, len(messages) + 1):
                beginnings.add((number, json.dumps(messages[:end], sort_keys=True)))
    return {"conversations": len(rows(path)), "turns": len(beginnings)}


def responses(path: Path, counts: Counts) -> Counts:
    """Answers of no chat: other services, errors, a text completion, and Gemini's Interactions API."""
    no_chat = ("transcription", "embedding", "openai-image.json", "skill-version", "-error.json", "/interactions/")
    skipped = sum(any(word in row["source"] for word in (*no_chat, "completion-text")) for row in rows(path))
    return {"read": counts["responses"] - skipped, "skipped": skipped}


def recordings(path: Path, counts: Counts) -> Counts:
    """Each call is read by the provider's format, and by no other."""
    found = rows(path)
    assert len(found) == counts["recordings"]
    of_each = [{provider(call) for call in row["interactions"]} - {None} for row in found]
    return {"read": len(found), **Counter(f"of {form}" for forms in of_each for form in forms)}


def every(name: str) -> Count:
    return lambda path, counts: {"read": counts[name], "conversations": counts[name]}


READ: dict[str, tuple[str, Count]] = {
    "tau-bench__gpt-4o-airline__40.jsonl": (
        "openai-chat",
        of_manifest(conversations="conversations", turns="turns", calls="tool calls", tool="role:tool"),
    ),
    **{
        f"{_RECORDED}{provider}__{number}.jsonl": (provider.removesuffix("-messages"), recordings)
        for provider, number in [
            ("anthropic-messages", 18), ("bedrock-converse", 10), ("gemini", 14), ("openai-chat", 20),
            ("openai-responses", 22),
        ]
    },
    "api-response__vercel-ai__64.jsonl": ("openai-responses", responses),
    **{
        f"{_EXPORTS}{name}.json": ("chatgpt-export", chatgpt)
        for name in ("chatgpt-export-studio", "chatgpt2claude", "chatgpt2graph", "context-carry")
    },
    "claude-web-export__chatlectify.json": (
        "claude-export",
        of_manifest(conversations="conversations", turns="turns"),
    ),
    "claude-web-export__context-carry.json": (
        "claude-export",
        of_manifest(conversations="conversations", turns="turns"),
    ),
    **{
        f"{_CODE}{name}.jsonl": ("claude-code", claude_code)
        for name in (
            "claude-code-log__edge_cases", "claude-code-log__representative_messages",
            "claude-md-transcripts__sample_session", "traceforge__permessage",
        )
    },
    "openai-agents__run-state__9.jsonl": ("openai-agents", every("states")),
    "google-adk__sessions-and-evals__4.jsonl": ("google-adk", every("files")),
    "langchain__langgraphjs__supervisor-stream.json": ("langchain", langgraph),
    "langchain__vercel-ai__langgraph-streams__2.json": ("langchain", langgraph),
    "sharegpt-format__fastchat-dummy__40.jsonl": (
        "sharegpt",
        of_manifest(conversations="conversations", turns="turns"),
    ),
    "swe-agent__histories__5.jsonl": ("swe-agent", of_manifest(conversations="conversations", turns="turns")),
    "otel__openinference__vercel-ai-v6-spans.json": ("openinference", of_manifest()),
    "otel__openai-v2-2.3b0__genai-log-events__3-tau-chats.jsonl": ("otel-genai", log_events),
    "otel__pydantic-ai-2.68__genai-spans__3-tau-chats.jsonl": ("otel-genai", spans),
    "agent-trace__traceforge__codex.jsonl": ("codex", codex),
}  # fmt: skip
LOCATED: dict[str, tuple[str, Count]] = {
    "toolbench__dfs-trees__5.jsonl": ("answer_generation.train_messages", toolbench),
    "inspect-ai__log_images.json": ("messages", of_manifest(conversations="conversations", turns="turns")),
    "inspect-ai__log_tool_call_error.json": ("messages", of_manifest(conversations="conversations", turns="turns")),
}
# What these have beside what is read: junk, which counts for the exit code.
WITH_JUNK = {"claude-code__claude-code-log__edge_cases.jsonl": 4}
NOT_READ = {
    "tau-bench__retail-few-shot-text__12.jsonl": "JSON lines, 12 objects",
    "bfcl__multi_turn_base__20.jsonl": "JSON lines, 20 objects",
    "bfcl__multi_turn_long_context__20.jsonl": "JSON lines, 20 objects",
    "bfcl__multi_turn_miss_param__20.jsonl": "JSON lines, 20 objects",
    "sgd__dev__45.jsonl": "JSON lines, 45 objects",
    "sgd__dev__schema.json": "a JSON array, 7 objects",
    "mt-bench__two-turn-with-gpt4-reference__15.jsonl": "JSON lines, 15 objects",
    "nc/locomo10__5-dialogs.json": "a JSON array, 5 objects",
    "anthropic-managed-agents__langsmith__anthropic_managed_builtin_tools.jsonl": "JSON lines, 14 lists",
    "anthropic-managed-agents__langsmith__anthropic_managed_mcp_tools_reject.jsonl": "JSON lines, 27 lists",
    "agent-trace__traceforge__aider_markdown.jsonl": "JSON lines, 20 objects",
    "agent-trace__traceforge__continue_dev.jsonl": "a JSON object",
    "agent-trace__traceforge__copilot.jsonl": "JSON lines, 59 objects",
    "agent-trace__traceforge__maf.jsonl": "JSON lines, 11 objects",
    "agent-trace__traceforge__maf_transcript.jsonl": "JSON lines, 27 objects",
    "agent-trace__traceforge__openai_agents.jsonl": "JSON lines, 27 objects",
    "agent-trace__traceforge__opencode.jsonl": "JSON lines, 107 objects",
    "agent-trace__traceforge__smolagents.jsonl": "JSON lines, 14 objects",
    "otel__genai-schema__gen-ai-input-messages.json": "a JSON object",
    "otel__genai-schema__gen-ai-output-messages.json": "a JSON object",
    # Not without --at.
    "toolbench__dfs-trees__5.jsonl": "JSON lines, 5 objects",
}


def counted(store: Path) -> Counts:
    """What the store has: turns that only carry state are no messages."""
    sessions = stored(store)
    turns = [turn.model_dump() for each in sessions.values() for turn in each]
    messages = [turn for turn in turns if not turn.get("metadata", {}).get("memory", {}).get("state_only")]
    calls = {
        entry["invocation_id"]
        for turn in messages
        if turn["role"] != "tool"
        for entry in turn.get("tool_invocations", ())
    }
    return {
        "sessions": len(sessions),
        "conversations": len({turn["conversation_id"] for turn in messages}),
        "turns": len(messages),
        "calls": len(calls),
        "tool": sum(turn["role"] == "tool" for turn in messages),
        "state": len(turns) - len(messages),
    }


def check(store: Path, path: Path, expected: Counts, **options: Any) -> list[dict[str, Any]]:
    """Import ``path``, twice; its account has to be that of the store, and of ``expected``."""
    done = imported(store, path, **options)
    found = counted(store)
    assert done.sum("new") == found["turns"] + found["state"]
    places = {result["place"] for result in done.taken}
    found |= {"read": len(places), "skipped": len(done.kinds)}
    found |= Counter(f"of {form}" for _, form in {(result["place"], result["format"]) for result in done.taken})
    if any(name.startswith("of ") for name in expected):
        assert {name for name in found if name.startswith("of ")} <= expected.keys()
    assert {name: found[name] for name in expected} == expected
    before = events(store), stored(store)
    again = imported(store, path, **options)
    assert again.code is done.code
    assert all(result["duplicate"] for result in again.taken if result["captures"])
    assert (events(store), stored(store)) == before
    assert done.code is (ExitCode.PARTLY if done.kinds or path.name in WITH_JUNK else ExitCode.OK)
    return done.taken


@pytest.mark.parametrize("name", READ)
def test_a_file_of_a_format_imports_with_its_account(name: str, shared: Path, tmp_path: Path) -> None:
    form, count = READ[name]
    path = shared / "data" / name
    taken = check(tmp_path / "store.db", path, count(path, manifest(shared, name)))
    assert form in {result["format"] for result in taken}
    code, out, err = shown(tmp_path / "store.db", path)
    junk = WITH_JUNK.get(name, 0)
    if junk:
        assert out.splitlines()[1].split()[-1] == str(junk)
    assert (code is ExitCode.OK) == (err == "")


@pytest.mark.parametrize("name", [name for name in READ if name.startswith(_RECORDED)])
def test_what_a_recording_says_is_told_once(name: str, shared: Path, tmp_path: Path) -> None:
    recordings = rows(shared / "data" / name)
    imported(tmp_path / "store.db", shared / "data" / name)
    told = {
        session: sum(turn.role != "system" or bool(turn.content) for turn in turns)
        for session, turns in stored(tmp_path / "store.db").items()
    }
    expected = {
        f"{name}#{place}": turns_of(recording) for place, recording in enumerate(recordings) if is_counted(recording)
    }
    assert {session: told[session] for session in expected} == expected
    assert len(expected) > len(recordings) / 2 or "openai-responses" in name


@pytest.mark.parametrize("name", LOCATED)
def test_a_file_imports_from_where_at_says(name: str, shared: Path, tmp_path: Path) -> None:
    key, count = LOCATED[name]
    path = shared / "data" / name
    check(tmp_path / "store.db", path, count(path, manifest(shared, name)), at=key)


@pytest.mark.parametrize("name", NOT_READ)
def test_any_other_file_is_named_as_no_conversation_format_that_we_read(
    name: str, shared: Path, tmp_path: Path
) -> None:
    path = shared / "data" / name
    code, out, err = shown(tmp_path / "store.db", path)
    assert code is ExitCode.NOT_POSSIBLE
    first, hint = err.splitlines()
    assert first == f"{path}: not a conversation format that we read ({NOT_READ[name]})"
    assert "--at KEY" in hint
    assert re.fullmatch(r"skipped  \d+  no conversation that we read\n", out)


def test_every_file_of_the_shared_data_is_in_a_list(shared: Path) -> None:
    data = shared / "data"
    files = {str(path.relative_to(data)) for path in data.rglob("*") if path.suffix in (".json", ".jsonl")}
    assert files == {*READ, *LOCATED, *NOT_READ}


@pytest.mark.parametrize("share", [0.3, 0.7])
@pytest.mark.parametrize("name", [name for name in READ if name.endswith(".jsonl")])
def test_a_file_that_grew_adds_what_grew(name: str, share: float, shared: Path, tmp_path: Path) -> None:
    whole = (shared / "data" / name).read_bytes().splitlines(keepends=True)
    file, store = tmp_path / name, tmp_path / "store.db"
    file.write_bytes(b"".join(whole[: int(len(whole) * share)]))
    imported(store, file)
    before = {turn.turn_id: turn.content for turns in stored(store).values() for turn in turns}
    file.write_bytes(b"".join(whole))
    imported(store, file)
    grown = {turn.turn_id: turn.content for turns in stored(store).values() for turn in turns}
    fresh = tmp_path / "fresh.db"
    imported(fresh, file)
    at_once = {turn.turn_id: turn.content for turns in stored(fresh).values() for turn in turns}
    # What was there stays, and nothing is there that the whole file would not have brought, but for marks of a leaf.
    assert before.keys() <= grown.keys()
    assert {turn: text for turn, text in grown.items() if text} == {t: text for t, text in at_once.items() if text}
