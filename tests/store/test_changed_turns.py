"""The turns that changed after a version, by whatever way the store finds them: it takes the short one where it can."""

import pytest

from tests.store.surface import OTHER_CONVERSATION, SESSION, Surface, payload, ref_of, turn

OTHER_SESSION = "aaaaaaaa-8b4e-4f70-9a51-0c2d3e4f5a61"


def check_every_version(surface: Surface, **bounds: int) -> None:
    """Against a look at all turns."""
    everything = surface.turns(**bounds, limit=1000)
    for version in range(max(record["version"] for record in everything) + 2):
        expected = [record for record in everything if record["version"] > version]
        assert surface.turns(**bounds, changed_after=version, limit=1000) == expected


def test_turns_that_only_came_are_those_behind_the_version(surface: Surface) -> None:
    for number in range(1, 7):
        surface.capture(payload(turn(2 * number), turn(2 * number + 1)))
    check_every_version(surface)
    check_every_version(surface, after_seq=3)
    check_every_version(surface, before_seq=6)
    assert [record["seq"] for record in surface.turns(changed_after=4, last=3)] == [10, 11, 12]
    assert surface.turns(changed_after=2**62) == []


def test_a_revision_between_new_turns_is_found(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2), turn(3)))
    surface.capture(payload(turn(4)))
    surface.capture(payload(turn(2, "changed"), turn(5)))
    surface.capture(payload(turn(6)))
    check_every_version(surface)


def test_an_erasure_between_new_turns_is_found_whatever_it_erased(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(9), session=OTHER_SESSION))
    surface.capture(payload(turn(3)))
    surface.erase("turn", turn(1)["turn_id"])
    surface.capture(payload(turn(4)))
    surface.erase("session", OTHER_SESSION)
    surface.capture(payload(turn(5), turn(1, "again")))
    check_every_version(surface)


def test_a_capture_of_known_turns_in_another_conversation_changes_nothing(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(turn(1), turn(2), conversation=OTHER_CONVERSATION))
    surface.capture(payload(turn(2), turn(3), conversation=OTHER_CONVERSATION))
    check_every_version(surface)


@pytest.mark.parametrize("events", [50, 51, 60])
def test_more_events_than_are_looked_at_one_by_one_lose_nothing(events: int, on_file: Surface) -> None:
    for number in range(events):
        on_file.capture(payload(turn(1, f"{number}", turn_id=ref_of(f"{number}"))))
    on_file.capture(payload(turn(1, "changed", turn_id=ref_of("3"))))
    for number in range(55):
        on_file.capture(payload(turn(1, f"{number}", turn_id=ref_of(f"later {number}"))))
    check_every_version(on_file)


def test_what_changed_last_takes_no_more_steps_in_a_long_session_than_in_a_short_one(on_file: Surface) -> None:
    counted = [0]

    def steps() -> int:
        on_file.capture(payload(turn(1, turn_id=ref_of(f"one more {counted[0]}"))))
        version = on_file.get(f"/v1/sessions/{SESSION}")["version"]
        (reader,) = on_file.store.engine._readers
        counted[0] = 0
        reader.set_progress_handler(lambda: counted.__setitem__(0, counted[0] + 1), 10)
        assert len(on_file.turns(changed_after=version - 1)) == 1
        assert on_file.turns(changed_after=version) == []
        reader.set_progress_handler(None, 0)
        return counted[0]

    on_file.capture(payload(*[turn(1, turn_id=ref_of(f"{number}")) for number in range(100)]))
    short = steps()
    on_file.capture(payload(*[turn(1, turn_id=ref_of(f"long {number}")) for number in range(2000)]))
    assert short > 0
    assert steps() <= short * 1.3 + 1
