"""Answers in words: what is nothing but a value in a usual frame is one, and what says more is none."""

from typing import Any

import pytest

from agent.core.waiting import Hint
from tests.core.waiting_answers import CITY, DESTINATION, FILE, GENRE, MOVIE, NOTHING, ORIGIN, answer


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("San Jose", "San Jose"),
        ("long beach", "long beach"),
        ("in San Jose, please.", "San Jose"),
        ("I want it for pittsburg.", "pittsburg"),
        ("I would like to go to Paris", "Paris"),
        ("Seattle would be great", "Seattle"),
        ("It should be Fresno", "Fresno"),
        ("The city of San Jose", "San Jose"),
        ("the city is Fresno", "Fresno"),
        ("city: Fresno", "Fresno"),
        ("New York City", "New York City"),
        ("long beach city", "long beach"),
        ("I want to know the weather in Fresno", "Fresno"),
        ("Find me a restaurant in Napa", "Napa"),
        ("Look in Fremont", "Fremont"),
        ("LA", "LA"),
        ("los angeles", "los angeles"),
        ("Beijing", "Beijing"),
        ("Yes. San Jose.", "San Jose"),
        ("Sure, San Jose", "San Jose"),
        ("no, San Jose", "San Jose"),
        ("San Jose, not San Francisco", "San Jose"),
        ("I meant Fresno not Madera", "Fresno"),
        ("Seattle. Will it rain?", "Seattle"),
        ("東京", "東京"),
        ("서울", "서울"),
        ("Москва", "Москва"),
        ("القاهرة", "القاهرة"),
        ("München", "München"),
        ("Mu\u0308nchen", "München"),
        ("“Caﬁ”", "Caﬁ"),
        ('Fresno "', NOTHING),
        ("\uff2e\uff39\uff23", "\uff2e\uff39\uff23"),
        ("NO", NOTHING),
        ("OUT", NOTHING),
        ("hmm", NOTHING),
        ("anywhere", NOTHING),
        ("next Friday", NOTHING),
        ("7 pm", NOTHING),
        ("two", NOTHING),
        ("5 lines", NOTHING),
        ("awww", NOTHING),
        ("###", NOTHING),
        ("12345", NOTHING),
        ("the city", NOTHING),
        ("The Hague", NOTHING),
        ("cheap flights", NOTHING),
        ("Jump!! Now", NOTHING),
        ("San Francisco, CA", NOTHING),
        ("Berlin or Paris", NOTHING),
        ("Berlin and Paris", NOTHING),
        ("what about Paris?", NOTHING),
        ("What's the weather in Cotati?", NOTHING),
        ("I live in Seattle", NOTHING),
        ("at home", NOTHING),
        ("my wife is Julia", NOTHING),
        ("near Berkeley", NOTHING),
        ("contact Julia", NOTHING),
        ("book a table", NOTHING),
        ("Book tickets", NOTHING),
        ("just looking", NOTHING),
        ("Learning new programming", NOTHING),
        ("find flights", NOTHING),
        ("I want a refund", NOTHING),
        ("it's stunning", NOTHING),
        ("somewhere in the north", NOTHING),
        ("the very same long old place there", NOTHING),
        ("quiet little seaside towns", NOTHING),
        ("Hey John! How's it going?", NOTHING),
        ("Thanks, Nate!", NOTHING),
        ("No problem, Nate", NOTHING),
        ("Fresno. I need it today.", NOTHING),
        ("not Fresno", NOTHING),
        ("Fresno, not Madera, Merced", NOTHING),
        ("no sé", NOTHING),
        ("je ne sais pas", NOTHING),
        ("weiß nicht", NOTHING),
        ("не знаю", NOTHING),
        ("我不知道", NOTHING),
        ("どこでもいい", NOTHING),
        ("모르겠어요", NOTHING),
        ("a" * 61, NOTHING),
        ("Aa Bb Cc Dd Ee Ff", NOTHING),
        ("👍", NOTHING),
    ],
)
def test_a_place_is_answered_by_its_name_alone_or_by_where_it_is(text: str, value: Any) -> None:
    assert answer(text, CITY) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Mafia.", "Mafia"),
        ("I'd like adventure, please.", "adventure"),
        ("A love story, please.", "love story"),
        ("An adventure would be great.", "adventure"),
        ("Please look for Drama movies.", "Drama"),
        ("A comedy movie.", "comedy"),
        ("Try the drama.", "drama"),
        ("I'm in the mood for comedy", "comedy"),
        ("I want to watch a horror film", "horror"),
        ("it's a comedy", "comedy"),
        ("find Drama", "Drama"),
        ("science fiction", "science fiction"),
        ("not drama, comedy", "comedy"),
        ("in San Jose", NOTHING),
        ("a movie", NOTHING),
        ("a good one", NOTHING),
        ("Drama Movies", NOTHING),
        ("I want a Jenny Gage picture", NOTHING),
        ("something funny", NOTHING),
        ("drama and comedy", NOTHING),
        ("I don't care", NOTHING),
        ("Yes, that's fine.", NOTHING),
        ("no preference", NOTHING),
        ("Sure, Drama", "Drama"),
        ("Sure, jackpot thanks", NOTHING),
    ],
)
def test_a_kind_is_answered_without_the_thing_that_it_is_a_kind_of(text: str, value: Any) -> None:
    assert answer(text, GENRE) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Mikey and Nicky", "Mikey and Nicky"),
        ("The Godfather", "The Godfather"),
        ("Lord of the Rings", "Lord of the Rings"),
        ("Yes Man", NOTHING),
        ("Life Is Good", NOTHING),
        ("Yes, Inception please", "Inception"),
        ("the movie is 'Up'", "Up"),
        ("'How to train your dragon'", "How to train your dragon"),
        ("Fight Club Movie", "Fight Club Movie"),
        ("a comedy movie", NOTHING),
        ("comedy movie", NOTHING),
        ("a comedy", NOTHING),
        ("The one", NOTHING),
        ("that one", NOTHING),
        ("The Is", NOTHING),
    ],
)
def test_a_name_is_taken_as_it_is(text: str, value: Any) -> None:
    assert answer(text, MOVIE) == value


@pytest.mark.parametrize(
    ("text", "origin", "destination"),
    [
        ("From SFO to Phoenix", "SFO", "Phoenix"),
        ("to Paris from Rome", "Rome", "Paris"),
        ("a flight from Rome to Paris, please", "Rome", "Paris"),
        ("from Seattle", "Seattle", NOTHING),
        ("leaving from Seattle", "Seattle", NOTHING),
        ("Leaving Seattle", "Seattle", NOTHING),
        ("to Seattle", NOTHING, "Seattle"),
        ("I want to visit Seattle", NOTHING, "Seattle"),
        ("Seattle", "Seattle", "Seattle"),
        ("from here to there", NOTHING, NOTHING),
        ("change the name from Mei Lee to Mei Garcia", NOTHING, NOTHING),
        ("Find me something in Napa", NOTHING, NOTHING),
    ],
)
def test_the_two_ends_of_a_way_are_not_taken_for_one_another(text: str, origin: Any, destination: Any) -> None:
    assert (answer(text, ORIGIN), answer(text, DESTINATION)) == (origin, destination)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("previous_report.pdf", "previous_report.pdf"),
        ("The specific file is previous_report.pdf.", "previous_report.pdf"),
        ("The file is summary.txt'.", "summary.txt"),
        ("file 'a b.txt'", "a b.txt"),
        ("“Team Notes.txt”", "Team Notes.txt"),
        ("It's `notes.md`", "notes.md"),
        ("The file name is 'don't.txt'", "don't.txt"),
        ("The report should be in the format of 'x y'", NOTHING),
        ("the file is 'a' or 'b'", NOTHING),
        ("'" + "a" * 201 + "'", NOTHING),
        ("The file is the one I previously mentioned.", NOTHING),
        ("The file is actually just the previous one that you rename.", NOTHING),
    ],
)
def test_quotes_hold_a_value_where_their_frame_leads_to_it(text: str, value: Any) -> None:
    assert answer(text, FILE) == value


def test_the_thing_that_a_value_belongs_to_is_not_the_value() -> None:
    assert answer("a pop song", Hint("artist", "string", description="Artist who performed the song")) is NOTHING


def test_a_verb_that_is_the_parameter_leads_to_the_value() -> None:
    assert answer("Please mention Julia.", Hint("mentions", "string")) == "Julia"
