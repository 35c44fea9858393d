"""What is read for each kind of parameter, and what is no answer."""

from typing import Any

import pytest

from agent.core.waiting import Hint
from tests.core.waiting_answers import AMOUNT, DAY, FARES, HOUR, NOTHING, OUTSIDE, SEATS, SPEAKERS, answer


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("economy", "Economy"),
        ("ECONOMY!", "Economy"),
        ("premium economy please", "Premium Economy"),
        ("Premium-Economy", "Premium Economy"),
        ("Premium", "Premium Economy"),
        ("I'd like to fly business class to San Jose", "Business"),
        ("First, I want economy", "Economy"),
        ("Can I have economy?", "Economy"),
        ("I don't want economy, business please", "Business"),
        ("no, economy", "Economy"),
        ("economy, actually", "Economy"),
        ("economy, no, business", "Business"),
        ("economy, sorry, I meant first class", "First Class"),
        ("first class rather than business", "First Class"),
        ("business instead of economy", "Business"),
        ("business but not first class", "Business"),
        ("Economy. When does it leave?", "Economy"),
        ("我要Economy", "Economy"),
        ("Ich nehme Business", "Business"),
        ("Business or economy", NOTHING),
        ("not business", NOTHING),
        ("no business", NOTHING),
        ("anything but economy", NOTHING),
        ("economy isn't what I want", NOTHING),
        ("business is wrong", NOTHING),
        ("it's a business trip", NOTHING),
        ("my own business went well", NOTHING),
        ("the basic economy option", NOTHING),
        ("is economy cheaper?", NOTHING),
        ("is economy cheaper", NOTHING),
        ("what about economy?", NOTHING),
        ("maybe economy", NOTHING),
        ("if it's cheaper, economy", NOTHING),
        ("economyx", NOTHING),
        ("經濟", NOTHING),
        ("whatever", NOTHING),
        ("", NOTHING),
    ],
)
def test_a_listed_value_comes_back_as_it_is_listed(text: str, value: Any) -> None:
    assert answer(text, FARES) is value or answer(text, FARES) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("in the kitchen", "Kitchen speaker"),
        ("No. On my bedroom device.", "Bedroom speaker"),
        ("play it on the tv", "TV"),
        ("play it on the speaker", NOTHING),
        ("in kitchen", NOTHING),
        ("my kitchen needs paint", NOTHING),
        ("kitchen and bedroom", NOTHING),
    ],
)
def test_a_value_is_said_by_the_words_that_tell_it_from_the_others(text: str, value: Any) -> None:
    assert answer(text, SPEAKERS) == value


def test_a_phrase_is_a_value_where_it_is_listed_and_the_whole_message() -> None:
    hint = Hint("x", values=("All right", "All", "Poor"))
    assert [answer(text, hint) for text in ("all right", "All right!", "all")] == ["All right", "All right", "All"]
    assert answer("all right, poor", hint) == "Poor"


def test_words_of_a_sentence_never_stand_for_a_whole_value() -> None:
    assert answer("the", Hint("x", values=("The Park", "A Park"))) is NOTHING


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("none", "None"),
        ("no subtitles", "None"),
        ("without subtitles please", "None"),
        ("english", "English"),
        ("none of them", NOTHING),
        ("no", NOTHING),
        ("no, thanks", NOTHING),
        ("please", NOTHING),
    ],
)
def test_that_there_shall_be_none_is_a_value_where_it_is_listed(text: str, value: Any) -> None:
    hint = Hint("subtitles", values=("None", "English"), description="Language of the subtitles")
    assert answer(text, hint) == value


def test_scripts_without_blanks_say_a_value_anywhere() -> None:
    hint = Hint("x", values=("经济舱", "商务舱", "이코노미"))
    assert answer("我要经济舱", hint) == "经济舱"
    assert answer("이코노미로 해 주세요", hint) == "이코노미"
    assert answer("不是经济舱\uff0c商务舱", hint) == "商务舱"


def test_a_value_without_letters_is_the_whole_message() -> None:
    hint = Hint("x", values=("+", "-"))
    assert answer(" + ", hint) == "+"
    assert answer("a + b", hint) is NOTHING


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", "2"),
        ("two", "2"),
        ("\uff13", 3),
        ("5 or more", "5 or more"),
        ("2.5", 2.5),
        ("2, no, make it 3", 3),
        ("4", NOTHING),
        ("2, no make it 9", NOTHING),
        ("at least 2", NOTHING),
        ("2 or 3", NOTHING),
    ],
)
def test_listed_numbers_are_read_as_numbers(text: str, value: Any) -> None:
    hint = Hint("count", values=("1", "2", 3, 2.5, "5 or more"))
    found = answer(text, hint)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", 2),
        ("\uff12", 2),
        ("٢", 2),
        ("two people", 2),
        ("just one", 1),
        ("one", 1),
        ("one person", 1),
        ("a table for 2 at 7 pm", 2),
        ("2 seats on March 8", 2),
        ("there are four of us", 4),
        ("twenty-five", 25),
        ("a dozen", 12),
        ("2, no, make it 3", 3),
        ("not 2 but 3", 3),
        ("2人", 2),
        ("我要2个", 2),
        ("fünf", 5),
        ("三", 3),
        ("1,200", 1200),
        ("1.200", 1200),
        ("1'200", 1200),
        # Of seats there are no fewer than none.
        ("-5", NOTHING),
        ("12.0", NOTHING),
        ("that one", NOTHING),
        ("one way", NOTHING),
        ("I'll go with option 1", NOTHING),
        ("2 or 3", NOTHING),
        ("2-3", NOTHING),
        ("between 2 and 4", NOTHING),
        ("at least 2", NOTHING),
        ("4 or more", NOTHING),
        ("4+", NOTHING),
        ("at 7", NOTHING),
        ("2 bags", NOTHING),
        ("2 days", NOTHING),
        ("$2", NOTHING),
        ("in 2012", NOTHING),
        ("something popular from 2012", NOTHING),
        ("I was born 3 villages from here", NOTHING),
        ("O-2", NOTHING),
        ("3rd", NOTHING),
        ("<3", NOTHING),
        ("1 " * 21, NOTHING),
        ("9" * 301, NOTHING),
        ("-007", NOTHING),
        ("1.2.3", NOTHING),
    ],
)
def test_a_whole_number_is_one_that_counts_what_was_asked(text: str, value: Any) -> None:
    found = answer(text, SEATS)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$50", 50),
        ("50 on Friday at noon", 50),
        ("20 dollars", 20),
        ("1.5", 1.5),
        ("1,5", 1.5),
        ("1,200.50", 1200.5),
        ("1.200,50", 1200.5),
        ("1.234.567", 1234567),
        ("1,00,000.5", 100000.5),
        ("-0.5", -0.5),
        ("0.5", 0.5),
        # What an integer or a float would not keep stays as its digits.
        ("007", "007"),
        ("0.12345678901234567890", "0.12345678901234567890"),
        ("1,200", NOTHING),
        ("1.200", NOTHING),
        ("12,34.5", NOTHING),
        ("1,2,3", NOTHING),
        ("1'2", NOTHING),
        ("1,2'3.4", NOTHING),
        ("007.5", NOTHING),
        ("50km", NOTHING),
        ("3 hours", NOTHING),
        ("round trip flights for three persons", NOTHING),
    ],
)
def test_a_number_keeps_its_digits_and_is_read_one_way_or_not_at_all(text: str, value: Any) -> None:
    found = answer(text, AMOUNT)
    assert (found, type(found)) == (value, type(value))


def test_a_number_may_be_below_zero_where_it_counts_nothing() -> None:
    assert answer("-5", Hint("temperature", "integer")) == -5
    assert answer("-5", AMOUNT) == -5


def test_a_price_for_each_person_counts_no_people() -> None:
    assert answer("three persons", Hint("price", "number", description="Price per passenger")) is NOTHING


def test_a_unit_counts_where_it_is_what_was_asked_for() -> None:
    assert answer("3 days", Hint("stay", "integer", description="Length of the stay")) == 3
    assert answer("last 20 lines", Hint("lines", "integer")) == 20
    assert answer("from 2012", Hint("year", "integer")) == 2012


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0012 3456-78", "0012345678"),
        ("it's \uff10\uff10\uff11\uff12", "0012"),
        ("+1 (650) 123-4567", "+16501234567"),
        ("A0012", NOTHING),
        ("12 and 13", NOTHING),
    ],
)
def test_digits_that_are_a_name_keep_their_leading_zeros(text: str, value: Any) -> None:
    assert answer(text, Hint("account", "digits")) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-03-08", "2026-03-08"),
        ("2026/3/8", "2026-03-08"),
        ("March 8th, 2026", "2026-03-08"),
        ("the 8th of March 2026", "2026-03-08"),
        ("8. März 2026", "2026-03-08"),
        ("le 8 mars 2026", "2026-03-08"),
        ("8 de marzo de 2026", "2026-03-08"),
        ("2026年3月8日", "2026-03-08"),
        ("the twenty-first of June 2026", "2026-06-21"),
        ("13/04/2026", "2026-04-13"),
        ("04/13/2026", "2026-04-13"),
        ("08/08/2026", "2026-08-08"),
        # Which of the two is the month, and which year it is, is the caller's to know.
        ("03/04/2026", "03/04/2026"),
        ("8/9", "8/9"),
        ("8.9.", "8.9."),
        ("On March 8th please", "March 8th"),
        ("eighth of March", "eighth of March"),
        ("Feb 29", "Feb 29"),
        ("the 5th", "5th"),
        ("3月8日", "3月8日"),
        ("first of next month", "first of next month"),
        ("tomorrow", "tomorrow"),
        ("the day after tomorrow", "the day after tomorrow"),
        ("in 3 days", "in 3 days"),
        ("next Friday", "next Friday"),
        ("on Friday", "Friday"),
        ("Friday, March 8th", "Friday, March 8th"),
        ("Monday the 12th", "Monday the 12th"),
        ("übermorgen", "übermorgen"),
        ("明天", "明天"),
        ("not Monday but Tuesday", "Tuesday"),
        ("Monday, no wait, Tuesday", "Tuesday"),
        ("by Friday", "Friday"),
        ("Feb 30", NOTHING),
        ("2026-02-30", NOTHING),
        ("31/31/2026", NOTHING),
        ("13/13", NOTHING),
        ("32nd", NOTHING),
        ("99 of March", NOTHING),
        ("Monday or Tuesday", NOTHING),
        ("8 or 9 March", NOTHING),
        ("8-10 March", NOTHING),
        ("March 8 to 10", NOTHING),
        ("after Friday", NOTHING),
        ("last Friday", NOTHING),
        ("from Friday", NOTHING),
        ("the 4th one", NOTHING),
        ("I may go", NOTHING),
        ("in the evening", NOTHING),
    ],
)
def test_a_day_said_in_full_is_iso_8601_and_any_other_as_it_was_said(text: str, value: Any) -> None:
    assert answer(text, DAY) == value


def test_from_a_day_on_is_that_day_where_a_departure_was_asked_for() -> None:
    assert answer("from Friday", Hint("departure_date", "date")) == "Friday"
    assert answer("after Friday", Hint("departure_date", "date")) is NOTHING


@pytest.mark.parametrize(
    ("text", "departure", "back"),
    [
        ("I'd be returning on the 10th.", NOTHING, "10th"),
        ("I'm leaving March 8th", "March 8th", NOTHING),
        ("March 8th", "March 8th", "March 8th"),
        ("leaving on March 8th, back on March 10th", NOTHING, NOTHING),
    ],
)
def test_the_day_of_one_way_is_not_taken_for_that_of_the_other(text: str, departure: Any, back: Any) -> None:
    assert answer(text, Hint("departure_date", "date")) == departure
    assert answer(text, Hint("return_date", "date")) == back


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 pm", "7 pm"),
        ("at 7", "7"),
        ("Around seven, please.", "seven"),
        ("19:30", "19:30"),
        ("half past 7 in the evening", "half past 7 in the evening"),
        ("a quarter to five", "a quarter to five"),
        ("ten minutes past 5", "ten minutes past 5"),
        ("evening 6 o'clock", "evening 6 o'clock"),
        ("5 in the evening", "5 in the evening"),
        ("noon", "noon"),
        ("19 Uhr", "19 Uhr"),
        ("19h30", "19h30"),
        ("晚上7点半", "晚上7点半"),
        ("2 people at 7 p.m. please", "7 p.m."),
        ("7 pm, no, 8 pm", "8 pm"),
        ("after 7 pm", NOTHING),
        ("7-8 pm", NOTHING),
        ("5 to 7 pm", NOTHING),
        ("7 pm or 8 pm", NOTHING),
        ("in the evening", NOTHING),
        ("13 pm", NOTHING),
        ("0 am", NOTHING),
        ("at 25", NOTHING),
        ("at 7 with my wife", NOTHING),
        ("whenever", NOTHING),
    ],
)
def test_a_time_of_day_comes_back_as_it_was_said(text: str, value: Any) -> None:
    assert answer(text, HOUR) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("Yes, please!", True),
        ("yeah sure", True),
        ("Well, ok then", True),
        ("of course", True),
        ("I do", True),
        ("Yes. Who's in it?", True),
        ("no wait, yes", True),
        ("No. I mean yes.", True),
        ("true", True),
        ("да", True),
        ("はい", True),
        ("好的", True),
        ("네", True),
        ("نعم", True),
        ("👍", True),
        ("no", False),
        ("Nope.", False),
        ("no thanks", False),
        ("not really", False),
        ("of course not", False),
        ("I don't", False),
        ("No, I don't need that", False),
        ("nein danke", False),
        ("不是", False),
        ("いいえ", False),
        ("아니요", False),
        ("لا", False),
        ("Yes, it should be quiet", NOTHING),
        ("yes and no", NOTHING),
        ("yes, no", NOTHING),
        ("yes, but only if it's free", NOTHING),
        ("Yes, I don't know", NOTHING),
        ("yes not", NOTHING),
        ("no, with a terrace", NOTHING),
        ("no it should have a terrace", NOTHING),
        ("no problem", NOTHING),
        ("no idea", NOTHING),
        ("not sure", NOTHING),
        ("I would like to go home", NOTHING),
        ("That is my wish. Yes", NOTHING),
        ("is it free?", NOTHING),
        ("yesterday", NOTHING),
        ("5", NOTHING),
    ],
)
def test_a_yes_or_a_no_is_read_where_nothing_takes_it_back(text: str, value: Any) -> None:
    assert answer(text, OUTSIDE) is value
