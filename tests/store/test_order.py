"""Where a turn without a parent goes: the current leaf, and the turns that name one (CONTRACT 10)."""

from typing import Any

from tests.store.surface import OTHER_CONVERSATION, Surface, payload, turn, turn_id

MISSING = "99999999-0000-4000-8000-0000000000ab"


def carrier(number: int, leaf: str, **more: Any) -> dict[str, Any]:
    return turn(number, metadata={"memory": {"leaf": leaf}}, **more)


def parent_of_the_next(surface: Surface, number: int) -> str | None:
    surface.capture(payload(turn(number)))
    return surface.turns(last=1)[0]["parent_turn_id"]


def test_a_revision_may_name_another_leaf(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2), turn(3), carrier(4, turn_id(1))))
    surface.capture(payload(carrier(4, turn_id(2))))
    assert parent_of_the_next(surface, 5) == turn_id(2)


def test_a_revision_may_name_no_leaf_any_more(surface: Surface) -> None:
    surface.capture(payload(turn(1), carrier(2, turn_id(1))))
    surface.capture(payload(turn(2)))
    assert parent_of_the_next(surface, 3) == turn_id(2)


def test_a_leaf_that_is_not_there_names_nothing_until_it_comes(surface: Surface) -> None:
    surface.capture(payload(turn(1), carrier(2, MISSING)))
    assert parent_of_the_next(surface, 3) == turn_id(2)


def test_a_carrier_below_the_highest_leaf_does_not_count(surface: Surface) -> None:
    surface.capture(payload(turn(1), carrier(2, turn_id(1)), turn(3)))
    assert parent_of_the_next(surface, 4) == turn_id(3)


def test_a_named_leaf_may_stand_in_another_conversation(surface: Surface) -> None:
    surface.capture(payload(turn(1), conversation=OTHER_CONVERSATION))
    surface.capture(payload(turn(2), carrier(3, turn_id(1))))
    assert parent_of_the_next(surface, 4) == turn_id(1)


def test_the_case_of_a_leafs_id_is_no_change(surface: Surface) -> None:
    surface.capture(payload(carrier(1, MISSING)))
    assert surface.capture(payload(carrier(1, MISSING.upper()), turn(2)))["turns"]["known"] == 1


def test_a_turn_that_names_itself_or_a_later_turn_as_parent_is_placed(surface: Surface) -> None:
    surface.capture(payload(turn(1, parent_turn_id=turn_id(1)), turn(2, parent_turn_id=turn_id(3)), turn(3)))
    assert [record["parent_turn_id"] for record in surface.turns()] == [None, turn_id(3), None]


def test_a_parent_in_another_session_is_kept_and_ends_the_path(surface: Surface) -> None:
    elsewhere = "7a7a7a7a-0000-4000-8000-00000000000a"
    surface.capture(payload(turn(1), session=elsewhere))
    surface.capture(payload(turn(2, parent_turn_id=turn_id(1))))
    assert surface.turns()[0]["parent_turn_id"] == turn_id(1)
    assert parent_of_the_next(surface, 3) == turn_id(2)
