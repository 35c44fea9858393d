"""What is told of a capture's turns: one sentence a type, what is never told, and what the entries look like."""

from hashlib import sha256

import pytest

from agent.entities.entities import MOST, MOST_READ, entities_of, is_cut
from agent.entities.known import _TURNS

TURN = "B7A1E0D4-5C39-4E82-8F16-2D7C9B0A4E13"


def told(*contents):
    return entities_of({"turns": [{"turn_id": TURN, "role": "user", "content": each} for each in contents]})


def pairs(*contents):
    return [(each["type"], each["text"]) for each in told(*contents)]


ONE_OF_EACH = [
    ("Write to mia.li@example.com, please", "EMAIL_ADDRESS", "mia.li@example.com"),
    ("See https://example.com/a?b=c.", "URL", "https://example.com/a?b=c"),
    ("Call +49 30 901820 today-ish", "PHONE_NUMBER", "+49 30 901820"),
    ("Call me at (415) 555-2671", "PHONE_NUMBER", "(415) 555-2671"),
    ("my phone number is 5552671234", "PHONE_NUMBER", "5552671234"),
    ("ping 192.168.0.14 failed", "IP_ADDRESS", "192.168.0.14"),
    ("ping 2001:db8::8a2e:370:7334 failed", "IP_ADDRESS", "2001:db8::8a2e:370:7334"),
    ("event 583a9654-7b91-4655-bf85-6011fd8743e9", "UUID", "583a9654-7b91-4655-bf85-6011fd8743e9"),
    ("it was in /etc/nginx/nginx.conf", "FILE_PATH", "/etc/nginx/nginx.conf"),
    ("it was in C:\\Users\\kim\\notes.txt", "FILE_PATH", "C:\\Users\\kim\\notes.txt"),
    ("Where is #W2378156?", "REFERENCE_CODE", "#W2378156"),
    ("My reservation number is PEP4E0.", "REFERENCE_CODE", "PEP4E0"),
    ("Meine Bestellnummer: 4471-88A", "REFERENCE_CODE", "4471-88A"),
    ("订单号是AB12345", "REFERENCE_CODE", "AB12345"),
    ("on flight HAT136", "FLIGHT_NUMBER", "HAT136"),
    ("I am yusuf_rossi_9620", "USER_ID", "yusuf_rossi_9620"),
    ("at 2024-05-15T15:00:00Z", "DATE_TIME", "2024-05-15T15:00:00Z"),
    ("on 2024-05-15", "DATE", "2024-05-15"),
    ("on May 20, 2024", "DATE", "May 20, 2024"),
    ("am 3. Oktober 2025", "DATE", "3. Oktober 2025"),
    ("le 14 juillet", "DATE", "14 juillet"),
    ("el 5 de mayo de 2024", "DATE", "5 de mayo de 2024"),
    ("im 2024年5月15日", "DATE", "2024年5月15日"),
    ("make it next Tuesday", "DATE", "next Tuesday"),
    ("it opens at 7:30 pm", "TIME", "7:30 pm"),
    ("it opens at noon", "TIME", "noon"),
    ("it costs $1,250.50 now", "MONEY", "$1,250.50"),
    ("it costs 30 euros now", "MONEY", "30 euros"),
    ("es kostet 12,50 € hier", "MONEY", "12,50 €"),
    ("with 5 percent of rain", "PERCENT", "5 percent"),
    ("with 8 miles per hour", "QUANTITY", "8 miles per hour"),
    ("I spoke to Dr. Okonkwo", "PERSON", "Okonkwo"),
    ("Hello, my name is Daiki Johnson", "PERSON", "Daiki Johnson"),
    ("hello, my name is yusuf rossi.", "PERSON", "yusuf rossi"),
    ("Hola, me llamo Lucía Ortega", "PERSON", "Lucía Ortega"),
    ("Ich heiße Anke Baumann", "PERSON", "Anke Baumann"),
    ("Меня зовут Ольга Иванова", "PERSON", "Ольга Иванова"),
    ("你好，我叫王小明。", "PERSON", "王小明"),  # noqa: RUF001 - as it is written
    ('{"first_name": "Ngozi", "n": 1}', "PERSON", "Ngozi"),
    ("a flight with Alaska Airlines", "ORGANIZATION", "Alaska Airlines"),
    ("we use GitHub for that", "ORGANIZATION", "GitHub"),
    ("a table at Tacolicious please", "ORGANIZATION", "Tacolicious"),
    ("It rains in Zurich", "LOCATION", "Zurich"),
    ("the weather in Cotati", "LOCATION", "Cotati"),
    ("at 261 North 2nd Street", "LOCATION", "261 North 2nd Street"),
    ('"city": "Livermore"', "LOCATION", "Livermore"),
    ("rent the movie Green Book", "WORK_OF_ART", "Green Book"),
]


@pytest.mark.parametrize(("content", "kind", "text"), ONE_OF_EACH, ids=[text for _, _, text in ONE_OF_EACH])
def test_each_type_is_told_by_its_form_or_its_cue(content, kind, text):
    assert (kind, text) in pairs(content)


@pytest.mark.parametrize(
    "content",
    [
        "class CustomerService(BaseService):\n    def getName(self, firstName):\n        return self.John_Smith",
        "from Alice import Bob, Charlie\nimport JohnSmith",
        "```\nMy name is John Smith in Paris\n```",
        "The Quick Start Guide: Getting Started With Error Handling",
        "TypeError: Cannot read property 'Name' of Undefined",
        "Please Confirm. Thanks. Yes. However, Nothing Works.",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "call_9aQxgkWgI2pN4kXb7 and toolu_01A09q90qw90lq917835lq9",
        "awk '{print $1}' and \"$2\"",
        "std::vector<Foo::Bar> x; a::b::c",
        "version 1.2.3.4 of v10.0.0.1 and numpy 2.5.35",
        "GET /v1/items/{id} and/or 3/4",
        "icon@2x.png and git@github.com:owner/repo",
        "in order 5 and item 12",
        "I may march on, and will mark it.",
        "a[1:30] and {10:20}",
        "my Visa ending in 2076",
        "Die Katze sitzt auf dem Tisch, und der Hund bellt.",
    ],
)
def test_code_headings_and_the_starts_of_sentences_name_nobody(content):
    assert pairs(content) == []


@pytest.mark.parametrize(
    "content",
    [
        "pay with 4111 1111 1111 1111 then",
        "pay with 378282246310005 then",
        "to DE89 3704 0044 0532 0130 00 then",
        "https://kim:hunter22@example.com/x",
        "postgres://kim:hunter22@db.example.com/x",
        "sk-abcdefghijklmnop1234567890",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_a_card_an_account_and_a_credential_are_never_told(content):
    assert pairs(content) == []


def test_of_a_signed_link_nothing_is_told_from_its_credential_on():
    assert pairs("see https://example.com/f.pdf?token=abc123&x=1 now") == [("URL", "https://example.com/f.pdf")]


def test_what_the_policy_took_out_is_no_entity_and_no_name_goes_over_it():
    content = "My name is [redacted:email], Mia [omitted:12] Li [redacted:phone] and [omitted:4:ab12cd] $5"
    assert pairs(content) == [("PERSON", "Mia"), ("MONEY", "$5")]


def test_an_entry_says_where_and_what_with_the_digest_of_its_text():
    (entry,) = told("😀 at 7:30 pm")
    assert entry == {
        "turn_id": TURN.lower(),
        "type": "TIME",
        "start": 5,
        "end": 12,
        "text_sha256": sha256(b"7:30 pm").hexdigest(),
        "text": "7:30 pm",
    }


def test_what_was_named_once_is_known_again_in_later_turns_without_its_cue():
    found = pairs("a flight: flight HAT136 for Mia Li", "HAT136 then. Mia is ready.", "Not XHAT136.")
    assert found == [("FLIGHT_NUMBER", "HAT136"), ("PERSON", "Mia Li"), ("FLIGHT_NUMBER", "HAT136"), ("PERSON", "Mia")]


def test_the_talk_of_films_is_over_some_turns_later():
    about = ["a movie", *["yes"] * _TURNS, "How about Ramen Shop?"]
    assert pairs(*about) == []
    assert pairs(about[0], about[-1]) == [("WORK_OF_ART", "Ramen Shop")]


def test_no_name_of_one_capture_is_known_in_another():
    assert pairs("on flight HAT136")
    assert pairs("HAT136") == []


def test_a_list_has_a_bound_and_says_by_it_that_there_may_be_more():
    content = "$5 " * (MOST + 1)
    payload = {"turns": [{"turn_id": TURN, "content": content}]}
    found = entities_of(payload)
    assert len(found) == MOST
    assert is_cut(payload, found)
    assert not is_cut({"turns": [{"turn_id": TURN, "content": "$5"}]}, told("$5"))


def test_what_stands_beyond_the_characters_that_are_read_is_not_told_nor_what_the_bound_tears():
    payload = {"turns": [{"turn_id": TURN, "content": " " * (MOST_READ - 3) + "$123 $7"}]}
    assert entities_of(payload) == []
    assert is_cut(payload, [])
    behind = {"turns": [{"turn_id": TURN, "content": " " * MOST_READ}, {"turn_id": TURN, "content": "$7"}]}
    assert entities_of(behind) == []


def test_lone_turns_without_content_have_no_entities():
    assert told("", " ", "\n", "\x00") == []
