"""Dates in questions and on turns."""

import pytest

from agent.recall.relevance.bm25 import Bm25Index
from agent.recall.relevance.dates import named, stamped


def test_a_timestamp_has_its_month_day_and_year_as_words():
    assert stamped("2022-07-05T10:00:00Z") == ("month 7", "day 5", "2022")


@pytest.mark.parametrize("timestamp", [None, "", "yesterday", "2022-13-01T00:00:00Z", "20220705"])
def test_what_is_no_timestamp_has_none(timestamp):
    assert stamped(timestamp) == ()


@pytest.mark.parametrize(
    "query",
    [
        "What did we decide in July?",
        "Was haben wir im Juli beschlossen?",
        "ce qu'on a dit en juillet",
        "2022年7月的会议",
        "7월 회의",
        "everything of 2022-07",
        "что было в июля",
    ],
)
def test_a_query_names_a_month_in_many_languages(query):
    assert named(query) == ("month 7",)


@pytest.mark.parametrize("query", ["on 5 July 2022", "on July 5th, 2022", "on 2022-07-05", "2022年7月5日"])
def test_beside_a_month_a_number_is_a_day(query):
    assert named(query) == ("month 7", "day 5")


@pytest.mark.parametrize("query", ["May I ask what it may be?", "they march on", "an august person", "5 of them", ""])
def test_what_is_another_word_as_often_names_none(query):
    assert named(query) == ()


def test_who_asks_for_a_month_finds_what_was_said_in_it():
    index = Bm25Index()
    index.extend(
        ["we met", "we met", "we met"], [stamped(f"2022-{month}-01T00:00:00Z") for month in ("06", "07", "08")]
    )
    scores = index.rank("Whom did we meet in July?")
    assert max(scores) == scores[1] > scores[0] == scores[2]
