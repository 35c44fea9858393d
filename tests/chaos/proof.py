"""What is in the store at the end, beside what clients know: nothing missing, doubled, strange or out of order."""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.conversations import Talk
from tests.chaos.ledger import Ledger
from tests.cli.streams import command_line, process_environment
from tests.store.postgres_server import Postgres, name_in

_READERS = 4
_COUNTS = """
SELECT count(*), count(DISTINCT event_id), count(DISTINCT execution_ref), count(DISTINCT inputs_hash) FROM events
"""
_TURNS = "SELECT count(*), count(DISTINCT (session_key, turn_id)) FROM turns"
_HELD = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
"""


@dataclass
class Findings:
    """Names of what is wrong, by what is wrong with it; ``events``, ``turns`` and ``sessions`` count what is there."""

    missing: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    never_sent: list[str] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    events: int = 0
    turns: int = 0
    sessions: int = 0

    def none(self) -> None:
        """Fail where there are any."""
        found = {kind: names[:5] for kind, names in asdict(self).items() if isinstance(names, list) and names}
        assert found == {}


class Proof:
    """Reads the store at ``url`` and its database, and compares them with ``ledger``."""

    def __init__(self, url: str, postgres: Postgres, database: str, ledger: Ledger) -> None:
        self._client = httpx.Client(base_url=url, timeout=60, trust_env=False)
        self._postgres = postgres
        self._database = database
        self._ledger = ledger
        self.findings = Findings()

    def check(self) -> Findings:
        """All of it; what is found is in the findings, and nothing is raised for it."""
        with self._client:
            self._events()
            self._sessions()
            self._rows()
        return self.findings

    def _events(self) -> None:
        refs: Counter[str] = Counter()
        hashes: dict[str, tuple[str, int]] = {}
        for event in self._feed():
            ref, position = event["runId"], event["position"]
            sent_hash = event["payload"]["inputs_hash"]
            self.findings.events += 1
            refs[ref] += 1
            if position != self.findings.events:
                self.findings.gaps.append(position)
            if sent_hash in hashes or refs[ref] > 1:
                self.findings.doubled.append(ref)
            if sent_hash not in self._ledger.sent:
                self.findings.never_sent.append(ref)
            hashes[sent_hash] = (ref, position)
        for sent_hash, told in self._ledger.acknowledged.items():
            if hashes.get(sent_hash) != (told.execution_ref, told.position):
                self.findings.missing.append(told.execution_ref)

    def _feed(self) -> Iterator[dict[str, Any]]:
        cursor: dict[str, str] = {}
        while True:
            page = self._get("/events/decisions", limit=1000, **cursor)
            yield from page["events"]
            if not page["events"]:
                return
            cursor = {"after": page["next_cursor"]}

    def _sessions(self) -> None:
        by_session: dict[str, list[tuple[Talk, int]]] = defaultdict(list)
        for talk, reached in self._ledger.reached.values():
            by_session[talk.session_id].append((talk, reached))
        with ThreadPoolExecutor(_READERS) as pool:
            for _ in pool.map(self._session, by_session.values()):
                pass
        stats = self._get("/v1/stats")
        self.findings.sessions, self.findings.turns = stats["sessions"], stats["turns"]
        wanted = sum(reached for _, reached in self._ledger.reached.values())
        counted = (stats["sessions"], stats["turns"], stats["events"])
        if counted != (len(by_session), wanted, len(self._ledger.acknowledged)):
            self.findings.strange.append(f"the store counts {counted}")

    def _session(self, talks: list[tuple[Talk, int]]) -> None:
        """Each conversation has the turns that were sent, in order, each on the one before, and there are no others."""
        session = talks[0][0].session_id
        turns = self._turns(session)
        if [turn["seq"] for turn in turns] != list(range(1, len(turns) + 1)):
            self.findings.out_of_order.append(session)
        if len({turn["turn_id"] for turn in turns}) != len(turns):
            self.findings.doubled.append(session)
        for talk, reached in talks:
            own = [turn for turn in turns if turn["conversation_id"] == talk.conversation_id]
            told = [(turn["role"], turn["content"]) for turn in talk.turns[:reached]]
            if [(turn["role"], turn["content"]) for turn in own] != told:
                self.findings.out_of_order.append(session)
            before = [None, *(turn["turn_id"] for turn in own)]
            if [turn["parent_turn_id"] for turn in own] != before[: len(own)]:
                self.findings.out_of_order.append(session)
        if len(turns) != sum(reached for _, reached in talks):
            self.findings.strange.append(session)

    def _turns(self, session: str) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = []
        while page := self._get(f"/v1/sessions/{session}/turns", after_seq=len(turns), limit=1000)["turns"]:
            turns += page
        return turns

    def _rows(self) -> None:
        """The same by counting in PostgreSQL, and that nobody left a transaction open."""
        wanted = len(self._ledger.acknowledged)
        with self._postgres.connect(name_in(self._database)) as connection:
            counts = connection.execute(_COUNTS).fetchone()
            turns = connection.execute(_TURNS).fetchone()
            held = connection.execute(_HELD).fetchone()
        if counts != (wanted,) * 4:
            self.findings.strange.append(f"PostgreSQL counts events {counts}, acknowledged were {wanted}")
        if turns != (self.findings.turns,) * 2:
            self.findings.strange.append(f"PostgreSQL counts turns {turns}")
        if held != (0,):
            self.findings.strange.append(f"transactions left open: {held}")

    def _get(self, path: str, **query: Any) -> Any:
        answer = self._client.get(path, params=query)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:300])
        return answer.json()


def verified(folder: Path, url: str, database: str) -> None:
    """``memory-graph verify`` over the store's HTTP, and ``store verify`` of its database, find nothing."""
    for command in (
        ("agent", "conversation-memory", "verify", "--store", url),
        ("store", "verify", "--store", database),
    ):
        done = subprocess.run(
            command_line(*command),
            cwd=folder,
            env=process_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
