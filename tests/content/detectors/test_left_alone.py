"""What looks much like a secret or a number of a person and is none stays; what nobody can weigh any more goes."""

import sys
from types import ModuleType

import pytest

from agent.content.detectors import find
from agent.content.detectors.check_digits import checks
from agent.content.detectors.credentials import credentials_in
from agent.content.detectors.ibans import ibans
from agent.content.detectors.numbering_plans import is_possible
from agent.content.detectors.told import told_numbers
from agent.content.detectors.weighing import MOST_WEIGHED, Weighing
from agent.content.found import Found


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("AWS_SECRET_ACCESS_KEY=" + "a" * 45, id="one letter over and over is no key"),
        pytest.param("MTA" + "a" * 21 + ".GabcDE." + "abcdefgh_" * 8, id="words behind what a bot's token begins with"),
        pytest.param("please phone(1234, 4155552671)", id="what a function is given, whatever it is called"),
        pytest.param("__4111111111111112__", id="between underscores and with another check digit"),
        pytest.param("passport 1 2 3 4 5 6 7", id="told one by one, and shorter than any id"),
        pytest.param("BSN 1 1 1 1 1 1 1 1 1.", id="one digit over and over is no id"),
        pytest.param("4 1 1 1  1 1 1 2", id="two rows, and fewer digits than a card or a telephone"),
        pytest.param("4 1 1 1 1 1 1   2 2 2", id="a row by itself, and another"),
        pytest.param("4 1 1 1  1 1 1 1  1 1 1 1  1 1 1 2", id="in rows and with another check digit"),
    ],
)
def test_it_stays(text: str) -> None:
    assert find(text) == []


def weighed_out() -> Weighing:
    weighing = Weighing()
    weighing.count = MOST_WEIGHED
    return weighing


def test_behind_as_many_as_are_weighed_what_may_be_one_is_taken_for_one() -> None:
    told, iban = "tel 4 1 5 5 5 5 2 6 7 1", "DE89 3704 0044 0532 0130 01"
    assert list(ibans(iban)) == []
    assert list(ibans(iban, weighed_out())) == [Found(0, len(iban), "iban")]
    assert list(told_numbers(told, weighed_out())) == [Found(4, len(told), "phone")]


def test_behind_too_many_credentials_all_of_a_text_is_taken_for_one() -> None:
    url = "https://kim:hunter22@example.com/x "
    assert len(credentials_in(url * 100)) == 100
    ((start, end),) = credentials_in(url * 20_001)
    assert (start, end) == (len("https://kim:"), 20_001 * len(url))


def test_where_each_find_uncovers_the_next_what_is_behind_the_last_look_goes_whole() -> None:
    secret = "aB3" + "xY7zQ" * 7 + "kL"
    assert len(secret) == 40
    # An id is as near to its word as it has to be when the secret between them is gone, and the next secret as near to
    # the last when the id between them is.
    between = "then he went on and on about it all day and all of the night"
    text = "aws " + f"BSN abcdef {secret} 111222333 {between} " * 8 + "the end"
    found = find(text)
    assert [each.kind for each in found] == ["cloud_key", "national_id"] * 4
    assert [each.end - each.start for each in found[:-1]] == [40, 9] * 3 + [40]
    assert found[-1].end == len(text)


def _exhausted(*_: object) -> bool:
    raise MemoryError


def test_memory_that_is_not_there_is_no_word_on_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    stdnum, plans = ModuleType("stdnum.exhausted"), ModuleType("phonenumbers")
    monkeypatch.setattr(stdnum, "is_valid", _exhausted, raising=False)
    for name in ("parse", "is_possible_number"):
        monkeypatch.setattr(plans, name, _exhausted, raising=False)
    monkeypatch.setitem(sys.modules, "stdnum.exhausted", stdnum)
    monkeypatch.setitem(sys.modules, "phonenumbers", plans)
    with pytest.raises(MemoryError):
        checks("exhausted", "1")
    with pytest.raises(MemoryError):
        is_possible("+4930901820")
