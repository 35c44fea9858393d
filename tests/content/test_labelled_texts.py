"""The labelled texts are what `labelled/README.md` says they are; a file that is edited later is seen to be edited."""

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stdnum import iban, luhn
from stdnum.be import nn
from stdnum.bg import egn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.ch import ssn
from stdnum.cn import ric
from stdnum.cz import rc
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.gr import amka
from stdnum.il import idnr as il_idnr
from stdnum.in_ import aadhaar
from stdnum.is_ import kennitala
from stdnum.it import codicefiscale
from stdnum.kr import rrn
from stdnum.lt import asmens
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import pesel
from stdnum.ro import cnp
from stdnum.se import personnummer
from stdnum.th import pin
from stdnum.tr import tckimlik
from stdnum.ua import rntrc
from stdnum.za import idnr as za_idnr

FOLDER = Path(__file__).parent / "labelled"
FROZEN = {
    "blind": "dbbdec0ef87e96b9db86e8f536d37100bbc765335f6c4e9377291ad326e235df",
    "blind_2": "d438ce4154d9413db53853e169b6d2fab0eefd415e820eea44c43c40ee662d8b",
    "blind_3": "dc94fc0465f548419c72dfbb9b68874782166446d846bc53932bdafc020def39",
    "development": "b131bf9d25857b385fc991d0c065f9aa394cf3325fccff8d92109db0d846aea5",
    "held_out": "2068448b0063f1ae023f78b8403646726dc6bf00964c6b5744a54e31d11763a7",
}
HALVES = sorted(FROZEN)
# The blind ones are no halves of the first two hundred: they were made afterwards, with five private keys each.
FEWEST = {"blind": 5, "blind_2": 5, "blind_3": 5, "development": 6, "held_out": 6}
REAL = {half: 28 if half == "blind_3" else 50 for half in FROZEN}
KINDS = [
    "card",
    "cloud_key",
    "connection_string",
    "email",
    "iban",
    "jwt",
    "national_id",
    "phone",
    "private_key",
    "url_password",
    "vendor_token",
]
NATIONAL_IDS = (
    *(aadhaar, bsn, codicefiscale, cpf, dni, hetu, idnr, nhs),
    *(nie, nir, nn, personnummer, pesel, ric, rrn, tckimlik),
    *(cnp, fodselsnummer, ssn, za_idnr),
    *(amka, asmens, egn, il_idnr, kennitala, pin, rc, rntrc, sin),
)
Text = dict[str, Any]


def texts(half: str) -> list[Text]:
    return [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def every_text() -> list[Text]:
    return [text for half in HALVES for text in texts(half)]


def labelled(kind: str) -> list[str]:
    """What is labelled so, digits in their ASCII form."""
    return [
        unicodedata.normalize("NFKC", text["text"][span["start"] : span["end"]])
        for text in every_text()
        for span in text["spans"]
        if span["kind"] == kind
    ]


@pytest.mark.parametrize("half", HALVES)
def test_a_file_is_the_one_that_was_frozen_before_it_was_scored(half: str) -> None:
    assert hashlib.sha256((FOLDER / f"{half}.jsonl").read_bytes()).hexdigest() == FROZEN[half]


def test_the_texts_are_all_different_and_half_of_them_real_but_in_the_third_blind_file() -> None:
    assert len({text["id"] for text in every_text()}) == 505
    assert len({text["text"] for text in every_text()}) == 505
    for half in HALVES:
        assert Counter(text["real"] for text in texts(half))[True] == REAL[half]


def test_a_text_has_these_members_and_no_others() -> None:
    for text in every_text():
        assert set(text) == {"id", "real", "source", "language", "text", "spans"}
        assert (text["source"] == "written" or text["source"].endswith("(a find set in)")) is not text["real"]
        assert all(set(span) == {"start", "end", "kind"} for span in text["spans"])


def test_spans_lie_within_the_text_in_order_and_do_not_overlap() -> None:
    for text in every_text():
        before = 0
        for span in text["spans"]:
            assert before <= span["start"] < span["end"] <= len(text["text"]), text["id"]
            assert span["kind"] in KINDS
            value = text["text"][span["start"] : span["end"]]
            assert value == value.strip(" \n\"'"), text["id"]
            before = span["end"]


@pytest.mark.parametrize("half", HALVES)
def test_a_file_has_each_kind_five_or_six_times_and_twenty_five_clean_texts(half: str) -> None:
    counts = Counter(span["kind"] for text in texts(half) for span in text["spans"])
    assert sorted(counts) == KINDS
    assert min(counts.values()) >= FEWEST[half]
    assert sum(not text["spans"] for text in texts(half)) >= 25


@pytest.mark.parametrize("half", HALVES)
def test_a_file_has_twelve_languages_and_scripts_that_are_not_latin(half: str) -> None:
    assert len({text["language"] for text in texts(half)}) >= 12
    assert {"ar", "hi", "ja", "ko", "ru", "zh"} <= {text["language"] for text in texts(half)}


def test_the_blind_texts_have_fifteen_languages_and_forty_five_clean_texts() -> None:
    assert len({text["language"] for text in texts("blind")}) >= 15
    assert sum(not text["spans"] for text in texts("blind")) >= 45


def test_what_is_labelled_once_is_labelled_wherever_it_stands() -> None:
    values = {text["text"][span["start"] : span["end"]] for text in every_text() for span in text["spans"]}
    for text in every_text():
        rest = list(text["text"])
        for span in text["spans"]:
            rest[span["start"] : span["end"]] = "\0" * (span["end"] - span["start"])
        assert not [value for value in values if value in "".join(rest)], text["id"]


def test_a_labelled_card_has_a_right_check_digit() -> None:
    for value in labelled("card"):
        digits = value.replace(" ", "").replace("-", "")
        assert luhn.is_valid(digits), value
        assert 14 <= len(digits) <= 16, value


def test_a_labelled_iban_has_a_right_checksum() -> None:
    assert [value for value in labelled("iban") if not iban.is_valid(value)] == []


def test_a_labelled_national_id_is_one_of_a_country_with_a_right_checksum() -> None:
    # A Spanish DNI is written with dots as often as without.
    values = [value if not value[-1].isalpha() else value.replace(".", "") for value in labelled("national_id")]
    unknown = [value for value in values if not any(kind.is_valid(value) for kind in NATIONAL_IDS)]
    assert unknown == []


def test_a_labelled_block_is_a_whole_private_key_and_a_labelled_jwt_has_three_parts() -> None:
    assert all(block.startswith("-----BEGIN ") and block.endswith("-----") for block in labelled("private_key"))
    assert all("PRIVATE KEY" in block and block.count("-----") == 4 for block in labelled("private_key"))
    assert all(token.startswith("eyJ") and token.count(".") == 2 for token in labelled("jwt"))


def test_no_text_is_out_of_data_whose_licence_is_not_permissive() -> None:
    # nc/ is non-commercial, and SGD is share-alike: MANIFEST.md of the shared data.
    assert not [text["id"] for text in every_text() if text["source"].startswith(("nc/", "sgd__"))]


def strings(value: object) -> Iterator[str]:
    """Every string in it, and those of a string that is itself JSON."""
    if isinstance(value, str):
        yield value
        if value.lstrip()[:1] in ("{", "["):
            try:
                yield from strings(json.loads(value))
            except ValueError:  # looked like JSON and was none: the string itself was given already
                return
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from strings(member)


def test_a_real_text_stands_in_the_file_that_it_names(shared: Path) -> None:
    wanted: dict[str, list[str]] = {}
    for text in every_text():
        if text["real"]:
            wanted.setdefault(text["source"].split(" ")[0], []).append(text["text"])
    for name, found in wanted.items():
        raw = (shared / "data" / name).read_text(encoding="utf-8")
        given = [raw] if name.endswith(".json") else raw.split("\n")
        there = [string for line in given if line.strip() for string in strings(json.loads(line))]
        assert not [text for text in found if not any(text in string for string in there)], name
