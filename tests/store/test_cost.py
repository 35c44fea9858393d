"""What an append costs is what its payload costs, not what its session holds. Counted in SQLite's own steps."""

from collections.abc import Callable
from typing import Any

import pytest

from store.engines.sqlite import SqliteStore
from tests.store.surface import OTHER_CONVERSATION, Surface, payload, ref_of, turn

_STEP = 10
_LONG = 2_000


def fresh(number: int, **more: Any) -> dict[str, Any]:
    return turn(1, f"{number}", turn_id=ref_of(f"cost {number}"), **more)


def steps_of(surface: Surface, act: Callable[[], object]) -> int:
    """Tens of SQLite virtual machine steps that ``act`` takes on the writer's connection."""
    writer = surface.store.engine._writer
    assert writer is not None
    counted = [0]

    def count() -> int:
        counted[0] += 1
        return 0

    writer.set_progress_handler(count, _STEP)
    act()
    writer.set_progress_handler(None, 0)
    return counted[0]


def grow(surface: Surface, first: int, last: int, shape: str) -> None:
    """Turns ``first`` to ``last`` of a session of this shape."""
    if shape == "one path":
        surface.capture(payload(*[fresh(number) for number in range(first, last)]))
    elif shape == "many roots":
        surface.capture(payload(*[fresh(number, parent_turn_id=None) for number in range(first, last)]))
    elif shape == "many that wait":
        turns = [fresh(number, parent_turn_id=ref_of(f"never {number}")) for number in range(first, last)]
        surface.capture(payload(*turns))
    elif shape == "two conversations":
        surface.capture(payload(*[fresh(number) for number in range(first, last)], conversation=OTHER_CONVERSATION))
    else:
        for number in range(first, last):
            surface.capture(payload(fresh(number, parent_turn_id=ref_of(f"cost {number + 1}"))))


SHAPES = ["one path", "many roots", "many that wait", "two conversations", "every parent late"]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_append_to_a_long_session_takes_no_more_steps_than_one_to_a_short_one(shape: str) -> None:
    surface = Surface(SqliteStore(":memory:"))
    grow(surface, 0, 100, shape)

    def append(number: int) -> Callable[[], object]:
        return lambda: surface.capture(payload(fresh(10**6 + number), fresh(10**7 + number)))

    append(0)()
    short = steps_of(surface, append(1))
    grow(surface, 100, _LONG, shape)
    append(2)()
    long = steps_of(surface, append(3))
    assert short > 0
    assert long <= short * 1.3 + 1
    surface.close()


def test_turns_that_arrive_from_the_last_to_the_first_cost_the_same_all_along() -> None:
    surface = Surface(SqliteStore(":memory:"))
    surface.capture(payload(fresh(0, parent_turn_id=ref_of("cost 1"))))
    costs = []
    for number in range(1, 600):
        sent = payload(fresh(number, parent_turn_id=ref_of(f"cost {number + 1}")))
        costs.append(steps_of(surface, lambda sent=sent: surface.capture(sent)))
    assert sum(costs[-100:]) <= sum(costs[50:150]) * 1.3
    surface.close()


def test_the_end_of_a_path_is_looked_up_once_and_then_known() -> None:
    """Late parents make the way up long; the first walk shortens it for the next."""
    surface = Surface(SqliteStore(":memory:"))
    grow(surface, 0, _LONG, "every parent late")

    def branch(name: str) -> Callable[[], object]:
        return lambda: surface.capture(payload(turn(1, name, turn_id=ref_of(name), parent_turn_id=ref_of("cost 0"))))

    first, second = steps_of(surface, branch("a")), steps_of(surface, branch("b"))
    assert second < first / 5
    surface.close()


def test_a_page_of_turns_takes_no_more_steps_in_a_long_session_than_in_a_short_one(on_file: Surface) -> None:
    counted = [0]

    def steps(**query: int) -> int:
        session = payload()["session_id"]
        on_file.turns(session, **query)
        (reader,) = on_file.store.engine._readers
        counted[0] = 0
        reader.set_progress_handler(lambda: counted.__setitem__(0, counted[0] + 1), _STEP)
        on_file.turns(session, **query)
        reader.set_progress_handler(None, 0)
        return counted[0]

    def queries(length: int) -> list[dict[str, int]]:
        near_the_end = [{"after_seq": length - 60, "limit": 50}, {"before_seq": length - 5, "last": 50}]
        return [{"limit": 50}, {"last": 50}, {"at_seq": 50}, {"changed_after": 0, "limit": 50}, *near_the_end]

    grow(on_file, 0, 100, "one path")
    short = [steps(**query) for query in queries(100)]
    grow(on_file, 100, _LONG, "one path")
    long = [steps(**query) for query in queries(_LONG)]
    assert min(short) > 0
    assert all(later <= first * 1.3 + 1 for first, later in zip(short, long, strict=True))
