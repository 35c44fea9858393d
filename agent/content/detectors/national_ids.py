"""Numbers that a state gives to a person and that check themselves.

One that is written as only such numbers are is taken alone; a bare run of digits only beside a word for it, and so is
one that may as well be a time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from agent.content.detectors.check_digits import checks
from agent.content.detectors.number import Number


class _Id(NamedTuple):
    """``module`` as in ``checks``; ``shapes``: as ``Number.shape``; ``alone``: those that need no word."""

    module: str
    shapes: re.Pattern[str]
    alone: re.Pattern[str]


def _id(module: str, shapes: str, alone: str = r"(?!)") -> _Id:
    # Beside a word any usual mark stands for another: people write what their keyboard has.
    return _Id(module, re.compile(shapes.replace("_", "[ .-]")), re.compile(alone))


# How the number is written, with _ for a mark, and which of these ways nothing else is written in.
_IDS: Final = (
    _id("cn.ric", "18|6_8_4", "18"),
    _id("fr.nir", "15|13_2|1_2_2_2_3_3(?:_2)?", "15|13 2|1 2 2 2 3 3 2"),
    _id("be.nn", "11|6_3_2|2_2_2_3_2", r"2\.2\.2-3\.2|6-3[.-]2"),
    _id("br.cpf", "11|3_3_3_2|9_2", r"3\.3\.3-2"),
    _id("pl.pesel", "11"),
    _id("tr.tckimlik", "11|3_3_3_2|3_2_3_3"),
    _id("de.idnr", "11|2_3_3_3|2/3/3/3|3_3_3_2"),
    _id("hr.oib", "11"),
    _id("lt.asmens", "11"),
    _id("ee.ik", "11"),
    _id("lv.pvn", "11|6_5"),
    _id("no.fodselsnummer", "11|6_5", "6 5"),
    _id("nl.bsn", "9|8|4_2_3|3_3_3"),
    _id("pt.nif", "9|3_3_3"),
    _id("gb.nhs", "10|3_3_4"),
    _id("in_.aadhaar", "12|4_4_4"),
    _id("kr.rrn", "13|6_7", "6-7"),
    _id("se.personnummer", "10|12|6_4|8_4", "6-4|8-4"),
    _id("dk.cpr", "10|6_4"),
    _id("cz.rc", "10|9|6/4|6/3|6_4|6_3", "6/4"),
    _id("sk.rc", "10|9|6/4|6/3|6_4|6_3", "6/4"),
    _id("ro.cnp", "13", "13"),
    _id("bg.egn", "10|6_3_1|6_4"),
    _id("si.emso", "13", "13"),
    _id("gr.amka", "11"),
    _id("il.idnr", "9|[78]_1"),
    _id("za.idnr", "13|6_4_2_1|6_4_3", "13|6 4 2 1|6 4 3"),
    _id("ch.ssn", "13|3_4_4_2", r"13|3\.4\.4\.2|3 4 4 2"),
    _id("at.vnr", "10|4_6"),
    _id("ar.cuit", "11|2_8_1", "2-8-1"),
    _id("cl.rut", "9|8|[78]_1|[12]_3_3_1", r"2\.3\.3-1|1\.3\.3-1"),
    _id("co.nit", "10|9_1|3_3_3_1"),
    _id("ca.sin", "9|3_3_3"),
    _id("au.tfn", "9|3_3_3"),
    _id("nz.ird", "9|8|[23]_3_3"),
    _id("th.pin", "13|1_4_5_2_1", "1[- ]4[- ]5[- ]2[- ]1"),
    _id("my.nric", "12|6_2_4", "6-2-4"),
    _id("jp.in_", "12|4_4_4"),
    _id("ua.rntrc", "10"),
    _id("is_.kennitala", "10|6_4", "6-4"),
    _id("id.nik", "16|4_4_4_4"),
    _id("do.cedula", "11|3_7_1"),
    _id("ec.ci", "10|9_1"),
    _id("pe.cui", "8|9|8_1"),
    _id("ru.inn", "12"),
    _id("snils", "11|3_3_3_2"),
)
# The digits of a time since 1970 and what one second has of it: a record has it everywhere, and one of them in ten
# checks as the number of a person by some country's rule.
_OF_A_SECOND: Final = {10: 1, 13: 10**3, 16: 10**6, 19: 10**9}
# 9 September 2001, from which on it has so many digits, and 31 December 2039.
_EPOCH: Final = range(1_000_000_000, 2_208_988_800)


def is_national_id(number: Number, *, has_word: bool) -> bool:
    """Whether ``number`` is one that a state gives, and checks; ``has_word``: a word nearby says so."""
    if len(set(number.digits)) == 1:
        return False
    if number.is_plain and not has_word and _is_time(number.digits):
        return False
    return any((has_word or alone) and checks(module, number.written) for module, alone in _of_shape(number.shape))


def is_told_id(digits: str) -> bool:
    """Whether ``digits``, told one by one, are a number that a state gives; a word nearby has to say so."""
    if not 8 <= len(digits) <= 18 or len(set(digits)) == 1:
        return False
    length = str(len(digits))
    return any(checks(each.module, digits) for each in _IDS if each.shapes.fullmatch(length) is not None)


def may_be_national_id(number: Number) -> bool:
    """Whether it is worth looking for a word."""
    return 8 <= len(number.digits) <= 18 and bool(_of_shape(number.shape))


@lru_cache(maxsize=1024)
def _of_shape(shape: str) -> tuple[tuple[str, bool], ...]:
    """The modules of the ids that are written so, and whether one needs no word: texts repeat few shapes."""
    return tuple(
        (each.module, each.alone.fullmatch(shape) is not None)
        for each in _IDS
        if each.shapes.fullmatch(shape) is not None
    )


def _is_time(digits: str) -> bool:
    """Whether ``digits`` may be a time from 2001 to 2039, in seconds, ms, us or ns."""
    of_a_second = _OF_A_SECOND.get(len(digits))
    return of_a_second is not None and int(digits) // of_a_second in _EPOCH
