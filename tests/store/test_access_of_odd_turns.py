"""A person's export where their turns stand apart, name a session themselves, or are erased while it is read."""

from __future__ import annotations

import json

from store.port import Actor
from tests.store.surface import SESSION, Surface, clock, payload, turn, turn_id
from tests.store.test_access_of_a_person import ANNA, BERT, OTHER_SESSION, export


def test_turns_that_another_speaks_between_are_exported_without_the_others(surface: Surface) -> None:
    surface.capture(payload(turn(1, "mine"), context=ANNA))
    surface.capture(payload(turn(2, "bert's"), turn(3, "bert's too"), context=BERT))
    surface.capture(payload(turn(4, "mine again"), turn(5, "and more"), context=ANNA))
    assert [each["content"] for each in export(surface)["turns"]] == ["mine", "mine again", "and more"]


def test_a_turn_that_says_session_id_itself_is_exported_with_the_session_that_it_is_of(surface: Surface) -> None:
    spoken = turn(1, 'what is "session_id"?')
    surface.capture(payload(spoken, turn(2, "a name", session_id="another"), context=ANNA))
    first, second = export(surface)["turns"]
    assert (first["session_id"], first["content"]) == (SESSION, spoken["content"])
    assert (second["session_id"], second["content"]) == (SESSION, "a name")


def test_a_person_who_only_repeated_what_was_there_has_events_and_no_turns(surface: Surface) -> None:
    surface.capture(payload(turn(1, "bert's"), context=BERT))
    surface.capture(payload(turn(1, "bert's"), context=ANNA))
    found = export(surface)
    assert (len(found["events"]), found["turns"]) == (1, [])


def test_what_is_erased_while_an_export_is_read_is_not_in_the_rest_of_it(on_file: Surface) -> None:
    on_file.capture(payload(turn(1, "first"), context=ANNA))
    on_file.capture(payload(turn(2, "erased meanwhile"), session=OTHER_SESSION, context=ANNA))
    text = b""
    for piece in on_file.store.export_user("anna", Actor("test", clock())):
        text += piece
        if b"first" in piece and b'"turns":[' in text:
            on_file.erase("session", OTHER_SESSION)
    found = json.loads(text)
    assert len(found["events"]) == 2
    first, second = found["turns"]
    assert (first["turn_id"], first["content"]) == (turn_id(1), "first")
    assert (second["turn_id"], second["erased"], second.get("content")) == (turn_id(2), True, None)
