"""What python-stdnum and phonenumbers raise on a text says that a number does not check, and stops no capture."""

import random
import re
import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.content.detectors import find
from agent.content.detectors.check_digits import checks
from agent.content.detectors.lettered_ids import _SHAPES
from agent.content.detectors.national_ids import _IDS, _Id
from agent.content.detectors.numbering_plans import is_possible, is_valid_in

# Rules of our own are asked of what has their shape alone.
OURS = {"singapore", "taiwan", "snils"}
MODULES = sorted({*(each.module for each in _IDS), *(each.module for each in _SHAPES)} - OURS)
digits = st.text(st.characters(categories=["Nd", "No", "Nl"]), min_size=1, max_size=20)
words = st.sampled_from(["", "身份证 ", "DNI ", "BSN: ", "phone ", "card ", "+", "ЕГН ", "kennitala "])


def test_a_number_that_stdnum_cannot_look_up_is_no_id() -> None:
    assert find("313055013002026225") == []
    assert find("身份证 313055013002026225") == []


@pytest.mark.parametrize("of_ids", _IDS, ids=lambda each: each.module)
def test_random_digits_of_every_shape_are_an_id_or_none(of_ids: _Id) -> None:
    rolled = random.Random(of_ids.module)
    for shape in of_ids.shapes.pattern.replace("[ .-]", "-").replace("(?:-2)?", "").split("|"):
        for _ in range(2000):
            written = re.sub(
                "[0-9]+",
                lambda length: "".join(rolled.choices("0123456789", k=int(length[0]))),
                re.sub(r"\[(\d)\d\]", r"\1", shape),
            )
            assert checks(of_ids.module, written) in {True, False}


@given(st.sampled_from(MODULES), st.one_of(st.text(max_size=20), digits))
def test_any_text_is_an_id_or_none(module: str, written: str) -> None:
    assert checks(module, written) in {True, False}


@given(words, digits)
def test_digits_of_any_script_are_looked_at(word: str, written: str) -> None:
    assert all(hit.end <= len(word + written) for hit in find(f"{word}{written}"))


@given(st.one_of(st.text(max_size=20), digits))
def test_any_text_is_in_a_numbering_plan_or_in_none(written: str) -> None:
    assert is_possible(written) in {True, False}
    assert is_valid_in("DE", written) in {True, False}


class Raising(ModuleType):
    """A library that raises whatever it is asked."""

    def __getattr__(self, name: str) -> object:
        raise ZeroDivisionError(name)


def test_what_a_library_raises_that_nobody_foresaw_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "phonenumbers", Raising("phonenumbers"))
    assert not is_possible("+4930901820")
    assert not is_valid_in("DE", "030901820")
