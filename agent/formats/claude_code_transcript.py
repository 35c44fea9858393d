"""One session of a Claude Code transcript: which line continues which, and what of it is a conversation of its own.

Lines name their parent. Lines that make no turn stand between those that do, and a compaction begins a new tree that
names the old one apart. Where tools were called at once, each result names the line of its call: the results follow
each other here, in the order of the file, and what continues one of them continues the last. A parent that the file
does not have, and null before any line named another, is the line before: such files have no tree, or only part of it.

A sidechain (a subagent, ``isSidechain``) is a conversation of its own in the session, so that the main history is what
the main agent saw. Every decision looks only at earlier lines: a file that grows keeps its turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from agent.core.ids import conversation_uuid
from agent.formats.claude_code_lines import Lines, message_of
from agent.formats.common_fields import MAX_ID_CHARACTERS
from agent.formats.conversation.message import Conversation, Ignored

MAIN: Final = ""
_KINDS: Final = {
    "system": "system notices",
    "attachment": "attachments",
    "file-history-snapshot": "file snapshots",
    "queue-operation": "queue operations",
    "progress": "progress records",
    "permission-mode": "settings",
    "mode": "settings",
    "last-prompt": "repeated prompts",
}
_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle"}


class _Standing(NamedTuple):
    """Where a line leaves the talk: the message, None before the first, and the chain (MAIN or a sidechain's name)."""

    message: Lines | None
    chain: str


class Transcript:
    """The lines of one session, added in order."""

    def __init__(self, session_id: str | None, ignored: Ignored, uuids: frozenset[str]) -> None:
        self._session_id = session_id
        self._ignored = ignored
        self._uuids = uuids
        self._count = 0
        self._seen: dict[str, list[Mapping[str, Any]]] = {}
        self._standing: dict[str, _Standing] = {}
        self._chains: dict[str, list[Lines]] = {MAIN: []}
        self._linked: set[str] = set()
        self._answers: dict[tuple[str, str], Lines] = {}
        self.native: dict[str, Any] = {}

    def add(self, record: Mapping[str, Any], path: str) -> None:
        """Add the next line; ``path`` is its place in the document."""
        place, self._count = str(self._count), self._count + 1
        uuid = _text(record, "uuid")
        if uuid is not None:
            earlier = self._seen.setdefault(uuid, [])
            if record in earlier:
                self._ignored.add("repeated records", path)
                return
            earlier.append(record)
        standing = self._stands(record, uuid or place)
        if record.get("type") in ("user", "assistant") and isinstance(record.get("message"), dict | str):
            standing = standing._replace(message=self._said(record, place, uuid, standing))
        else:
            self._beside(record, path)
        if uuid is not None:
            # A line that comes again under its uuid with something else does not move what continues the first.
            self._standing.setdefault(uuid, standing)

    def add_summary(self, record: Mapping[str, Any]) -> None:
        """A summary that somebody wrote of the session so far."""
        self.native.setdefault("summaries", []).append(record.get("summary"))

    def holds(self, uuid: str) -> bool:
        """Whether a line of the session has this uuid."""
        return uuid in self._seen

    def conversations(self) -> Iterator[Conversation]:
        """The main conversation, where something was said in it, and each sidechain."""
        for number, (chain, lines) in enumerate(self._chains.items()):
            if not lines:
                continue
            yield Conversation(
                [message for each in lines for message in each.messages(self._session_id)],
                session_id=self._session_id,
                conversation_id=self._conversation_id(chain),
                number=number,
                leaf=lines[-1].last_turn(),
                native=self.native if chain == MAIN else {"sidechain": True},
            )

    def _conversation_id(self, chain: str) -> str | None:
        if chain == MAIN or self._session_id is None:
            return None
        own_id = f"{self._session_id}/{chain}"
        return own_id if len(own_id) <= MAX_ID_CHARACTERS else conversation_uuid(own_id)

    def _stands(self, record: Mapping[str, Any], name: str) -> _Standing:
        """Where the talk stood before ``record``, as its message sees it, and its chain."""
        parent = _text(record, "parentUuid") or _text(record, "logicalParentUuid")
        known = None if parent is None else self._standing.get(parent)
        chain = MAIN
        if record.get("isSidechain") is True:
            agent = _text(record, "agentId")
            follows = known.chain if known is not None else MAIN
            chain = f"agent/{agent}" if agent is not None else follows or f"sidechain/{name}"
        if known is not None and (known.chain == chain or chain != MAIN):
            self._linked.add(chain)
            return known._replace(chain=chain)
        before = self._chains.get(chain, [])
        begins_anew = parent is None and "parentUuid" in record and chain in self._linked
        return _Standing(before[-1] if before and not begins_anew else None, chain)

    def _said(self, record: Mapping[str, Any], place: str, uuid: str | None, standing: _Standing) -> Lines:
        role = str(record["type"])
        message_id = _text(message_of(record), "id")
        key = (standing.chain, message_id or "")
        if role == "assistant" and message_id is not None and key in self._answers:
            self._answers[key].add(record)
            return self._answers[key]
        parent = self._parent(record, standing)
        name = uuid if uuid is not None and len(self._seen[uuid]) == 1 else place
        asked = parent.answers or parent if isinstance(parent, Lines) else None
        said = Lines(name, role, parent)
        said.add(record)
        is_result = role == "user" and said.has_results
        said.answers = asked if is_result else None
        if isinstance(parent, Lines) and asked is not None and asked.role == "assistant":
            said.parent = asked.end
            if is_result:
                asked.end = said
        if role == "assistant" and message_id is not None:
            self._answers[key] = said
        self._chains.setdefault(standing.chain, []).append(said)
        return said

    def _parent(self, record: Mapping[str, Any], standing: _Standing) -> Lines | str | None:
        if standing.message is not None:
            return standing.message
        parent = _text(record, "parentUuid")
        is_elsewhere = parent is not None and parent not in self._uuids and parent != self._session_id
        # It may have come in an earlier capture.
        return parent if is_elsewhere and parent is not None and len(parent) <= MAX_ID_CHARACTERS else None

    def _beside(self, record: Mapping[str, Any], path: str) -> None:
        kind = record.get("type")
        if isinstance(kind, str) and kind in _TITLES and isinstance(record.get(_TITLES[kind]), str):
            self.native[kind] = record[_TITLES[kind]]
        elif kind in ("user", "assistant"):
            self._ignored.add("records without a message", path)
        else:
            self._ignored.add(_KINDS.get(kind, "other records") if isinstance(kind, str) else "junk", path)


def uuids_of(records: Iterable[Any]) -> frozenset[str]:
    """The uuids of all lines."""
    found = (record.get("uuid") for record in records if isinstance(record, dict))
    return frozenset(uuid for uuid in found if isinstance(uuid, str))


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) and value else None
