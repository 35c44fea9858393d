"""Where what is kept at hand, what is replaced and what is looked for ends, nothing is let through."""

from agent.content.found import Finds, Found
from agent.content.redacted import Redacting

NOBODY: frozenset[str] = frozenset()


def of_every(word: str):
    def detect(text: str) -> list[Found]:
        places, place = [], text.find(word)
        while place >= 0:
            places.append(Found(place, place + len(word), "phone"))
            place = text.find(word, place + len(word))
        return places

    return detect


def test_more_texts_than_are_kept_at_hand_are_each_replaced_and_counted_each_time() -> None:
    rule = Redacting(of_every("@"), NOBODY)
    texts = [f"{number} @" for number in range(4_100)]
    for _ in range(2):
        assert [rule.text(each) for each in texts] == [f"{number} [redacted:phone]" for number in range(4_100)]
    assert rule.counts == {"phone": 2 * 4_100}


def test_two_finds_in_one_number_of_json_are_one_placeholder() -> None:
    def halves(text: str) -> list[Found]:
        return [Found(1, 4, "phone"), Found(6, 9, "phone")] if text.startswith("[1234567890") else []

    rule = Redacting(halves, NOBODY)
    assert rule.text('[1234567890, "x"]') == '["[redacted:phone]", "x"]'
    assert rule.counts == {"phone": 1}


def test_a_text_in_which_too_much_would_be_replaced_is_left_out_whole() -> None:
    rule = Redacting(of_every("@"), NOBODY)
    assert rule.text("@ " * 100_000) == "[redacted:phone] " * 100_000
    assert rule.text("@ " * 100_001) == "[omitted:200002]"


def test_what_is_not_looked_at_with_its_escapes_undone_is_left_out_whole() -> None:
    looked: list[str] = []

    def detect(text: str) -> Finds:
        looked.append(text)
        return Finds((), 1_000)

    text = r"it is ann\u0040example.org"
    assert Redacting(detect, NOBODY).text(text) == text
    assert looked == [text, "it is ann@example.org"]
    assert Redacting(detect, NOBODY, most_effort=500).text(text) == f"[omitted:{len(text)}]"
    assert looked[2:] == [text]
