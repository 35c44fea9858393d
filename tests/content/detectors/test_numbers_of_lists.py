"""Cards among other numbers: a comma beside more digits than any amount has is that of a list."""

import pytest

from agent.content.detectors import find

VISA, MASTER, GROUPED = "4111111111111111", "5555555555554444", "4111 1111 1111 1111"


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        (f"ann,{VISA},12/27", [VISA]),
        (f"id,name,pan\n1,7,{VISA}\n", [VISA]),
        (f'{{"cards":[{VISA},{MASTER}]}}', [VISA, MASTER]),
        (f"VALUES (7,{VISA},9)", [VISA]),
        (f"{GROUPED},5555 5555 5555 4444", [GROUPED, "5555 5555 5555 4444"]),
        ("4111-1111-1111-1111,5555-5555-5555-4444", ["4111-1111-1111-1111", "5555-5555-5555-4444"]),
        (f"{VISA}.0 was sent", [f"{VISA}.0"]),
        (f"{VISA}.00,1", [f"{VISA}.00"]),
        ("4.111111111111111e15", ["4.111111111111111e15"]),
        ('{"n":4.111111111111111E+15}', ["4.111111111111111E+15"]),
    ],
)
def test_a_card_is_found_in_a_list_and_in_the_spelling_of_a_program(text: str, cards: list[str]) -> None:
    assert [text[each.start : each.end] for each in find(text) if each.kind == "card"] == cards


@pytest.mark.parametrize(
    "text", ["1,234,567,890,123", "0.4111111111111111", "4.111111111111111e14", "4.111111111111112e15", f"{VISA}.5"]
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert list(find(text)) == []
