"""A store that says that it cannot read what it keeps is not asked again, and is told from one that is away."""

import json

import pytest

from agent.errors import StoreDamaged, StoreWriteError
from tests.ruvector.asking import failure
from tests.ruvector.peer import Peer, answer


def said(**details):
    return json.dumps({"error": "internal_error", "message": "SECRET-71b", "details": details}).encode()


def asked(client_of, status, body):
    """The error of a read that is answered so, after one attempt."""
    with Peer(answer(status, body)) as peer:
        with pytest.raises(StoreWriteError) as caught:
            client_of(peer.url).reads.feed()
        assert len(peer.received) == 1
        return caught.value


def test_a_damaged_event_is_told_by_its_position_after_one_attempt(client_of, waits):
    error = asked(client_of, 500, said(rule="damaged_event", position=7, through=3, next_cursor="c"))
    assert type(error) is StoreDamaged
    assert (error.error_code, error.status, error.upstream_status) == ("RUVECTOR_WRITE_ERROR", 502, 500)
    assert (error.rule, error.position, error.through, error.next_cursor) == ("damaged_event", 7, 3, "c")
    places = {"rule": "damaged_event", "position": 7, "through": 3}
    assert error.details == {"upstream_status": 500, "attempts": 1, **places}
    assert error.message == (
        "the store cannot read the event at position 7, which is damaged, as turns of it stand in the event at "
        "position 3: memory-graph store verify tells all that is"
    )
    assert waits.asked == []


@pytest.mark.parametrize(
    ("details", "start"),
    [
        ({"rule": "damaged_event"}, "the store cannot read the event, which is damaged:"),
        ({"rule": "lost_position", "position": 2}, "the store has lost the event at position 2:"),
        ({"rule": "damaged_database"}, "the store cannot read what it keeps, as its database is damaged:"),
    ],
)
def test_each_rule_has_its_words_and_none_of_the_store(client_of, details, start):
    error = asked(client_of, 500, said(**details))
    assert type(error) is StoreDamaged
    assert error.message.startswith(start)
    assert "SECRET" not in error.message


@pytest.mark.parametrize(
    "details",
    [
        {"rule": "damaged_event", "position": -1, "through": True, "next_cursor": ""},
        {"rule": "damaged_event", "position": "7", "through": 2**63, "next_cursor": "c" * 5000},
    ],
)
def test_what_is_no_place_counts_as_absent(client_of, details):
    error = asked(client_of, 500, said(**details))
    assert (type(error), error.position, error.through, error.next_cursor) == (StoreDamaged, None, None, None)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b""),
        (500, b"no JSON"),
        (500, b"[]"),
        (500, b'{"details": []}'),
        (500, said(rule="of somebody else")),
        (500, said(rule=["damaged_event"])),
        (422, said(rule="damaged_event", position=7)),
        (200, said(rule="damaged_event", position=7)),
    ],
)
def test_another_answer_stays_what_it_was(client_of, status, body):
    assert type(asked(client_of, status, body)) is StoreWriteError


def test_a_write_that_meets_damage_is_not_repeated(client_of, waits):
    with Peer(answer(500, said(rule="damaged_database"))) as peer:
        assert failure(client_of(peer.url), StoreDamaged).details["rule"] == "damaged_database"
        assert len(peer.received) == 1
    assert waits.asked == []
