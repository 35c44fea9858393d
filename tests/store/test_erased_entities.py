"""CONTRACT 6 and 10a: what was found in a turn goes with the turn, its text and the hash that tells a short text.

In every way of erasing, in events that came before and in those that come after, on both engines, and from the files.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from store.port import Actor
from store.privacy.expiry import expire
from store.privacy.ledger import erasures, reapply_ledger
from store.upkeep.verify import verify
from tests.store.surface import SESSION, Surface, envelope, payload, ref_of, turn, turn_id
from tests.store.test_erasing_files import Files, PostgresFiles, SqliteFiles, unpacked_values

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
ACTOR = Actor("tester", datetime(2026, 5, 1, tzinfo=UTC))
STAYS = "Zq Stays Qz"
EXTRACTED = {"constraints_applied": ["lineage_creation_enabled", "entity_extraction_enabled"]}


@pytest.fixture(params=["sqlite", "postgresql"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Files]:
    with closing(SqliteFiles(tmp_path) if request.param == "sqlite" else PostgresFiles()) as found:
        yield found


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A person's name that no other test writes: some share a server and its files."""
    letters = ref_of(request.node.nodeid).replace("-", "").translate(str.maketrans("0123456789", "ghijklmnop"))
    return f"Ada {letters.capitalize()}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def entity(number: int, text: str, **more: Any) -> dict[str, Any]:
    found = {"turn_id": turn_id(number), "type": "person", "start": 5, "end": 5 + len(text)}
    return {**found, "text_sha256": digest(text), "text": text, **more}


def extracted(sent: dict[str, Any], *entities: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The event of a capture whose entities were asked for."""
    sent = {**sent, "capture_options": {"extract_entities": True}}
    outputs = {"session_id": sent["session_id"], "entities": list(entities), "turn_count": len(sent["turns"])}
    return envelope(sent, outputs=outputs, **EXTRACTED, **more)


def plant(files: Files, name: str) -> None:
    """Turn 1 of ada names her, turn 2 of another user names somebody else; and grown, once by each."""
    ada, other = {"user_id": "ada"}, {"user_id": "bert"}
    first, second = turn(1, f"I am {name}"), turn(2, f"I am {STAYS}")
    again = turn(1, f"I am {name}, again")
    bodies = [
        extracted(payload(first, context=ada), entity(1, name)),
        extracted(payload(first, second, context=other), entity(1, name), entity(2, STAYS)),
        # Revised; with a hash alone, as a narrower function may write it; the id in the other case.
        extracted(payload(again, context=ada), {**entity(1, name), "turn_id": turn_id(1).upper()}),
        extracted(payload(again, second, turn(4, "x"), context=other), {**entity(1, ""), "text_sha256": digest(name)}),
    ]
    for body in bodies:
        assert files.surface.post(body, key=body["payload"]["inputs_hash"]).status_code == 201
    found = tells(files, name)
    assert {"a column: its text", "a column: its hash"} <= set(found), "they are there to be erased"


def tells(files: Files, text: str) -> list[str]:
    """What of ``text`` and of its hash stands in a column, packed or not, or in a file."""
    looked_for = {"its text": text.encode(), "its hash": digest(text).encode()}
    found = []
    columns = [value for table, row in files.rows() for value in unpacked_values(table, row)]
    texts = [value.encode() if isinstance(value, str) else value for value in columns if isinstance(value, str | bytes)]
    data = files.files()
    for what, wanted in looked_for.items():
        found += [f"a column: {what}"] if any(wanted in one for one in texts) else []
        found += [f"a file: {what}"] if wanted in data else []
    return found


def erase_turn(files: Files) -> None:
    files.surface.erase("turn", turn_id(1))


def erase_session(files: Files) -> None:
    files.surface.erase("session", SESSION)


def erase_user(files: Files) -> None:
    files.surface.erase("user", "ada")


def let_expire(files: Files) -> None:
    later_us = int(datetime(2027, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
    assert list(expire(files.surface.store, before_us=later_us, actor=ACTOR, dry_run=False, batch=10))


def apply_a_ledger(files: Files) -> None:
    """As after a restore: an erasure that this database does not know is applied to it."""
    line = {"tenant": "default", "position": 5, "kind": "turn", "subject": turn_id(1).replace("-", "")}
    counts = {"sessions": 1, "turns": 1, "events": 4}
    text = json.dumps({**line, "at": "2026-05-01T00:00:00Z", "key_name": "k", **counts}).encode()
    reapply_ledger(files.surface.store, [text], ACTOR)


WAYS: list[Callable[[Files], None]] = [erase_turn, erase_session, erase_user, let_expire, apply_a_ledger]


@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_was_found_is_gone_with_its_turn(way: Callable[[Files], None], files: Files, name: str) -> None:
    plant(files, name)
    way(files)
    files.surface.store.scrub()
    assert tells(files, name) == []
    assert verify(files.surface.store, print).findings == 0
    if way in (erase_turn, erase_user, apply_a_ledger):
        left = [event["payload"]["outputs"].get("entities", []) for event in files.surface.events()]
        assert [entity(2, STAYS) in entities for entities in left] == [False, True, False, False]
        assert "a column: its text" in tells(files, STAYS)


@pytest.mark.parametrize("way", WAYS)
def test_a_name_does_not_come_back_with_what_is_sent_late(
    way: Callable[[Files], None], files: Files, name: str
) -> None:
    plant(files, name)
    way(files)
    late = [
        extracted(payload(turn(1, f"I am {name}"), turn(5, f"I am {STAYS}"), session=session, note="late"))
        for session in (SESSION, OTHER_SESSION)
    ]
    for body in late:
        body["payload"]["outputs"]["entities"] = [entity(1, name), entity(5, STAYS)]
        answer = files.surface.post(body)
        assert (answer.status_code, answer.json()["turns"]["erased"]) == (201, 1)
        kept = files.surface.event(body["runId"])["payload"]
        assert kept["outputs"]["entities"] == [entity(5, STAYS)]
        assert "entity_extraction_enabled" in kept["constraints_applied"]
        assert files.surface.post(body).status_code == 200
    files.surface.store.scrub()
    assert tells(files, name) == []
    assert verify(files.surface.store, print).findings == 0


ODD: list[Any] = [
    {"anything": "{name}"},
    "{name}",
    ["{name}"],
    [{"text": "{name}"}],
    [{"turn_id": "the first", "text": "{name}"}],
    [{"turn_id": None, "text": "{name}"}, 7],
]


@pytest.mark.parametrize("entities", ODD, ids=range(len(ODD)))
def test_what_does_not_say_whose_it_is_goes_with_any_turn_of_its_event(entities: Any, surface: Surface) -> None:
    """Of another writer. Before the erasure it comes back as it was sent."""
    sent = json.loads(json.dumps(entities).replace("{name}", "Ada Lovelace"))
    outputs = {"session_id": SESSION, "entities": sent}
    ref = surface.capture(payload(turn(1), turn(2)), outputs=outputs)["executionRef"]
    assert surface.event(ref)["payload"]["outputs"] == outputs
    surface.erase("turn", turn_id(1))
    assert surface.event(ref)["payload"]["outputs"] == {"session_id": SESSION, "entities": []}
    body = envelope(payload(turn(1), turn(3)), outputs=outputs)
    surface.post(body)
    assert surface.event(body["runId"])["payload"]["outputs"] == {"session_id": SESSION, "entities": []}


def test_what_another_event_of_the_session_found_in_the_turn_goes_too(surface: Surface) -> None:
    surface.capture(payload(turn(1, "I am Ada Lovelace")))
    body = extracted(payload(turn(2)), entity(1, "Ada Lovelace"), entity(2, STAYS))
    del body["payload"]["inputs_hash"]
    surface.post(body)
    assert surface.erase("turn", turn_id(1))["events"] == 2
    assert surface.event(body["runId"])["payload"]["outputs"]["entities"] == [entity(2, STAYS)]
    assert surface.event(body["runId"])["erased"] is True
    assert surface.post(body).status_code == 200, "a late redelivery stays a duplicate"


def test_counts_of_redactions_outlast_every_erasure_and_tell_no_text(surface: Surface) -> None:
    telemetry = {"duration_ms": 3, "memory_bytes": 4, "redactions": {"email": 2, "param": 1}}
    sent = payload(turn(1, "[redacted:email] [redacted:email]"), turn(2, "[redacted:param]"), context={"user_id": "a"})
    ref = surface.capture(sent, telemetry=telemetry, constraints_applied=["content_redacted"])["executionRef"]
    for kind, name in (("turn", turn_id(1)), ("user", "a"), ("session", SESSION)):
        surface.erase(kind, name)
        kept = surface.event(ref)["payload"]
        assert kept["telemetry"] == telemetry, kind
        assert kept["constraints_applied"] == ["content_redacted"]


def test_an_export_has_the_entities_of_the_persons_events_until_they_are_erased(surface: Surface) -> None:
    mine = extracted(payload(turn(1, "I am Ada Lovelace"), context={"user_id": "ada"}), entity(1, "Ada Lovelace"))
    other = extracted(payload(turn(2, "I am Bert"), context={"user_id": "bert"}), entity(2, "Bert"))
    for body in (mine, other):
        surface.post(body)

    def exported() -> dict[str, Any]:
        return dict(json.loads(surface.client.get("/v1/users/ada/export").content))

    assert [event["payload"]["outputs"]["entities"] for event in exported()["events"]] == [[entity(1, "Ada Lovelace")]]
    assert "Bert" not in json.dumps(exported())
    surface.erase("user", "ada")
    assert "Lovelace" not in json.dumps(exported())
    assert digest("Ada Lovelace") not in json.dumps(exported())
    assert [event["payload"]["outputs"]["entities"] for event in surface.events()[1:]] == [[entity(2, "Bert")]]


def test_a_ledger_tells_no_name(files: Files, name: str) -> None:
    plant(files, name)
    erase_user(files)
    lines = b"\n".join(erasures(files.surface.store))
    assert name.encode() not in lines
    assert digest(name).encode() not in lines
