"""Every document of the shared data and of tests/data, by the format that it is in: what the laws of all formats read.

Small copies of the shared files have the same beginnings of their names, so that one table serves both folders.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from agent.formats import READS, WRITES, format_named
from agent.formats.wrappers import opened
from tests.conftest import TESTS, shared_folder

OURS = TESTS / "data"
BOTH_WAYS = tuple(name for name in WRITES if name in READS)


class Document(NamedTuple):
    """A document, the format that it is in, and where it came from (a file's name, and a place in it)."""

    form: str
    name: str
    document: Any


def lines(text: str) -> list[Any]:
    """The JSON documents of a text of lines; what is none is left out."""
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def whole(text: str) -> list[Any]:
    """The one document that a file is."""
    return [json.loads(text)]


def records(text: str) -> list[Any]:
    """The one document that all lines of a file are together."""
    return [lines(text)]


def elements(text: str) -> list[Any]:
    """The elements of a list, the values of an object."""
    loaded = json.loads(text)
    return list(loaded.values() if isinstance(loaded, dict) else loaded)


def training_messages(text: str) -> list[Any]:
    """ToolBench's prefixes of its paths, each a list of messages."""
    return [each for line in lines(text) for each in line["answer_generation"]["train_messages"]]


Split = Callable[[str], list[Any]]

# Which files are in which format, and how each is cut into documents. None: each is in the first that knows it.
FILES: tuple[tuple[str, str | None, Split], ...] = (
    ("tau-bench*airline__*.jsonl", "openai-chat", lines),
    ("toolbench__*.jsonl", "openai-chat", training_messages),
    ("api-recording__*openai-chat__*.jsonl", "openai-chat", lines),
    ("api-recording__*openai-responses__*.jsonl", "openai-responses", lines),
    ("api-recording__*anthropic*.jsonl", "anthropic", lines),
    ("api-recording__*gemini__*.jsonl", "gemini", lines),
    ("api-recording__*bedrock-converse__*.jsonl", "bedrock-converse", lines),
    ("api-response__*.jsonl", None, lines),
    ("langchain__*supervisor-stream*.json", "langchain", whole),
    ("langchain__vercel-ai__*.json", "langchain", elements),
    ("openai-agents__*.jsonl", "openai-agents", lines),
    ("google-adk__*.jsonl", "google-adk", lines),
    ("pydantic-ai__*.json", "pydantic-ai", whole),
    ("otel__*genai-spans__*.jsonl", "otel-genai", records),
    ("otel__*genai-log-events__*.jsonl", "otel-genai", records),
    ("otel__openinference__*.json", "openinference", whole),
    ("sharegpt-format__*.jsonl", "sharegpt", lines),
    ("swe-agent__*.jsonl", "swe-agent", lines),
    ("chatgpt-export__*.json", "chatgpt-export", whole),
    ("claude-web-export__*.json", "claude-export", whole),
    ("claude-code__*.jsonl", "claude-code", records),
    ("agent-trace__traceforge__codex*.jsonl", "codex", records),
)


def folders() -> list[Path]:
    """tests/data, and the shared data where they are."""
    shared = shared_folder() / "data"
    return [OURS, *([shared] if shared.is_dir() else [])]


def documents(folder: Path, form: str | None = None) -> Iterator[Document]:
    """The documents of a folder that are in a format (``form``: of that one only), opened where they are wrapped.

    Of the files of one format, a line that it does not know is left out: recordings hold calls of other things too.
    """
    for path in sorted(folder.iterdir()):
        for pattern, named, split in FILES:
            if fnmatch(path.name, pattern) and (form is None or named in (None, form)):
                yield from _documents(path, named, split, form)


def _documents(path: Path, named: str | None, split: Split, form: str | None) -> Iterator[Document]:
    for number, document in enumerate(split(path.read_text(encoding="utf-8"))):
        for each in READS if named is None else (named,):
            inner = opened(document, format_named(each).detect)
            if inner is not None:
                if form in (None, each):
                    yield Document(each, f"{path.relative_to(path.parents[2])}#{number}", inner.document)
                break
