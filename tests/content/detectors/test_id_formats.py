"""Ids of persons as stdnum itself writes them, compact, and with any usual mark, beside a word: each is found whole."""

# ruff: noqa: RUF001 - words of other scripts, in their own letters

import importlib
import random
import re
from collections.abc import Iterator
from functools import cache

import pytest

from agent.content.detectors import find
from agent.content.detectors.check_digits import checks
from agent.content.detectors.lettered_ids import _SHAPES
from agent.content.detectors.national_ids import _IDS

# Each module with a word of its country for it.
WORDS = dict(
    line.split(maxsplit=1)
    for line in """
    cn.ric 身份证
    fr.nir NIR
    be.nn rijksregisternummer
    br.cpf CPF
    pl.pesel PESEL
    tr.tckimlik kimlik
    de.idnr Steuer-ID
    hr.oib OIB
    lt.asmens asmens kodas
    ee.ik isikukood
    lv.pvn personas kods
    no.fodselsnummer fødselsnummer
    nl.bsn BSN
    pt.nif NIF
    gb.nhs NHS number
    in_.aadhaar Aadhaar
    kr.rrn 주민등록번호
    dk.cpr CPR
    se.personnummer personnummer
    cz.rc rodné číslo
    sk.rc rodné číslo
    ro.cnp CNP
    bg.egn ЕГН
    si.emso EMŠO
    gr.amka ΑΜΚΑ
    il.idnr תעודת זהות
    za.idnr identity number
    ch.ssn AHV
    at.vnr SVNR
    ar.cuit CUIL
    cl.rut RUT
    co.nit NIT
    ca.sin SIN
    au.tfn TFN
    nz.ird IRD
    th.pin เลขประจำตัว
    my.nric MyKad
    jp.in_ マイナンバー
    ua.rntrc РНОКПП
    is_.kennitala kennitala
    id.nik NIK
    do.cedula cédula
    ec.ci cédula
    pe.cui DNI
    ru.inn ИНН
    snils СНИЛС
    it.codicefiscale codice fiscale
    mx.curp CURP
    fi.hetu hetu
    es.dni DNI
    es.nie NIE
    ie.pps PPS
    pt.cc identificação
    singapore NRIC
    taiwan 身分證
    ve.rif cédula
    """.strip().splitlines()
)
OURS = {"singapore": ("S1234567D",), "taiwan": ("A123456789",), "snils": ("112-233-445 95", "11223344595")}
MODULES = sorted({*(each.module for each in _IDS), *(each.module for each in _SHAPES)})
# A letter each that is tried for A, a digit for 0; of ids that are of more letters stdnum's own examples stand.
LETTERED = {
    "es.dni": "00000000A",
    "es.nie": "X0000000A",
    "ie.pps": "0000000A",
    "fi.hetu": "000000-000A",
    "pt.cc": "000000000AA0",
    "cl.rut": "00000000K",
    "ve.rif": "V000000000",
    "singapore": "S0000000A",
    "fr.nir": "100002A00000000",
    "taiwan": "A100000000",
}
MOST_TRIES = 200_000
_VALID = re.compile(r">>> (?:validate|compact|is_valid)\('([^']+)'\)")
_COUNTRY = re.compile(r"\A(?:CL|LV|NZ|PT|EC|DO|RO|HR|IE)[ -]?(?=[0-9])")
_MARK = re.compile(r"(?<=\w)[ .\-](?=\w)")


def drawn(module: str, template: str) -> str | None:
    """A number of ``module`` like ``template``, by trying."""
    rolled = random.Random(f"{module} {template}")
    for _ in range(MOST_TRIES):
        tried = "".join(
            rolled.choice("0123456789")
            if each == "0"
            else rolled.choice("ABCDEFGHJKLMNPQRSTUVWXYZ")
            if each == "A"
            else each
            for each in template
        )
        if checks(module, tried):
            return tried
    return None


def lengths(module: str) -> set[int]:
    shapes = "|".join(each.shapes.pattern for each in _IDS if each.module == module)
    return {int(each) for each in shapes.split("|") if each.isdigit()}


def is_of_a_company(module: str, number: str) -> bool:
    """Whether it is an example of what these two modules hold beside numbers of persons."""
    return bool((module == "lv.pvn" and number[0] > "3") or (module == "ru.inn" and len(number) == 10))


@cache
def numbers(module: str) -> tuple[str, ...]:
    """Right numbers of ``module``: some that were drawn, and the examples of stdnum's own pages."""
    # Of eighteen digits that are drawn one in 60 000 is right: a place and a century help.
    templates = [
        "1101051980".ljust(18, "0") if length == 18 else "0" * length for length in sorted(lengths(module))
    ] + [LETTERED[each] for each in LETTERED if each == module]
    held = {number for template in templates if (number := drawn(module, template)) is not None}
    if module in OURS:
        return (*sorted(held), *OURS[module])
    page = importlib.import_module(f"stdnum.{module}").__doc__ or ""
    examples = (_COUNTRY.sub("", each) for each in _VALID.findall(page))
    return (*sorted(held), *(each for each in examples if checks(module, each) and not is_of_a_company(module, each)))


def writings(module: str) -> Iterator[str]:
    """Each of ``numbers`` as it is, compact, as stdnum formats it, and that with one usual mark all along."""
    stdnum = None if module in OURS else importlib.import_module(f"stdnum.{module}")
    for number in numbers(module):
        formats = {number}
        if stdnum is not None:
            formats |= {stdnum.compact(number)} if hasattr(stdnum, "compact") else set()
            formats |= {stdnum.format(number)} if hasattr(stdnum, "format") else set()
        for written in sorted(formats):
            yield written
            if "+" not in written and module != "fi.hetu":
                yield from (_MARK.sub(mark, written) for mark in " -.")


@pytest.mark.parametrize("module", MODULES)
def test_an_id_is_found_whole_however_its_marks_are_written(module: str) -> None:
    assert numbers(module)
    missed = [
        text
        for written in sorted(set(writings(module)))
        for text in (f"{WORDS[module]}: {written}", f"{WORDS[module]} {written}.", f"{WORDS[module]} {written}, ok")
        if written not in [text[each.start : each.end] for each in find(text)]
    ]
    assert missed == []
