"""GET /v1/sessions?q=: sessions whose turns hold all the words, in any script and composition (CONTRACT 10, H16)."""

from typing import Any

import pytest

from tests.store.surface import Surface, payload, turn, turn_id


def session(number: int) -> str:
    return f"5e550000-0000-4000-8000-{number:012x}"


def found(surface: Surface, q: str, **query: Any) -> list[str]:
    return sorted(row["session_id"] for row in surface.sessions(q=q, **query))


def say(surface: Surface, number: int, *contents: str) -> None:
    surface.capture(payload(*[turn(place, text) for place, text in enumerate(contents, 1)], session=session(number)))


SCRIPTS = [
    ("Where is parcel 4471?", "PARCEL"),
    ("Zo\u00eb", "Zoe\u0308"),
    ("Zoe\u0308", "zo\u00eb"),
    ("Stra\u00dfe", "STRASSE"),
    ("\u0395\u03bb\u03bb\u03ac\u03b4\u03b1", "\u03b5\u03bb\u03bb\u03ac\u03b4\u03b1"),
    ("\u0433\u0434\u0435 \u043f\u043e\u0441\u044b\u043b\u043a\u0430", "\u041f\u041e\u0421\u042b\u041b\u041a\u0410"),
    ("\u914d\u9001\u5df2\u5b8c\u6210", "\u5b8c\u6210"),
    ("\u8377\u7269\u306f\u3069\u3053\u3067\u3059\u304b", "\u8377\u7269"),
    ("\uc11c\uc6b8\uc5d0\uc11c \ubc30\uc1a1", "\uc11c\uc6b8"),
    ("\u1112\u1161\u11ab\u1100\u1173\u11af", "\ud55c\uae00"),
    ("\u0627\u0644\u0637\u0631\u062f \u0641\u064a \u0628\u0631\u0646", "\u0627\u0644\u0637\u0631\u062f"),
    ("\u092a\u093e\u0930\u094d\u0938\u0932", "\u092a\u093e\u0930\u094d\u0938\u0932"),
    ("\u0e1e\u0e31\u0e2a\u0e14\u0e38\u0e2d\u0e22\u0e39\u0e48", "\u0e1e\u0e31\u0e2a\u0e14\u0e38"),
    ("go \U0001f680 now", "\U0001f680"),
    ("order_id=O-12345", "12345"),
    ("a\u0000b", "b"),
    ("\U00020000\U00020001", "\U00020000\U00020001"),
]


@pytest.mark.parametrize(("content", "q"), SCRIPTS, ids=range(len(SCRIPTS)))
def test_a_word_is_found_in_any_script_case_and_composition(content: str, q: str, surface: Surface) -> None:
    say(surface, 1, content)
    say(surface, 2, "something else")
    assert found(surface, q) == found(surface, content) == [session(1)]


def test_h16_both_unicode_forms_are_found_by_either(surface: Surface) -> None:
    say(surface, 1, "Zo\u00eb")
    say(surface, 2, "Zoe\u0308")
    assert found(surface, "Zo\u00eb") == found(surface, "Zoe\u0308") == [session(1), session(2)]


def test_all_words_have_to_be_there_in_whichever_turns(surface: Surface) -> None:
    say(surface, 1, "the parcel", "is in Bern")
    say(surface, 2, "the parcel is lost")
    assert found(surface, "bern parcel") == [session(1)]
    assert found(surface, "parcel") == [session(1), session(2)]
    assert found(surface, "parcel zurich") == []


def test_what_no_text_can_hold_finds_nothing(surface: Surface) -> None:
    say(surface, 1, "... ??? ---")
    assert found(surface, "???") == []


def test_a_search_goes_with_the_filters_and_pages(surface: Surface) -> None:
    for number in range(5):
        context = {"user_id": "anna" if number % 2 else "bert"}
        sent = payload(turn(1, "parcel"), session=session(number), context=context)
        surface.capture(sent, timestamp=f"2026-03-02T08:0{number}:00Z")
    assert [row["session_id"] for row in surface.sessions(q="parcel", limit=2)] == [session(n) for n in (4, 3, 2, 1, 0)]
    assert found(surface, "parcel", user_id="anna") == [session(1), session(3)]
    assert surface.get("/v1/sessions", q="parcel", user_id="bert", limit=1, total="true")["total"] == 3


def test_the_text_of_a_revision_is_found_at_once(surface: Surface) -> None:
    say(surface, 1, "part")
    say(surface, 1, "part and rest")
    assert found(surface, "rest") == [session(1)]


def test_content_that_is_no_text_is_passed_over(surface: Surface) -> None:
    surface.capture(payload(turn(1, content=None), turn(2, content={"parcel": 1}), turn(3, "bern"), session=session(1)))
    assert found(surface, "bern") == [session(1)]


def test_a_word_that_was_appended_just_now_is_found(surface: Surface) -> None:
    for number in range(30):
        say(surface, number, f"word{number}")
        assert found(surface, f"word{number}") == [session(number)]


def test_erased_content_is_not_found_and_what_stays_is(surface: Surface) -> None:
    say(surface, 1, "secret parcel", "open parcel")
    say(surface, 2, "secret")
    surface.erase("turn", turn_id(1))
    assert found(surface, "secret") == []
    assert found(surface, "parcel") == [session(1)]
    assert found(surface, "open") == [session(1)]
    surface.erase("session", session(1))
    assert found(surface, "parcel") == []


def test_the_words_of_an_earlier_revision_go_with_the_turn(surface: Surface) -> None:
    say(surface, 1, "secret", "stays")
    say(surface, 1, "public", "stays")
    surface.erase("turn", turn_id(1))
    assert found(surface, "secret") == found(surface, "public") == []
    assert found(surface, "stays") == [session(1)]


def test_a_snapshot_that_brings_an_erased_turn_again_does_not_make_it_found(surface: Surface) -> None:
    say(surface, 1, "secret")
    surface.erase("session", session(1))
    say(surface, 1, "secret", "new")
    assert found(surface, "secret") == []
    assert found(surface, "new") == [session(1)]


def test_a_word_that_stands_in_another_turn_too_stays_found(surface: Surface) -> None:
    say(surface, 1, "parcel", "parcel")
    surface.erase("turn", turn_id(2))
    assert found(surface, "parcel") == [session(1)]


def test_what_another_search_would_take_for_its_syntax_is_text(surface: Surface) -> None:
    say(surface, 1, "a'b\"c%_*")
    for q in ("a", "'", '"', "%", "*", "a*", "a%", "AND", "a AND", "NEAR(", "\\", "\u0000", "a\u0000"):
        answer = surface.client.get("/v1/sessions", params={"q": q})
        assert answer.status_code == 200
    assert found(surface, "c") == [session(1)]
