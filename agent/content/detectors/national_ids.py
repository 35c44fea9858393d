"""Numbers that a state gives to a person and that check themselves, by python-stdnum.

One that is written as only such numbers are is taken alone; a bare run of digits only beside a word for it.
"""

from __future__ import annotations

import importlib
import re
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from agent.content.detectors.number import Number


class _Id(NamedTuple):
    """``shapes``: as ``Number.shape``; ``alone``: those that need no word."""

    module: str
    shapes: re.Pattern[str]
    alone: re.Pattern[str]


def _id(module: str, shapes: str, alone: str = r"(?!)") -> _Id:
    return _Id(module, re.compile(shapes), re.compile(alone))


# The module of stdnum, how the number is written, and which of these ways nothing else is written in.
_IDS: Final = (
    _id("cn.ric", "18|6 8 4", "18"),
    _id("fr.nir", "15|13 2|1 2 2 2 3 3(?: 2)?", "15|13 2|1 2 2 2 3 3 2"),
    _id("be.nn", r"11|2\.2\.2-3\.2|6[- ]3[- .]2|2 2 2 3 2", r"2\.2\.2-3\.2|6-3[.-]2"),
    _id("br.cpf", r"11|3\.3\.3-2|3\.3\.3\.2|3 3 3 2|9-2", r"3\.3\.3-2"),
    _id("pl.pesel", "11"),
    _id("tr.tckimlik", "11|3 3 3 2|3 2 3 3"),
    _id("de.idnr", "11|2 3 3 3|2/3/3/3|3 3 3 2"),
    _id("hr.oib", "11"),
    _id("lt.asmens", "11"),
    _id("ee.ik", "11"),
    _id("lv.pvn", "11|6-5"),
    _id("no.fodselsnummer", "11|6[ -]5", "6 5"),
    _id("nl.bsn", r"9|8|4[. ]2[. ]3|3[. ]3[. ]3"),
    _id("pt.nif", "9|3 3 3"),
    _id("gb.nhs", "10|3[ -]3[ -]4"),
    _id("in_.aadhaar", "12|4[ -]4[ -]4"),
    _id("kr.rrn", "13|6-7", "6-7"),
    _id("se.personnummer", "10|12|6-4|8-4|8 4|6 4", "6-4|8-4"),
    _id("dk.cpr", "10|6-4|6 4"),
    _id("cz.rc", "10|9|6/4|6/3|6 4", "6/4"),
    _id("sk.rc", "10|9|6/4|6/3|6 4", "6/4"),
    _id("ro.cnp", "13", "13"),
    _id("bg.egn", "10"),
    _id("si.emso", "13", "13"),
    _id("gr.amka", "11"),
    _id("il.idnr", "9|8-1"),
    _id("za.idnr", "13|6 4 2 1|6 4 3", "13|6 4 2 1|6 4 3"),
    _id("ch.ssn", r"13|3\.4\.4\.2|3 4 4 2", r"13|3\.4\.4\.2|3 4 4 2"),
    _id("at.vnr", "10|4 6"),
    _id("ar.cuit", "11|2-8-1", "2-8-1"),
    _id("cl.rut", r"9|8-1|2\.3\.3-1|1\.3\.3-1", r"2\.3\.3-1|1\.3\.3-1"),
    _id("co.nit", r"10|9-1|3\.3\.3-1"),
    _id("ca.sin", "9|3[ -]3[ -]3"),
    _id("au.tfn", "9|3 3 3"),
    _id("nz.ird", "9|8|[23]-3-3"),
    _id("th.pin", "13|1[- ]4[- ]5[- ]2[- ]1", "1[- ]4[- ]5[- ]2[- ]1"),
    _id("my.nric", "12|6-2-4", "6-2-4"),
    _id("jp.in_", "12|4[ -]4[ -]4"),
    _id("ua.rntrc", "10"),
    _id("is_.kennitala", "10|6-4", "6-4"),
    _id("id.nik", "16"),
    _id("do.cedula", "11|3-7-1"),
    _id("ec.ci", "10|9-1"),
    _id("pe.cui", "8|8-1"),
    _id("ve.rif", "9|8-1"),
)


def is_national_id(number: Number, *, has_word: bool) -> bool:
    """Whether ``number`` is one that a state gives, and checks; ``has_word``: a word nearby says so."""
    if len(set(number.digits)) == 1:
        return False
    return any((has_word or alone) and _checks(module, number.written) for module, alone in _of_shape(number.shape))


def is_told_id(digits: str) -> bool:
    """Whether ``digits``, told one by one, are a number that a state gives; a word nearby has to say so."""
    if not 8 <= len(digits) <= 18 or len(set(digits)) == 1:
        return False
    length = str(len(digits))
    return any(_checks(each.module, digits) for each in _IDS if each.shapes.fullmatch(length) is not None)


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


def checks(module: str, written: str) -> bool:
    """Whether ``written`` is right by ``stdnum.<module>``; its own separators are left out where they are unknown."""
    return _checks(module, written)


def _checks(module: str, written: str) -> bool:
    of_module = _module(module)
    return bool(of_module.is_valid(written)) or (" " in written and bool(of_module.is_valid(written.replace(" ", ""))))


@cache
def _module(name: str) -> Any:
    """Late, and each by itself: a text asks few of them."""
    return importlib.import_module(f"stdnum.{name}")
