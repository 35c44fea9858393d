"""Names by what stands around them: streets, lists, titles and particles; and words with a capital that name nobody."""

import pytest

from tests.entities.test_entities import pairs


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("Ich wohne in der Hauptstraße 12", [("LOCATION", "Hauptstraße 12")]),
        ("wir treffen uns am Goetheplatz 4", [("LOCATION", "Goetheplatz 4")]),
        ("我住在北京", [("LOCATION", "北京")]),
        ("東京に行きます", [("LOCATION", "東京")]),
        ("서울에 갑니다", [("LOCATION", "서울")]),
        ("订单号是123，我住在北京", [("LOCATION", "北京")]),  # noqa: RUF001 - as it is written
    ],
)
def test_places_are_told_in_scripts_and_streets_of_other_languages(content, found):
    assert pairs(content) == found


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("my name is Mary Johnson and Peter Smith", [("PERSON", "Mary Johnson"), ("PERSON", "Peter Smith")]),
        ("I live in Paris and Rome", [("LOCATION", "Paris"), ("LOCATION", "Rome")]),
        ("a trip to Los Angeles, the Bronx", [("LOCATION", "Los Angeles"), ("LOCATION", "Bronx")]),
        ("the movie Green Book, and Parasite", [("WORK_OF_ART", "Green Book"), ("WORK_OF_ART", "Parasite")]),
        ("I spoke to Dr. Okonkwo, Wibble", [("PERSON", "Okonkwo")]),
        ("I spoke to Dr. Okonkwo or Wibble", [("PERSON", "Okonkwo"), ("PERSON", "Wibble")]),
    ],
)
def test_what_stands_in_a_list_with_a_name_is_of_its_type(content, found):
    assert pairs(content) == found


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("We met Dr. Smith's wife", [("PERSON", "Smith")]),
        ("rent the movie Green Book! now", [("WORK_OF_ART", "Green Book!")]),
        ("Dear Mr. Mary Johnson", [("PERSON", "Mary Johnson")]),
        ("Yes de Paris", [("LOCATION", "Paris")]),
        ("Yes and Mary was there", [("PERSON", "Mary")]),
        ("I live in Paris I", [("LOCATION", "Paris")]),
        ("Yes de I", []),
    ],
)
def test_titles_particles_and_possessives_are_no_part_of_a_name(content, found):
    assert pairs(content) == found


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("my name is JohnSmith", id="a word of a program"),
        pytest.param("my name is Code Johnson", id="begins with a word that names nothing"),
        pytest.param("my name is Please Thank", id="words that name nothing"),
        pytest.param("call me However", id="one such word"),
        pytest.param("a flight with American", id="whose country somebody is of"),
    ],
)
def test_behind_a_cue_stands_not_always_a_name(content):
    assert pairs(content) == []


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("ping 2001:0db8:1:2:3 failed", id="too few parts"),
        pytest.param("ping 2001::db8::1 failed", id="two gaps"),
        pytest.param("order GATE42: 12.5.x", id="none"),
    ],
)
def test_what_only_begins_like_an_ip_address_is_none(content):
    assert "IP_ADDRESS" not in [kind for kind, _ in pairs(content)]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("my order number is 12.5", []),
        ("my order is 12a", []),
        ("my booking is QWERTZ", [("REFERENCE_CODE", "QWERTZ")]),
        ("my booking is Monkey", []),
        ("my booking is ab", []),
    ],
)
def test_behind_a_word_for_a_code_a_version_a_number_and_a_word_are_none(content, found):
    assert [each for each in pairs(content) if each[0] == "REFERENCE_CODE"] == found
