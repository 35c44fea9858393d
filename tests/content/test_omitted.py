"""In the mode none, of every text and number only its length is left, and under a key its HMAC (CONTRACT 8)."""

import hashlib
import hmac

import pytest

from agent.content.omitted import Omitting
from agent.core.canonical import canonical

KEY = b"a key of sixteen"
OMITTING = Omitting(None)


def test_a_content_becomes_the_number_of_its_code_points():
    assert OMITTING.text("Grüße 👋") == "[omitted:7]"


def test_an_empty_content_stays_empty():
    assert OMITTING.text("") == ""


def test_under_a_key_its_hmac_follows():
    expected = hmac.new(KEY, "Grüße".encode(), hashlib.sha256).hexdigest()
    assert Omitting(KEY).text("Grüße") == f"[omitted:5:{expected}]"


@pytest.mark.parametrize(
    ("arguments", "characters"),
    [({"b": 1.0, "a": "ü"}, 15), ([], 2), ({}, 2), (1.0, 1), (-0.5, 4), (10**30, 31), ("x y", 3)],
)
def test_arguments_become_one_placeholder_by_their_canonical_form(arguments, characters):
    assert OMITTING.arguments(arguments) == f"[omitted:{characters}]"


def test_the_hmac_of_arguments_is_that_of_their_canonical_form():
    arguments = {"b": 1.0, "a": ["ü", None]}
    expected = hmac.new(KEY, canonical(arguments), hashlib.sha256).hexdigest()
    assert Omitting(KEY).arguments(arguments) == f"[omitted:{len(canonical(arguments).decode())}:{expected}]"


@pytest.mark.parametrize("value", [None, True, False])
def test_null_and_booleans_stay(value):
    assert OMITTING.arguments(value) is value
    assert OMITTING.member("x", [value]) == [value]


def test_metadata_keeps_its_keys_and_its_shape():
    value = {"a": ["b", 12, {"c": 1.5, "d": None}], "e": {}, "f": []}
    assert OMITTING.member("x", value) == {
        "a": ["[omitted:1]", "[omitted:2]", {"c": "[omitted:3]", "d": None}],
        "e": {},
        "f": [],
    }


@pytest.mark.parametrize("text", ["[omitted:7]", "[redacted:email]", "[redacted:param]"])
def test_a_placeholder_stays_as_it_is(text):
    assert OMITTING.text(text) == text


@pytest.mark.parametrize("omitting", [OMITTING, Omitting(KEY)])
def test_a_hash_that_came_with_a_placeholder_may_be_any_text_and_goes(omitting):
    assert omitting.text(f"[omitted:7:{b'ann@example.org, pin 4711, Bern'.hex():0<64}]") == "[omitted:7]"


@pytest.mark.parametrize(
    "text", ["[omitted:7", "[redacted:my own words]", "[redacted:jwt] and more", "[omitted:" + "7" * 9 + "]"]
)
def test_what_only_looks_like_a_placeholder_is_omitted(text):
    assert OMITTING.text(text) == f"[omitted:{len(text)}]"
