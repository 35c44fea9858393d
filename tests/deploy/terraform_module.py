"""deploy/terraform as python-hcl2 reads it: its blocks, and the values that stand in it without a look at the cloud."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import hcl2

from tests.conftest import REPOSITORY

TERRAFORM = REPOSITORY / "deploy/terraform"
# What python-hcl2 adds to a block beside what stands in it.
_OWN = ("__is_block__", "__comments__", "__inline_comments__")
_REFERENCE = re.compile(r"(?<![\w.\"])((?:var|local|data|google_\w+)(?:\.[A-Za-z_]\w*|\[[^\]]*\])+)")
_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_INSERTED = re.compile(r"\$\{([^{}]*)\}")


class Block(NamedTuple):
    """One block: its labels (of a resource: type and name), its arguments, the blocks in it, and its file."""

    kind: str
    labels: tuple[str, ...]
    body: Mapping[str, Any]
    file: str


class Module:
    """All .tf files of one folder."""

    def __init__(self, folder: Path = TERRAFORM) -> None:
        self.files = sorted(folder.glob("*.tf"))
        self.blocks = tuple(block for path in self.files for block in _blocks(path))

    def of(self, kind: str) -> dict[tuple[str, ...], Mapping[str, Any]]:
        """The blocks of one kind by their labels, such as ``("google_pubsub_topic", "dead")``."""
        return {block.labels: block.body for block in self.blocks if block.kind == kind}

    @cached_property
    def locals(self) -> dict[str, Any]:
        return {
            name: value
            for block in self.blocks
            if block.kind == "locals"
            for name, value in block.body.items()
            if name not in _OWN
        }

    @cached_property
    def variables(self) -> dict[str, Mapping[str, Any]]:
        return {name: body for (name,), body in self.of("variable").items()}

    def resources(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """The resources of one type by name."""
        return {name: body for (type_, name), body in self.of("resource").items() if type_ == kind}

    def value(self, written: Any) -> Any:
        """What an argument is, as far as it needs no cloud: a literal, a variable's default, a local, a name of a
        resource of ours. Raises LookupError for anything else.
        """
        if not isinstance(written, str):
            return written
        if written.startswith('"'):
            return written[1:-1]
        expression = written.removeprefix("${").removesuffix("}")
        head, *rest = re.findall(r'[\w-]+(?=")|\w+', expression)
        if head == "var":
            return self.value(self.variables[rest[0]]["default"])
        found: Any = self.locals if head == "local" else self._resource(head, rest)
        for step in rest:
            found = self.value(found)[step] if head == "local" else found
        return self.value(found)

    def _resource(self, kind: str, rest: list[str]) -> Any:
        """The name that a reference to a resource of ours ends in."""
        body = self.resources(kind)[rest[0]]
        if kind == "google_cloudfunctions2_function" and rest[0] == "caller":
            return self.locals["services"][rest[1]]["name"]
        return next(body[name] for name in ("secret_id", "account_id", "repository_id", "name") if name in body)


def arguments(body: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in a block, without what python-hcl2 adds."""
    return {name: value for name, value in body.items() if name not in _OWN}


def references(found: Any) -> Iterator[str]:
    """Each reference in a value, such as ``local.services.store.name``; what stands in quotes is none."""
    if isinstance(found, Mapping):
        for name, value in found.items():
            if name not in _OWN:
                yield from references(value)
    elif isinstance(found, list):
        for value in found:
            yield from references(value)
    elif isinstance(found, str):
        for expression in _expressions(found):
            yield from _REFERENCE.findall(expression)


def _expressions(written: str) -> Iterator[str]:
    """The expression of a value, and those within its texts."""
    bare = written.startswith("${") and written.endswith("}")
    expression = written[2:-1] if bare else written
    for text in _TEXT.findall(expression):
        yield from _INSERTED.findall(text)
    yield re.sub(r'(?<!\[)"(?:\\.|[^"\\])*"(?!\])', '""', expression) if bare else ""


def _blocks(path: Path) -> Iterator[Block]:
    with path.open() as file:
        parsed = hcl2.load(file)
    for kind, bodies in parsed.items():
        if kind not in _OWN:
            for body in bodies:
                yield _labelled(kind, (), body, path.name)


def _labelled(kind: str, labels: tuple[str, ...], body: Mapping[str, Any], file: str) -> Block:
    while "__is_block__" not in body:
        ((label, body),) = [(name, inner) for name, inner in body.items() if name not in _OWN]
        labels = (*labels, label.strip('"'))
    return Block(kind, labels, body, file)
