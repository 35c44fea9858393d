"""Cards in whatever groups people and programs write them, and the rows, lists and names of others that stay."""

# ruff: noqa: RUF001 - spaces, dashes and digits of other widths, as they are

import random

import pytest

from agent.content.detectors import find

# Visa, Mastercard, American Express, Diners Club, Discover, JCB, UnionPay, Mir, Troy; in the groups that they have.
CARDS = (
    *(
        "4111 1111 1111 1111",
        "5555 5555 5555 4444",
        "2223 0031 2200 3222",
        "6011 1111 1111 1117",
        "3530 1113 3330 0000",
    ),
    *("3782 822463 10005", "3056 930902 5904", "3056 9309 0259 04", "6200 0000 0000 0005", "2200 7000 0000 0009"),
    "9792 0000 0000 0003",
)
MARKS = (" ", "  ", "   ", "    ", "\t", "\u00a0", "\u2009", "\u202f", "\u2003", "\u3000", "\u00a0\u00a0", "\u200b ")
MORE_MARKS = (".", "/", "_", "-", "–", "—", "‑", "−", " - ", " – ", " / ", "／", "．", "＿")
WRAPS = ("\n", "\r\n", " \n", "\n  ", "\n> ", "\\n", "\n\t")
FULL = str.maketrans("0123456789", "０１２３４５６７８９")


def cards(text: str) -> list[str]:
    return [text[hit.start : hit.end] for hit in find(text) if hit.kind == "card"]


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("mark", [*MARKS, *MORE_MARKS])
def test_a_card_is_found_with_any_one_mark_between_its_groups(card: str, mark: str) -> None:
    for written in (card.replace(" ", mark), card.replace(" ", mark).translate(FULL)):
        for before, after in (
            *(
                ("", ""),
                ("it is ", " thanks"),
                ("use ", "."),
                ("(", ")"),
                ("**", "**"),
                ('"', '",'),
                ("pay: ", " 12/27"),
            ),
            *(("hello\n", "\nbye"), ("<td>", "</td>"), ("鍵", "。")),
        ):
            if after.startswith("<") and mark.strip() in ("/", "／"):
                continue
            found = cards(f"{before}{written}{after}")
            # Its last groups may be taken for a telephone number together with when it expires: one find, and wider.
            assert found == [written] or (after == " 12/27" and len(found) == 1 and found[0].startswith(written))


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("wrap", WRAPS)
def test_a_card_is_found_over_the_end_of_a_line(card: str, wrap: str) -> None:
    groups = card.split()
    for place in range(1, len(groups)):
        for mark in (" ", "  "):
            written = f"{mark.join(groups[:place])}{wrap}{mark.join(groups[place:])}"
            assert cards(f"use {written} please") == [written]
            assert cards(written) == [written]
        for mark in "-./_":
            written = f"{mark.join(groups[:place])}{mark}{wrap}{mark.join(groups[place:])}"
            assert cards(f"use {written} please") == [written]


@pytest.mark.parametrize("written", ["_4111111111111111_", "__4111 1111 1111 1111__", "_4111-1111-1111-1111_"])
def test_a_card_is_found_in_an_emphasis(written: str) -> None:
    assert cards(f"the {written} one") == [written.strip("_")]


@pytest.mark.parametrize(
    "text",
    [
        *("card_4111_1111_1111_1111", "card 1 4111  1111  1111  1111  123", "Karte: 4111,1111,1111,1111 bis 12/27"),
        *("card 4111\n1111\n1111\n1111", "order 12 by card 4111.1111.1111.1111", "visa 4111/1111/1111/1111-x"),
        *("name\tcard\tcvv\nann\t4111  1111  1111  1111\t123", '{"card": "4111.1111.1111.1111"}'),
    ],
)
def test_where_a_word_says_card_less_of_a_shape_is_asked(text: str) -> None:
    assert len(cards(text)) == 1


def test_cards_in_lines_are_no_table_of_numbers() -> None:
    lines = [card.replace(" ", "  ") for card in CARDS]
    assert cards("\n".join(lines)) == lines


@pytest.mark.parametrize(
    "text",
    [
        # Order numbers, versions, addresses, dates, times, paths, amounts.
        *("order 4111.1111.1111.1111", "Invoice no. 4111/1111/1111/1111", "ticket_4111_1111_1111_1111", "1.2.3.4"),
        *(
            "4111.1111.1111.1112",
            "4111/1111-1111.1111",
            "4111.1111 1111.1111",
            "4.111.111.111.111.111",
            "192.168.100.100",
        ),
        *("10.0.0.1, 10.0.0.2, 192.168.1.254", "2024-10-11 10:20:30", "2024/1111/1111/1111", "v4111.1111.1111.1111"),
        *(
            "/4111/1111/1111/1111/",
            "https://a.example/4111/1111/1111/1111/x",
            "4111/1111/1111/1111/2",
            "0.4111.1111.1111.1111",
        ),
        *("#4111_1111_1111_1111", "$4111  1111  1111  1111", "4111  1111  1111  1111%", "id_4111_1111_1111_1111"),
        # Matrices and rows.
        *(
            "4111  1111  1111  1111  2222",
            "7  4111  1111  1111  1111",
            "4111, 1111, 1111, 1111",
            "[4111,1111,1111,1111]",
        ),
        *(
            "1234  5678  9012  3456\n4111  1111  1111  1111",
            "4111\t1111\t1111\t1111\n1234\t5678\t9012\t3456",
            "4111\n1111\n1111\n1111",
        ),
        *("1234 5678\n4111 1111\n1111 1111", "4111 1111\n1111 1111\n5678 1234", "4111 1111\n\n1111 1111"),
        # Lists of telephone numbers.
        *("9123 4567\n9234 5678\n9345 6789", "Ann 4111 1111\nBob 1111 1111", "4111 1111 / 1111 1111 / 2345 6789"),
        # Stretches of years, and ids in a path.
        *("2300.2400.2500.2600", "1990/1995/2000/2005", "5105_1051_0510_5101_x"),
    ],
)
def test_rows_lists_and_other_numbers_are_no_card(text: str) -> None:
    assert cards(text) == []


def test_a_card_behind_a_column_of_numbers_is_found() -> None:
    column = "\n".join(str(number) for number in range(1001, 1009))
    assert cards(f"{column}\n\nuse 4111  1111  1111  1111 now") == ["4111  1111  1111  1111"]
    assert cards(f"{column}\n4111.1111.1111.1111\nbye") == ["4111.1111.1111.1111"]


def test_of_tables_of_random_numbers_no_row_is_a_card() -> None:
    source = random.Random(5)
    for mark in ("  ", "\t", ".", "/", "_", ", ", "   "):
        rows = [mark.join(str(source.randrange(1000, 10000)) for _ in range(4)) for _ in range(600)]
        assert cards("\n".join(rows)) == [], mark


def test_of_lists_of_random_telephone_numbers_no_two_are_a_card() -> None:
    source = random.Random(6)
    rows = [f"{source.randrange(1000, 10000)} {source.randrange(1000, 10000)}" for _ in range(2000)]
    assert cards("\n".join(rows)) == []
