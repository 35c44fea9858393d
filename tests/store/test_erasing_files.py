"""CONTRACT 10a, seen from below: what was erased stands in no column of any table and in none of the database's files,
plain, packed, as a number or as the digest of a word. Other people's content still does, or the search would be blind.
"""

import random
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from store.lists import labels
from store.lists.words import words
from store.log.event_body import chunk_text, open_body
from store.log.layout import unpack
from store.urls import open_store
from tests.store.postgres_server import server
from tests.store.surface import CAPTURED_AT, SESSION, Surface, envelope, payload, ref_of, turn, turn_id

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
STAYS = "zqstaysqz"
TOKENS = 987_654_321
TIMES = ("1987-06-05T04:03:02.123456Z", "1987-06-05T04:03:03.123456Z")
TIMES_US = (549_864_182_123_456, 549_864_183_123_456)
USAGE = {"prompt_tokens": TOKENS, "completion_tokens": 0, "total_tokens": TOKENS}
KINDS = ("session", "turn", "user")


class SqliteFiles:
    """A store over a file in ``folder``, and what is in it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "store.db"
        self.surface = Surface(open_store(f"sqlite:///{self._path}"))

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every row of every table."""
        with closing(sqlite3.connect(self._path)) as connection:
            connection.row_factory = sqlite3.Row
            for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    yield table, dict(row)

    def files(self) -> bytes:
        return b"\0".join(path.read_bytes() for path in sorted(self._path.parent.glob("store.db*")))

    def settle(self) -> None:
        """What a server does by itself sooner or later."""

    def close(self) -> None:
        self.surface.close()


class PostgresFiles:
    """The same over a database of its own on the server of this process."""

    def __init__(self) -> None:
        self._name = server().create()
        self.surface = Surface(open_store(server().url(self._name)))

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        with server().connect(self._name) as connection, connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            for name in cursor.fetchall():
                cursor.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name["tablename"])))
                for row in cursor.fetchall():
                    yield name["tablename"], row

    def files(self) -> bytes:
        with server().connect(self._name) as connection:
            connection.execute("CHECKPOINT")
        found = []
        for path in sorted(path for path in (server().folder / "base").rglob("*") if path.is_file()):
            with suppress(FileNotFoundError):  # the server drops its caches (pg_internal.init) while we read
                found.append(path.read_bytes())
        return b"\0".join(found)

    def settle(self) -> None:
        """Autovacuum keeps samples of columns in a table of the server's own."""
        with server().connect(self._name) as connection:
            connection.execute("ANALYZE")

    def close(self) -> None:
        self.surface.close()
        server().drop(self._name)


Files = SqliteFiles | PostgresFiles


@pytest.fixture(params=["sqlite", "postgresql"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Files]:
    with closing(SqliteFiles(tmp_path) if request.param == "sqlite" else PostgresFiles()) as found:
        yield found


@pytest.fixture
def secret(request: pytest.FixtureRequest) -> str:
    """A word that no other test writes: some share a server and its files."""
    return "zq" + ref_of(request.node.nodeid).replace("-", "") + "qz"


def random_text(secret: str) -> str:
    """Text that packing makes no smaller, with the secret all through it."""
    numbers = random.Random(secret)
    return secret.join(f"{numbers.getrandbits(4000):x}" for _ in range(200))


def capture(files: Files, body: dict[str, Any]) -> None:
    answer = files.surface.post(body, key=body["payload"]["inputs_hash"])
    assert answer.status_code == 201, answer.text


def turns_with(secret: str) -> list[dict[str, Any]]:
    """Turns that say the secret wherever a turn can say anything."""
    call = {"tool_name": secret, "invocation_id": turn_id(77), "arguments": {secret: [secret]}, "native_id": secret}
    odd = {"state_only": secret, "reset": secret, "leaf": f"{turn_id(1)}{secret}"}
    about = {"agent": f"{secret}agent", secret: secret, "derived": ["timestamp"], "citations": [secret]}
    return [
        turn(
            1, f"{secret} word{secret}", timestamp=TIMES[0], metadata=about, native_id=secret, **{secret: {"a": secret}}
        ),
        turn(2, secret, parent_turn_id=None, tool_invocations=[call], token_usage=USAGE, model=secret),
        turn(3, f"{secret} " * 40_000),
        turn(4, random_text(secret)),
        turn(5, "", role="system", metadata={"memory": {"state_only": True, "params": {secret: secret}}}),
        # What outlasts an erasure, of another shape than the contract's.
        turn(7, "", role="system", metadata={secret: secret, "memory": {**odd, secret: secret, "keep_last": [secret]}}),
    ]


def events_with(secret: str) -> list[dict[str, Any]]:
    """Events of SESSION and of the user ``<secret>user`` that say the secret wherever an event can say anything."""
    context = {
        "user_id": f"{secret}user",
        "agent_id": f"{secret}agent",
        "source_system": secret,
        "tags": [f"{secret}tag"],
    }
    more = {"context": context, "native_session_id": secret, "native_conversation_id": secret, secret: [secret]}
    first, second, *others = turns_with(secret)
    entity = {"turn_id": turn_id(1), "type": secret, "start": 0, "end": 1, "text_sha256": secret, "text": secret}
    changes: dict[str, Any] = {
        "outputs": {
            "session_id": SESSION,
            "nodes_created": [{"node_id": secret}],
            "entities": [entity],
            secret: secret,
        },
        "telemetry": {"duration_ms": 1, "release": secret, secret: secret, "redactions": {f"{secret.upper()}": 1}},
        "constraints_applied": [secret],
        "agent_version": secret,
        "stored_inputs_hash": secret,
        secret: secret,
    }
    sent = [
        envelope(payload(first, second, *others, **more), **changes),
        # Known ones; the first with another time of its own, which its reference carries.
        envelope(payload({**first, "timestamp": TIMES[1]}, second, turn(6, secret), **more)),
        # Revised, with a time that stays; revised by a text of a page; of other case; narrower.
        envelope(payload({**first, "content": f"{secret} again", "timestamp": TIMES[1]}, **more)),
        envelope(payload({**second, "content": f"{secret} {random_text(secret)[:9000]}"}, **more)),
        envelope(payload({**others[0], "turn_id": turn_id(3).upper()}, **more)),
        envelope(payload(turn(1, f"[omitted:{secret}]"), **more), constraints_applied=["content_omitted"]),
    ]
    plan = {
        "inputs": {"session_id": SESSION, secret: secret},
        "context": context,
        "source": secret,
        "n": [secret] * 500,
    }
    bare = {"outputs": {"session_id": SESSION, secret: secret}, "context": context, "inputs_hash": "plan"}
    return [
        *({**body, "source": secret, secret: {"a": secret}} for body in sent),
        {"type": "plan_approved", "runId": "plan", "timestamp": CAPTURED_AT, secret: secret, "payload": plan},
        {"type": "conversation_capture", "runId": "bare", "timestamp": CAPTURED_AT, "payload": bare},
    ]


def plant(files: Files, kind: str, secret: str) -> str:
    """Write it, for an erasure of ``kind`` to take away; the name of what is then to be erased."""
    if kind == "turn":
        first = turns_with(secret)[1]
        entity = {"turn_id": turn_id(2), "type": "t", "start": 0, "end": 1, "text_sha256": secret, "text": secret}
        outputs = {"outputs": {"session_id": SESSION, "entities": [entity]}}
        timed = {**first, "timestamp": TIMES[0], "metadata": {"agent": f"{secret}agent", "derived": ["timestamp"]}}
        capture(files, envelope(payload(timed, turn(3, STAYS)), **outputs))
        capture(files, envelope(payload({**timed, "timestamp": TIMES[1]}, turn(3, STAYS), turn(5, STAYS)), **outputs))
        capture(files, envelope(payload({**timed, "content": f"word{secret}", "role": "user", "timestamp": TIMES[1]})))
        capture(files, envelope(payload({**first, "content": random_text(secret)}, session=OTHER_SESSION)))
        name = turn_id(2)
    else:
        for body in events_with(secret):
            answer = files.surface.post(body)
            assert answer.status_code == 201, answer.text
        name = SESSION if kind == "session" else f"{secret}user"
    other = payload(*[turn(n, STAYS) for n in range(11, 15)], session=OTHER_SESSION, context={"tags": [STAYS]})
    capture(files, envelope(other))
    # Words and labels follow the log when a list asks for them.
    assert files.surface.sessions(q=STAYS, tag=STAYS)
    files.settle()
    return name


def unpacked_values(table: str, row: dict[str, Any]) -> Iterator[bytes | int | str]:
    """All that a row says, its packed parts too."""
    for value in row.values():
        yield bytes(value) if isinstance(value, (bytes, memoryview)) else value
        if isinstance(value, bytes) and value.startswith(b"x"):
            with suppress(zlib.error):
                yield zlib.decompress(value)
    if table == "events":
        body = open_body(unpack(bytes(row["layout"])), bytes(row["body"]))
        yield from (turn.head + turn.tail for turn in body.own)
        yield body.rest.text
        for reference in body.layout.turns:
            if reference is not None:
                yield from (*(name.encode() for name in reference.without), reference.members)


def numbers_of(secret: str) -> set[int]:
    return {TOKENS, *TIMES_US, *words(f"{secret} word{secret}")}


def columns_with(files: Files, secret: str) -> set[str]:
    """The columns and packed parts that say anything of it, by table."""
    texts = [secret.encode(), str(TOKENS).encode(), *(time.encode() for time in TIMES)]
    texts += [labels.digest(f"{secret}{name}") for name in ("tag", "agent")]
    numbers = numbers_of(secret)
    found = set()
    for table, row in files.rows():
        for value in unpacked_values(table, row):
            data = value.encode() if isinstance(value, str) else value
            if data in numbers if isinstance(data, int) else data and any(text in data for text in texts):
                found.add(table)
    return found


def packed_pieces(files: Files, secret: str) -> set[bytes]:
    """Pieces of what the tables keep packed of it, as they lie in the files."""
    found = set()
    for table, row in files.rows():
        if table != "events":
            continue
        start = 0
        for chunk in unpack(bytes(row["layout"])).chunks:
            kept = bytes(row["body"])[start : start + chunk.kept_bytes]
            start += chunk.kept_bytes
            # A plain one is found by its text.
            if kept[0] and secret.encode() in chunk_text(kept):
                found.update(kept[at : at + 24] for at in range(40, len(kept) - 24, 500))
    return found


def in_files(files: Files, secret: str, pieces: set[bytes]) -> list[str]:
    """What of it is in the files."""
    data = files.files()
    numbers = sorted(numbers_of(secret) - {TOKENS})
    found = [f"the text, {data.count(secret.encode())} times"] if secret.encode() in data else []
    found += [f"the number {n}" for n in numbers if struct.pack(">q", n) in data or struct.pack("<q", n) in data]
    return found + [f"a packed piece of it {piece!r}" for piece in sorted(pieces) if piece in data]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_was_erased_is_in_a_column_or_in_a_file(kind: str, files: Files, secret: str) -> None:
    name = plant(files, kind, secret)
    pieces = packed_pieces(files, secret)
    assert len(pieces) > 10
    assert columns_with(files, secret) >= {"events", "sessions", "turns", "labels", "words"}
    assert len(in_files(files, secret, pieces)) > 10
    assert files.surface.erase(kind, name)["files"] == "rewritten"
    assert columns_with(files, secret) == set()
    files.surface.store.scrub()
    assert in_files(files, secret, pieces) == []
    assert STAYS.encode() in files.files()
    assert files.surface.sessions(q=STAYS, tag=STAYS)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_it_comes_back_with_what_is_sent_late(kind: str, files: Files, secret: str) -> None:
    """The same payloads in other invocations, and grown: duplicates, and turns that are known as erased."""
    name = plant(files, kind, secret)
    files.surface.erase(kind, name)
    sent = turns_with(secret)
    grown = [sent[1], turn(3, STAYS), turn(9, STAYS)] if kind == "turn" else [*sent, turn(9, STAYS)]
    bodies = [envelope(payload(*grown, session=session)) for session in (SESSION, OTHER_SESSION)]
    for body in bodies:
        assert files.surface.post(body).status_code == 201
    assert files.surface.sessions(q=secret) == []
    assert columns_with(files, secret) == set()
    files.surface.store.scrub()
    assert in_files(files, secret, set()) == []


def test_rows_that_grew_over_many_pages_leave_nothing_between_them(tmp_path: Path) -> None:
    """SQLite zeroes what it frees, and not what it leaves behind in a page whose rows it shares out anew."""
    numbers = random.Random(11)
    files = SqliteFiles(tmp_path)
    names = [ref_of(f"grown {number}") for number in range(60)]
    for step in range(500):
        number = numbers.randrange(60)
        tag = f"<S{number:04d}>" * numbers.choice([1, 3, 10, 30]) + str(step)
        capture(files, envelope(payload(turn(step + 1), session=names[number], context={"tags": [tag]})))
    gone = sorted(numbers.sample(range(60), 30))
    for number in gone:
        assert files.surface.erase("session", names[number])["files"] == "rewritten"
    data = files.files()
    assert [number for number in gone if f"<S{number:04d}>".encode() in data] == []
    assert b"<S" in data
    files.close()


def test_a_reader_of_the_old_state_keeps_the_old_bytes_and_the_receipt_says_so(tmp_path: Path, secret: str) -> None:
    files = SqliteFiles(tmp_path)
    capture(files, envelope(payload(turn(1, secret))))
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        assert files.surface.erase("session", SESSION)["files"] == "pending"
        reader.execute("COMMIT")
    assert files.surface.turns()[0]["erased"] is True
    files.surface.store.scrub()
    assert in_files(files, secret, set()) == []
    files.close()
