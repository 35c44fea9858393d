"""IBANs as they are grouped and wrapped, and what only looks like one: UUIDs, digests, dumps, words."""

# ruff: noqa: RUF001 - spaces and dashes of other widths, as they are

import base64
import hashlib
import random
import re
import uuid
from collections.abc import Callable
from importlib import resources

import pytest

from agent.content.detectors import find
from agent.content.detectors.ibans import _LENGTHS, _STRUCTURES

IBANS = ("DE89370400440532013000", "GB82WEST12345698765432", "FR1420041010050500013M02606", "NO9386011117947")
MORE = (
    "MT84MALT011000012345MTLCAST001S",
    "BE68539007547034",
    "LC55HEMM000100010012001200023015",
    "AD1200012030200359100100",
)
MARKS = (
    "",
    " ",
    "  ",
    "   ",
    "\u00a0",
    "\u2009",
    "\u202f",
    "\u3000",
    "\t",
    "-",
    "–",
    ".",
    "/",
    "_",
    "\u00a0 ",
    "\u200b",
)
WRAPS = ("\n", "\r\n", " \n", "\n  ", "\n> ", "\\n")


def shown(text: str) -> list[tuple[str, str]]:
    return [(hit.kind, text[hit.start : hit.end]) for hit in find(text)]


def groups(iban: str) -> list[str]:
    return re.findall("..?.?.?", iban)


@pytest.mark.parametrize("iban", [*IBANS, *MORE, *(each.lower() for each in IBANS)])
@pytest.mark.parametrize("mark", MARKS)
def test_an_iban_is_found_in_groups_of_four_with_any_one_mark(iban: str, mark: str) -> None:
    written = mark.join(groups(iban))
    for before, after in (("", ""), ("to ", " please"), ("IBAN: ", "."), ("**", "**"), ("_", "_"), ('{"iban":"', '"}')):
        assert shown(f"{before}{written}{after}") == [("iban", written)], (before, after)


@pytest.mark.parametrize("iban", [*IBANS, *MORE])
@pytest.mark.parametrize("wrap", WRAPS)
def test_an_iban_is_found_over_the_end_of_a_line(iban: str, wrap: str) -> None:
    parts = groups(iban)
    for place in range(1, len(parts)):
        for mark in ("", " "):
            written = f"{mark.join(parts[:place])}{wrap}{mark.join(parts[place:])}"
            assert shown(f"pay to {written} today") == [("iban", written)], place


@pytest.mark.parametrize("text", [f"IBAN{IBANS[0]}", f"iban{IBANS[1]}", f"x\\n{IBANS[0]}"])
def test_an_iban_right_behind_its_name_is_found(text: str) -> None:
    assert [kind for kind, _ in shown(text)] == ["iban"]


def test_beside_the_word_it_may_be_grouped_and_wrapped_anyhow() -> None:
    written = "FR14 20041 01005\n0500013M026  06"
    assert shown(f"mon IBAN est {written} merci") == [("iban", written)]


def test_each_country_has_the_structure_that_stdnum_has_of_the_register() -> None:
    lines = resources.files("stdnum").joinpath("iban.dat").read_text(encoding="utf-8").splitlines()
    register = {line[:2]: re.findall(r"([0-9]+)!([nac])", line) for line in lines if not line.startswith("#")}
    spelled = {
        country: "".join(kind * int(count) for count, kind in re.findall("([0-9]+)([nac])", structure))
        for country, structure in _STRUCTURES.items()
    }
    assert spelled == {
        country: "".join(kind * int(count) for count, kind in parts) for country, parts in register.items()
    }
    assert {country: len(structure) + 4 for country, structure in spelled.items()} == _LENGTHS


WRITINGS: tuple[Callable[[uuid.UUID], str], ...] = (
    *(str, lambda each: str(each).upper(), lambda each: each.hex, lambda each: each.urn, lambda each: f"{{{each}}}"),
    *(lambda each: f'"id":"{each}"', lambda each: f"https://a.example/x/{each}/y", lambda each: f"{each}-1"),
    *(
        lambda each: str(each).replace("-", "_"),
        lambda each: f"<{each}>",
        lambda each: f"x-{each}.json",
    ),
    *(lambda each: f"tel, card, BSN, DNI: {each}", lambda each: f"IBAN {each}"),
)


def uuids() -> list[uuid.UUID]:
    """10 000 by a fixed seed: random ones, ones that begin as IBANs do, and ones of digits alone."""
    source = random.Random(11)
    every = [uuid.UUID(int=source.getrandbits(128), version=4) for _ in range(4500)]
    starts = ("be", "de", "ad", "ae", "ba", "ee")
    every += [
        uuid.UUID(f"{source.choice(starts)}{source.randrange(100):02}{source.getrandbits(112):028x}")
        for _ in range(4500)
    ]
    return every + [uuid.UUID(f"{source.randrange(10**32):032}") for _ in range(1000)]


def test_nothing_is_found_in_a_uuid_however_it_is_written() -> None:
    for place, each in enumerate(uuids()):
        for writing in (WRITINGS[0], WRITINGS[place % len(WRITINGS)]):
            assert shown(writing(each)) == []


def test_nothing_of_these_uuids_is_an_iban_though_it_checks() -> None:
    starts = ("be70770f-383b-4700-b8a2-924c4da11828", "ee52b2cd-633b-4b50-ba3b-f90eef061fea")
    assert [shown(writing(uuid.UUID(each))) for each in starts for writing in WRITINGS] == [[]] * 2 * len(WRITINGS)
    # All of its digits where a Belgian account has them, and right ones: only the shape of the whole tells.
    account = next(
        f"be{check:02}1234-5678-9012"
        for check in range(2, 99)
        if int(f"123456789012111400{check:02}"[:12] + f"1114{check:02}") % 97 == 1
    )
    assert shown(f"{account}-8123-924c4da11828") == []
    assert [kind for kind, _ in shown(account)] == ["iban"]


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256", "sha512"])
def test_nothing_is_found_in_digests(name: str) -> None:
    for place in range(2000):
        digest = hashlib.new(name, str(place).encode(), usedforsecurity=False)
        for text in (digest.hexdigest(), digest.hexdigest().upper(), f"{name}:{digest.hexdigest()}"):
            assert shown(text) == []
        assert shown(f"{name}-{base64.b64encode(digest.digest()).decode()}") == []
        assert shown(base64.urlsafe_b64encode(digest.digest()).decode()) == []


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("mark", [" ", ":", "-", "_"])
def test_nothing_is_found_in_digests_in_groups(width: int, mark: str) -> None:
    for place in range(500):
        digest = hashlib.sha256(str(place).encode()).hexdigest()
        written = mark.join(digest[start : start + width] for start in range(0, 64, width))
        # Some of a dump's pairs and fours of digits are written as telephone numbers are.
        assert {kind for kind, _ in shown(written)} <= ({"phone"} if mark == " " else set())


@pytest.mark.parametrize(
    "text",
    [
        *("MD24 is the release of the tool that we wait for", "AT20 people went to the market in town today"),
        *(
            "DE89 3704 0044 0532 0130 01",
            "XX89370400440532013000",
            "FR14\nnext line of a list\nand one more line of it",
        ),
    ],
)
def test_words_and_wrong_ones_stay(text: str) -> None:
    assert [each for each in shown(text) if each[0] == "iban"] == []
