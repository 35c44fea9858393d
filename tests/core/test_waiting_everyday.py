"""Everyday answers, which are read: the other side of every rule that refuses to guess."""

from typing import Any

import pytest

from agent.core.waiting import Hint
from tests.core.waiting_answers import (
    ACCOUNT,
    AMOUNT,
    CITY,
    CLASSES,
    COLOUR,
    CUISINE,
    DAY,
    DEPARTURE,
    HOUR,
    NAME,
    ORDER,
    OUTSIDE,
    PASSENGERS,
    PLAN,
    RETURN,
    SCOPE,
    SIZE,
    TENS,
    answer,
)  # fmt: skip


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (SIZE, "M", "M"), (SIZE, "m", "M"), (SIZE, "size L please", "L"), (SIZE, "XL", "XL"),
        (SIZE, "xl please", "XL"), (SIZE, "L", "L"), (SIZE, "I'd like an M", "M"), (SIZE, "S.", "S"),
        (SIZE, "Make it L", "L"), (SIZE, "It's M", "M"), (SIZE, "no, L", "L"), (SIZE, "M, sorry, L", "L"),
        (PLAN, "Pro", "Pro"), (PLAN, "pro please", "Pro"), (PLAN, "the pro plan", "Pro"),
        (PLAN, "I'll take the free one", "Free"), (PLAN, "Free", "Free"), (PLAN, "the free plan please", "Free"),
        (PLAN, "I want pro", "Pro"), (PLAN, "let's go with Pro", "Pro"), (PLAN, "not free, pro", "Pro"),
        (PLAN, "free... sorry, pro", "Pro"), (PLAN, "Pro works for me", "Pro"), (PLAN, "pro it is", "Pro"),
        (PLAN, "I would like the Pro plan, thanks!", "Pro"),
        (COLOUR, "red", "red"), (COLOUR, "blue please", "blue"), (COLOUR, "I prefer blue", "blue"),
        (COLOUR, "the red one", "red"), (COLOUR, "red!", "red"), (COLOUR, "make it blue", "blue"),
        (COLOUR, "blue, not red", "blue"), (COLOUR, "not red but blue", "blue"),
        (COLOUR, "Hi, I'd like it in blue", "blue"), (COLOUR, "blue would be great", "blue"),
        (COLOUR, "red. Thanks!", "red"), (COLOUR, "blue is fine", "blue"),
        (CUISINE, "Italian", "Italian"), (CUISINE, "italian food please", "Italian"),
        (CUISINE, "I'd like Italian", "Italian"), (CUISINE, "I'm in the mood for Mexican", "Mexican"),
        (CUISINE, "Mexican would be great", "Mexican"), (CUISINE, "An Italian restaurant", "Italian"),
        (CUISINE, "let's have Chinese", "Chinese"), (CUISINE, "I love Mexican food", "Mexican"),
        (CUISINE, "Italian, not Mexican", "Italian"), (CUISINE, "Chinese for 2 people at 7 pm", "Chinese"),
        (CUISINE, "Mexican in San Jose", "Mexican"), (CUISINE, "no, Italian", "Italian"),
        (CUISINE, "Italian sounds good", "Italian"), (CUISINE, "I'm looking for Chinese food", "Chinese"),
        (CUISINE, "I want to eat Italian", "Italian"),
        (SCOPE, "all", "All"), (SCOPE, "All please", "All"), (SCOPE, "some", "Some"),
        (TENS, "20", 20), (TENS, "twenty", 20), (TENS, "20 please", 20), (TENS, "make it 30", 30),
        (TENS, "10, no, 20", 20), (TENS, "I want 10", 10),
        (CLASSES, "First", "First"), (CLASSES, "first please", "First"), (CLASSES, "first class", "First"),
        (CLASSES, "business class please", "Business"), (CLASSES, "Economy", "Economy"),
        (CLASSES, "I fly economy", "Economy"), (CLASSES, "First, economy please", "Economy"),
        (CLASSES, "Business to Rome", "Business"), (CLASSES, "economy for 2 people on Friday", "Economy"),
        (CLASSES, "I'd like business", "Business"),
    ],
)  # fmt: skip
def test_a_listed_value_is_read(hint: Hint, text: str, value: Any) -> None:
    found = answer(text, hint)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (ORDER, "O-12345", "O-12345"), (ORDER, "it is O-12345", "O-12345"),
        (ORDER, "my order is O-12345", "O-12345"), (ORDER, "My order number is O-12345.", "O-12345"),
        (ORDER, "order O-12345 please", "O-12345"), (ORDER, "The order id is: O-12345", "O-12345"),
        (ORDER, "Ah, it's O-12345", "O-12345"), (ORDER, "sure, O-12345", "O-12345"),
        (ORDER, "Yes, O-12345", "O-12345"), (ORDER, "Hi! O-12345. Thanks.", "O-12345"),
        (ORDER, "here you go: O-12345", "O-12345"), (ORDER, "I have O-12345", "O-12345"),
        (ORDER, "I meant O-12345", "O-12345"), (ORDER, "Sorry, O-12345", "O-12345"),
        (ORDER, "O-1 sorry O-12345", "O-12345"), (ORDER, "O-1. No, O-12345", "O-12345"),
        (ORDER, "No, O-12345", "O-12345"), (ORDER, "no. O-12345", "O-12345"),
        (ORDER, "It's O-12345, thanks a lot!", "O-12345"), (ORDER, "O-12345. When will it arrive?", "O-12345"),
        (ORDER, "Where is my parcel? It's O-12345", "O-12345"),
        (ORDER, "meine Bestellnummer ist O-12345", "O-12345"), (ORDER, "c'est O-12345", "O-12345"),
        (ORDER, "mi pedido es O-12345", "O-12345"), (ORDER, "il mio ordine è O-12345", "O-12345"),
        (ORDER, "我的订单号是O-12345", "O-12345"), (ORDER, "注文番号はO-12345です", "O-12345"),
        (ORDER, "주문번호는 O-12345입니다", "O-12345"), (ORDER, "мой заказ O-12345", "O-12345"),
        (ORDER, "رقم الطلب O-12345", "O-12345"), (ORDER, "#O-12345", "O-12345"), (ORDER, "**O-12345**", "O-12345"),
        (ORDER, "`O-12345`", "O-12345"), (ORDER, "O-12345 please", "O-12345"),
        (ORDER, "I found it: O-12345", "O-12345"), (ORDER, "That would be O-12345", "O-12345"),
        (ORDER, "order_id: O-12345", "O-12345"), (ORDER, "It was O-12345", "O-12345"),
        (ORDER, "not O-1, O-12345", "O-12345"), (ORDER, "O-12345, not O-1", "O-12345"),
        (ORDER, "That's not it. It's O-12345", "O-12345"), (ORDER, "The number of my order is O-12345", "O-12345"),
        (ORDER, "O-12345 :)", "O-12345"), (ORDER, "O-12345 🙂", "O-12345"),
        (ACCOUNT, "12345", "12345"), (ACCOUNT, "it's 12345", "12345"),
        (ACCOUNT, "my account number is 0012 3456", "00123456"), (ACCOUNT, "account 12345 please", "12345"),
        (ACCOUNT, "The number is 12345.", "12345"), (ACCOUNT, "#12345", "12345"), (ACCOUNT, "no, 54321", "54321"),
        (ACCOUNT, "12345, sorry, 54321", "54321"), (ACCOUNT, "+49 170 1234567", "+491701234567"),
        (ACCOUNT, "650.123.4567", "6501234567"), (ACCOUNT, "yes, it is 4711", "4711"),
        (ACCOUNT, "(650) 123-4567", "6501234567"),
    ],
)  # fmt: skip
def test_an_id_is_read(hint: Hint, text: str, value: Any) -> None:
    found = answer(text, hint)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (AMOUNT, "300", 300), (AMOUNT, "$300", 300), (AMOUNT, "300 dollars", 300), (AMOUNT, "it's 300", 300),
        (AMOUNT, "300 please", 300), (AMOUNT, "the amount is 300", 300), (AMOUNT, "I'd like 300", 300),
        (AMOUNT, "300.50", 300.5), (AMOUNT, "no, 250", 250), (AMOUNT, "300, no, 250", 250), (AMOUNT, "50 euros", 50),
        (AMOUNT, "€50", 50), (AMOUNT, "50 €", 50), (AMOUNT, "make it 20", 20), (AMOUNT, "20 bucks", 20),
        (AMOUNT, "300 for two people", 300),
        (PASSENGERS, "3", 3), (PASSENGERS, "three", 3), (PASSENGERS, "three people", 3),
        (PASSENGERS, "3 passengers please", 3), (PASSENGERS, "for 2", 2), (PASSENGERS, "there are 4 of us", 4),
        (PASSENGERS, "we're 4", 4), (PASSENGERS, "we are 4", 4), (PASSENGERS, "just one", 1),
        (PASSENGERS, "2 adults", 2), (PASSENGERS, "2 tickets", 2), (PASSENGERS, "a party of 5", 5),
        (PASSENGERS, "It's for 2 people", 2), (PASSENGERS, "2 people on Friday at 7 pm", 2),
        (PASSENGERS, "table for 2", 2), (PASSENGERS, "3 of us", 3), (PASSENGERS, "two please", 2),
        (PASSENGERS, "I need 2", 2),
    ],
)  # fmt: skip
def test_a_number_is_read(hint: Hint, text: str, value: Any) -> None:
    found = answer(text, hint)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (DEPARTURE, "Friday", "Friday"), (DEPARTURE, "next Friday please", "next Friday"),
        (DEPARTURE, "I'm leaving on March 8th", "March 8th"), (DEPARTURE, "March 8th", "March 8th"),
        (DEPARTURE, "on 2026-03-08", "2026-03-08"), (DEPARTURE, "I'd like to depart on Friday", "Friday"),
        (DEPARTURE, "leaving tomorrow", "tomorrow"), (DEPARTURE, "Friday works", "Friday"),
        (DEPARTURE, "Friday at 7 pm", "Friday"), (DEPARTURE, "Friday morning", "Friday"),
        (DEPARTURE, "let's say Friday", "Friday"), (DEPARTURE, "Friday is fine", "Friday"),
        (DEPARTURE, "Friday would be great", "Friday"), (DEPARTURE, "not Friday but Saturday", "Saturday"),
        (DEPARTURE, "Friday, no, Saturday", "Saturday"), (DEPARTURE, "Flying to Paris on March 8th", "March 8th"),
        (DEPARTURE, "The departure date is March 8th 2026", "2026-03-08"),
        (DEPARTURE, "I want to go on Friday", "Friday"), (DEPARTURE, "2 tickets for Friday please", "Friday"),
        (DEPARTURE, "from Friday", "Friday"),
        (RETURN, "I return on Friday", "Friday"), (RETURN, "back on Friday", "Friday"),
        (RETURN, "coming back March 8th", "March 8th"), (RETURN, "returning March 8th", "March 8th"),
        (RETURN, "March 8th", "March 8th"),
        (DAY, "March 8th", "March 8th"), (DAY, "for March 8th please", "March 8th"),
        (DAY, "I'd like to come on Friday", "Friday"), (DAY, "book it for tomorrow", "tomorrow"),
        (DAY, "tomorrow at noon", "tomorrow"), (DAY, "the 8th of March", "8th of March"),
        (HOUR, "7pm", "7pm"), (HOUR, "at 7pm please", "7pm"), (HOUR, "make it 7:30", "7:30"),
        (HOUR, "7pm works", "7pm"), (HOUR, "7pm on Friday", "7pm"), (HOUR, "Friday at 7pm", "7pm"),
        (HOUR, "a table for 2 at 7pm", "7pm"), (HOUR, "I'd like to come at 7 pm", "7 pm"),
        (HOUR, "7pm, no, 8pm", "8pm"), (HOUR, "19 Uhr bitte", "19 Uhr"), (HOUR, "let's say 7pm", "7pm"),
        (HOUR, "7pm sharp", "7pm"),
    ],
)  # fmt: skip
def test_a_day_or_a_time_is_read(hint: Hint, text: str, value: Any) -> None:
    found = answer(text, hint)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (OUTSIDE, "yes", True), (OUTSIDE, "yes please", True), (OUTSIDE, "ok", True), (OUTSIDE, "okay!", True),
        (OUTSIDE, "sure", True), (OUTSIDE, "right", True), (OUTSIDE, "yes, I would like that", True),
        (OUTSIDE, "yes, outdoor seating please", True), (OUTSIDE, "yes I want outdoor seating", True),
        (OUTSIDE, "yep thanks", True), (OUTSIDE, "yes, that's right", True), (OUTSIDE, "yes yes", True),
        (OUTSIDE, "yes. Is it heated?", True), (OUTSIDE, "sounds good, yes", True), (OUTSIDE, "no", False),
        (OUTSIDE, "no thank you", False), (OUTSIDE, "no, I don't want outdoor seating", False),
        (OUTSIDE, "no, sorry", False), (OUTSIDE, "nope, thanks", False), (OUTSIDE, "nah", False),
        (OUTSIDE, "yes, sorry, no", False), (OUTSIDE, "that's correct", True), (OUTSIDE, "not really", False),
    ],
)  # fmt: skip
def test_a_yes_or_a_no_is_read(hint: Hint, text: str, value: Any) -> None:
    found = answer(text, hint)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (CITY, "Paris", "Paris"), (CITY, "Paris please", "Paris"), (CITY, "in Paris", "Paris"),
        (CITY, "Frankfurt am Main", "Frankfurt am Main"), (CITY, "Niagara Falls", "Niagara Falls"),
        (CITY, "the city is Paris", "Paris"), (CITY, "Paris, thanks", "Paris"), (CITY, "Paris, not Rome", "Paris"),
        (CITY, "no, Paris", "Paris"), (CITY, "I'd like Paris", "Paris"), (CITY, "Buffalo", "Buffalo"),
        (CITY, "Orlando!", "Orlando"), (CITY, "San José", "San José"), (CITY, "東京", "東京"),
        (NAME, "John Smith", "John Smith"), (NAME, "My name is John", "John"), (NAME, "John", "John"),
        (NAME, "Mr. Smith", "Mr. Smith"),
    ],
)  # fmt: skip
def test_words_are_read(hint: Hint, text: str, value: Any) -> None:
    found = answer(text, hint)
    assert (found, type(found)) == (value, type(value))
