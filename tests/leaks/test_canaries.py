"""The canaries are what they are taken for, and each form of them is found."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn
from stdnum.ch import ssn

from tests.conftest import TESTS
from tests.leaks.canaries import ALL, CANARIES, Canary, first_found
from tests.leaks.doors import without_paths

BY_KIND = {canary.kind: canary for canary in CANARIES}
FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "upper case": str.upper,
    "lower case": str.lower,
    "without gaps": lambda text: text.replace(" ", ""),
    "percent signs": lambda text: quote(text, safe=""),
    "a form": quote_plus,
    "JSON": json.dumps,
    "a repr": ascii,
    "bytes": lambda text: repr(text.encode()),
    "Latin-1": lambda text: text.encode().decode("latin-1"),
    "backwards": lambda text: text[::-1],
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 behind one byte": lambda text: base64.b64encode(b"x" + text.encode() + b"y").decode(),
    "base64 behind two bytes": lambda text: base64.b64encode(b"xy" + text.encode() + b"z").decode(),
}


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.kind)
@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_canary_is_found_whole_and_cut_after_twelve_characters(form: str, canary: Canary) -> None:
    assert first_found(f"before {FORMS[form](canary.text)} after") is not None
    assert first_found(f"before {FORMS[form](canary.core)} after") is not None
    assert first_found(f"before {FORMS[form](canary.core[:12])} after") is not None


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_what_holds_no_canary_is_none(text: str) -> None:
    assert first_found(text) is None or any(canary.core[:7] in text for canary in CANARIES)


def test_no_canary_stands_in_what_others_wrote() -> None:
    for file in sorted((TESTS / "data").glob("*.json*")):
        assert first_found(file.read_text(encoding="utf-8")) is None, file.name


def test_the_canaries_are_valid_where_their_kind_has_a_checksum() -> None:
    assert luhn.is_valid(BY_KIND["card"].text.replace(" ", ""))
    assert iban.is_valid(BY_KIND["iban"].text)
    assert ssn.is_valid(BY_KIND["national_id"].text)
    assert phonenumbers.is_valid_number(phonenumbers.parse(BY_KIND["phone"].text))


def test_all_canaries_stand_in_the_text_of_all() -> None:
    assert all(canary.text in ALL and canary.core in canary.text for canary in CANARIES)


def test_a_refusal_is_looked_at_without_the_paths_that_may_name_a_key() -> None:
    problem = {"path": "$.SECRET-71b", "rule": "type"}
    body = {"error": {"message": "hunter2", "details": {"errors": [problem]}}}
    assert without_paths(json.dumps(body).encode()) == (
        '{"error": {"message": "hunter2", "details": {"errors": [{"rule": "type"}]}}}'
    )
    for other in (b"no JSON", b"[]", b'{"error": {"details": 1}}'):
        assert without_paths(other) == other.decode()
