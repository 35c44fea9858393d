"""What holds for every text: places are valid, nothing is found twice, and a text with placeholders is left alone."""

# ruff: noqa: RUF001 - digits of other scripts, in their own shapes

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.content.detectors import find
from agent.content.detectors.view import KINDS, view_of, without
from agent.content.found import Found
from agent.content.placeholder import DETECTED, placeholders_in, redacted

PIECES = (
    *("mia@example.com", "+44 7400 123456", "0121 234 5678", "4242 4242 4242 4242", "DE89370400440532013000"),
    *(
        "27474880T",
        "467207720",
        "BSN",
        "phone",
        "card",
        "order",
        "https://u:",
        "@h.example",
        "Password=",
        ";",
        "Server=a",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "\n",
        "-----END PRIVATE KEY-----",
        "A" * 20,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    ),
    *(
        "ghp_" + "a1B2" * 9,
        "Authorization: Bearer ",
        "AKIA7KSX43UW56RKG62Q",
        "secret",
        "\u200b",
        "\u202e",
        "４２",
        "٤٢",
    ),
    *(
        "[redacted:phone]",
        "[redacted:card]",
        "[omitted:12]",
        "[redacted:",
        "]",
        '"',
        "\\n",
        "\\",
        ",",
        " ",
        "  ",
        "(",
        "0",
        "12",
    ),
)
texts = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(string.digits + " -+./()@:", max_size=12)), max_size=14).map(
        "".join
    ),
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
)


def replaced(text: str) -> str:
    pieces = []
    done = 0
    for start, end, kind in find(text):
        pieces += [text[done:start], redacted(kind)]
        done = end
    return "".join([*pieces, text[done:]])


def test_the_kinds_are_those_that_have_a_placeholder() -> None:
    assert sorted(KINDS) == sorted(DETECTED)


@given(texts)
def test_what_is_found_lies_in_the_text_in_order_without_overlaps(text: str) -> None:
    found = find(text)
    ends = [0, *(hit.end for hit in found)]
    assert all(before <= hit.start < hit.end <= len(text) for before, hit in zip(ends, found, strict=False))
    assert all(hit.kind in KINDS for hit in found)
    assert find(text) == found


@given(texts)
@example("phone: 0121 234 5678, 0121 234 5679, 0121 234 5670")
@example("Password=[redacted:url_password];Server=a")
def test_nothing_more_is_found_in_a_text_whose_finds_are_replaced(text: str) -> None:
    after = replaced(text)
    assert find(after) == []


@given(texts)
@example("-----BEGIN PRIVATE KEY-----[redacted:phone]-----END PRIVATE KEY-----")
def test_no_find_lies_in_a_placeholder_and_only_a_private_key_goes_around_one(text: str) -> None:
    found = find(text)
    for start, end in placeholders_in(text):
        around = [hit for hit in found if hit.start < end and start < hit.end]
        assert all(hit.kind == "private_key" and hit.start < start and end < hit.end for hit in around)


@given(texts, st.sampled_from(["", " ", "\n\n", "… ", "— "]), st.sampled_from(["", " ", "\n\n", " …", "\n—"]))
def test_what_holds_no_words_before_and_after_changes_no_find(text: str, before: str, after: str) -> None:
    moved = [Found(hit.start + len(before), hit.end + len(before), hit.kind) for hit in find(text)]
    if not text or text[0].isspace() or text[-1].isspace():
        return
    assert find(f"{before}{text}{after}") == moved


@given(texts)
def test_a_view_knows_where_each_character_came_from(text: str) -> None:
    view = view_of(text)
    origins = [view.origin(place) for place in range(len(view.text))]
    assert origins == sorted(set(origins))
    assert all(0 <= origin < len(text) for origin in origins)
    assert all(
        text[origin] == character
        for origin, character in zip(origins, view.text, strict=True)
        if character in string.ascii_letters and text[origin].isascii()
    )


@given(texts, st.integers(0, 200), st.integers(1, 20))
def test_what_is_taken_out_of_a_view_leaves_the_places_of_the_rest(text: str, start: int, length: int) -> None:
    view = view_of(text)
    end = min(start + length, len(view.text))
    if start >= end:
        return
    cut = without(view, [Found(start, end, "card")])
    assert len(cut.text) == len(view.text) - (end - start) + 1
    assert [cut.origin(place) for place in range(len(cut.text))] == [
        view.origin(place) for place in (*range(start + 1), *range(end, len(view.text)))
    ]


@pytest.mark.parametrize("kind", DETECTED)
def test_a_placeholder_alone_is_nothing_to_find(kind: str) -> None:
    assert find(f"phone card email {redacted(kind)} iban") == []
