"""A store read back over HTTP and compared with what its writers know: nothing missing, double or torn."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import httpx

from tests.crash.ledger import Ledger
from tests.store import model_lists
from tests.store.model import ModelStore


@dataclass
class Findings:
    """References and session ids, by what is wrong with them.

    ``missing``: acknowledged, and not in the log at the acknowledged position. ``doubled``: a payload or a reference
    that is there twice. ``altered``: an event that is not what was sent. ``torn``: a session whose row or turns are
    not what its events make, or that has them without an event. ``gaps``: positions that do not follow the one before.
    """

    missing: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    altered: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)

    def none(self) -> None:
        """Fail where there are any."""
        found = {kind: names for kind, names in asdict(self).items() if names}
        assert found == {}


class Readback:
    """One reader that follows the feed by its cursor, over every restart of the store.

    Each session is a small model of its own (tests.store.model), to which its events happen in the order of the log.
    """

    def __init__(self, client: httpx.Client, ledger: Ledger) -> None:
        self._client = client
        self._ledger = ledger
        self._cursor: str | None = None
        self.positions: dict[str, int] = {}
        self.payloads: set[str] = set()
        self.sessions: dict[str, ModelStore] = {}
        self.findings = Findings()

    def check(self, url: str, pending: Iterable[dict[str, Any]] = ()) -> None:
        """What came since the last check, and the sessions of it; those of ``pending`` may be there or not.

        A statement that a killed server left behind may still be committed. So sessions are compared again, until
        nothing came while they were.
        """
        touched = {body["payload"]["inputs"]["session_id"] for body in pending}
        coming = self._follow(url)
        while True:
            touched |= coming
            torn = [session for session in sorted(touched) if self._session(url, session) != self._expected(session)]
            coming = self._follow(url)
            if not coming:
                break
        self.findings.torn += torn
        acknowledged = list(self._ledger.acknowledged.items())
        self.findings.missing += [ref for ref, place in acknowledged if self.positions.get(ref) != place]
        self.findings.missing += self._ledger.contradicted
        self.findings.none()

    def check_all(self, url: str) -> None:
        """Everything once more, from the start of the log, and that there is nothing beside it."""
        fresh = Readback(self._client, self._ledger)
        fresh.check(url)
        assert fresh.positions == self.positions
        rows = {row["session_id"]: row for row in fresh._listed(url)}
        expected = {session: fresh._row(session) for session in fresh.sessions}
        assert rows == expected
        stats = self._get(url, "/v1/stats")
        turns = sum(row["turn_count"] for row in expected.values())
        counted = (stats["events"], stats["turns"], stats["sessions"])
        assert counted == (len(fresh.positions), turns, len(expected))

    def _follow(self, url: str) -> set[str]:
        """Read on to the end of the feed; the sessions that something came of."""
        came: set[str] = set()
        while True:
            after = {} if self._cursor is None else {"after": self._cursor}
            page = self._get(url, "/events/decisions", limit=1000, **after)
            for event in page["events"]:
                came.add(self._event(event))
            self._cursor = page["next_cursor"]
            if not page["events"]:
                return came

    def _event(self, event: dict[str, Any]) -> str:
        position, ref = event.pop("position"), event["runId"]
        if position != len(self.positions) + 1:
            self.findings.gaps.append(position)
        hashed: str = event["payload"]["inputs_hash"]
        if ref in self.positions or hashed in self.payloads:
            self.findings.doubled.append(ref)
        if self._ledger.sent.get(ref) != event:
            self.findings.altered.append(ref)
        self.positions[ref] = position
        self.payloads.add(hashed)
        session: str = event["payload"]["inputs"]["session_id"]
        model = self.sessions.setdefault(session, ModelStore())
        model.position = position - 1
        model.append(event)
        return session

    def _expected(self, session: str) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
        """What ``_session`` is to give, if nothing is wrong."""
        if session not in self.sessions:
            return None
        kept = self.sessions[session].sessions[session]
        return self._row(session), [turn.record() for turn in kept.turns]

    def _row(self, session: str) -> dict[str, Any]:
        model = self.sessions[session]
        return model_lists.session_row(model, model.sessions[session])

    def _session(self, url: str, session: str) -> tuple[dict[str, Any], list[dict[str, Any]]] | int | None:
        """A session's row and turns; None where there are none, and the status of another refusal."""
        path = f"{url}/v1/sessions/{session}"
        answer = self._client.get(path)
        if answer.status_code != 200:
            return None if answer.status_code == 404 else answer.status_code
        row: dict[str, Any] = answer.json()
        turns: list[dict[str, Any]] = []
        while len(turns) < row["turn_count"]:
            answer = self._client.get(f"{path}/turns", params={"limit": 1000, "after_seq": len(turns)})
            if answer.status_code != 200:
                return answer.status_code
            page = answer.json()["turns"]
            if not page:
                break
            turns += page
        return row, turns

    def _listed(self, url: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            page = self._get(url, "/v1/sessions", limit=1000, **cursor)
            rows += page["sessions"]
            if page["next_cursor"] is None:
                return rows
            cursor = {"cursor": page["next_cursor"]}

    def _get(self, url: str, path: str, **query: Any) -> Any:
        answer = self._client.get(url + path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()
