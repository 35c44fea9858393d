"""Whether a text leans on what was said before, and which words say so."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.references import Reference, references_earlier

SAID = ["I want to check my order of shoes.", "Which order? The triangle has two sides.", "It rains in London."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("that", ("that",)),
        ("Can you parallelize it?", ("it",)),
        ("Again, please", ("Again",)),
        ("the second one", ("the second one",)),
        ("Same as before", ("as before",)),
        ("What about Rome?", ("What about",)),
        ("How about the top two?", ("How about",)),
        ("Explain that in more detail.", ("that", "more detail")),
        ("That sounds good.", ("That",)),
        ("Is that right?", ("that",)),
        ("Is there a cheaper flight?", ("a cheaper",)),
        ("What's the area of a circle around the triangle?", ("the triangle",)),
        ("Please cancel the order", ("the order",)),
        ("If the above question changes, what then?", ("the above question",)),
        ("You said two days.", ("You said",)),
        ("Yes, please.", ("Yes",)),
        ("And in Rome?", ("And",)),
        ("Why?", ("Why",)),
        ("what else", ("what else",)),
        ("Do both of them", ("both", "them")),
        ("Tell me more", ("Tell me more",)),
        ("When did she call?", ("she",)),
        ("Rewrite these lines", ("these",)),
        ("I\u2019ll take that one, thanks.", ("that one",)),
        ("Rent it, it's for two", ("it", "it")),
        ("Show me something else", ("something else",)),
    ],
)
def test_words_that_lean_on_what_was_said_are_named_as_they_are_written(text: str, words: tuple[str, ...]) -> None:
    found = references_earlier(text, SAID)
    assert found == Reference(words)
    assert found
    assert found.refers


@pytest.mark.parametrize(
    "text",
    [
        "What is the weather that we had in May?",
        "What is the weather in Paris today?",
        "What is the capital of France?",
        "Book a flight from Paris to Rome on 5 May for two people.",
        "I know that you are a bot",
        "The thing is that I need a visa for Japan",
        "It's raining today",
        "What time is it getting dark?",
        "Write a poem and make it rhyme.",
        "I have two dogs, and they are ill.",
        'Translate "good morning" and explain its grammar.',
        "Open notes.md and sort it.",
        "Anna is ill: what should she do?",
        "Summarize this text: the cat sat on the mat.",
        "Mend this code\n\nprint(1",
        "What happens this week?",
        "Are both Paris and Rome capitals?",
        "Is there a better way than Paris offers?",
        "Check the order O-777 please",
        "Hi there",
        "Why is the sky blue?",
        "The same flights as in May to Rome",
        "What is the time?",
        "O-12345",
        "",
    ],
)
def test_a_text_that_brings_along_what_it_speaks_of_leans_on_nothing(text: str) -> None:
    found = references_earlier(text, SAID)
    assert found == Reference()
    assert not found
    assert not found.refers


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("¿Y eso cuánto cuesta?", "eso"),
        ("Quanto custa isso?", "isso"),
        ("ça coûte combien ?", "ça"),
        ("Quanto costa questo?", "questo"),
        ("Was kostet dasselbe in Blau?", "dasselbe"),
        ("Сколько это стоит?", "это"),
        ("هذا كم سعره", "هذا"),
        ("כמה זה עולה", "זה"),
        ("यह कितने का है", "यह"),
        ("它多少钱", "它"),
        ("那個呢", "那個"),
        ("他说什么", "他"),
        ("それはいくらですか", "それ"),
        ("그건 얼마예요?", "그건"),
        ("อันนี้ราคาเท่าไหร่", "อันนี้"),
    ],
)
def test_other_languages_have_words_of_their_own(text: str, word: str) -> None:
    assert references_earlier(text, SAID).words == (word,)


@pytest.mark.parametrize(
    "text",
    [
        "明天北京的天气怎么样",
        "其他国家的首都",
        "Какая погода в Москве?",
        "Wie ist das Wetter in Berlin?",
        "¿Cuál es la capital de Francia?",
        "東京の天気は",
        "यहाँ मौसम कैसा है",
    ],
)
def test_a_question_of_its_own_is_one_in_other_languages_too(text: str) -> None:
    assert not references_earlier(text, SAID)


def test_two_forms_of_a_letter_are_one() -> None:
    assert references_earlier("c\u0327a marche comment ?", SAID).words == ("ça",)


@given(st.text())
def test_nothing_leans_on_an_empty_history(text: str) -> None:
    assert references_earlier(text, []) == Reference()
    assert not references_earlier("What about that one?", [])


def test_a_known_thing_is_looked_for_in_all_that_was_said_in_one_number_or_the_other() -> None:
    assert references_earlier("Close the doors.", ["A door.", "Yes?"]).words == ("the doors",)
    assert references_earlier("Close the door.", ["Doors are open.", *["Yes?"] * 50]).words == ("the door",)
    assert not references_earlier("Close the door.", ["A doorman came."])


@given(st.text(alphabet=st.sampled_from("that this it the a one, .\n:é"), max_size=200), st.lists(st.text(max_size=9)))
def test_the_words_that_decided_stand_in_the_text_in_this_order(text: str, said: list[str]) -> None:
    place = 0
    for word in references_earlier(text, said).words:
        place = text.index(word, place) + len(word)


@pytest.mark.parametrize(
    "piece", ["a better ", "this ", "that ", "it ", "the order ", "both a ", "the the ", ". that "]
)
def test_a_long_text_is_only_looked_at_from_its_beginning(piece: str) -> None:
    assert references_earlier(piece * 300_000 + "what about", ["order"]) == references_earlier(
        (piece * 4000)[:4000], ["order"]
    )


def test_real_second_questions_mostly_lean_on_the_first_and_first_ones_never(shared: Path) -> None:
    lines = (shared / "data" / "mt-bench__two-turn-with-gpt4-reference__15.jsonl").read_text().splitlines()
    dialogs = [json.loads(line) for line in lines]
    # Asked with an answer to another question before it, which a first question does not lean on.
    others = [*dialogs[1:], dialogs[0]]
    first = [
        references_earlier(one["user_turns"][0], other["assistant_turns"])
        for one, other in zip(dialogs, others, strict=True)
    ]
    second = [
        references_earlier(one["user_turns"][1], [one["user_turns"][0], one["assistant_turns"][0]]) for one in dialogs
    ]
    assert sum(map(bool, first)) == 0
    assert sum(map(bool, second)) >= 12
