"""What is never told as an entity beside what the detectors of the content policy find: what only looks like it.

The beginning of a key, a token that is cut off, any number that adds up as cards do.

An entity list is made to be searched, counted and passed on; a secret that it repeated would be in one place more.
This is no redaction: the content keeps what the policy leaves in it (CONTRACT 8), and a secret in a form that is not
known here may have the form of an entity (a password that looks like a path).
"""

from __future__ import annotations

import re
from typing import Final

from agent.entities.rule import OTHER, Rule, Rules, Scan

_HIDDEN: Final = ""
_EACH_COUNTRIES: Final = (
    "AD AE AL AT AZ BA BE BG BH BR BY CH CR CY CZ DE DK DO EE EG ES FI FO FR GB GE GI GL GR GT HR HU IE IL IQ IS "
    "IT JO KW KZ LB LC LI LT LU LV LY MC MD ME MK MR MT MU NL NO PK PL PS PT QA RO RS SA SC SE SI SK SM TN TR UA "
    "VA VG XK"
)
_COUNTRIES: Final = frozenset(_EACH_COUNTRIES.split())
_DIGITS: Final = re.compile(r"\D")
_TOKENS: Final = ("sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghs_", "github_pat_", "xox", "glpat-", "hf_", "npm_")


def _is_card(found: re.Match[str]) -> bool:
    digits = [int(each) for each in _DIGITS.sub("", found[0])]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_account(found: re.Match[str]) -> bool:
    country = found.string[found.start() - 2 : found.start()]
    if country not in _COUNTRIES:
        return False
    number = found[0].replace(" ", "")
    # ISO 13616: letters count from ten, and the whole leaves one when it is divided by 97.
    return int("".join(str(int(each, 36)) for each in number[2:] + country + number[:2])) % 97 == 1


_CARD_NUMBER: Final = re.compile(
    r"(?<![\w.+-])(?:\d{13,19}|\d{4}(?:[ -]\d{4}){2,3}[ -]\d{1,7}|\d{4}[ -]\d{6}[ -]\d{4,5})(?![\w-])"
)
_CARD: Final = (Rule(0, _CARD_NUMBER, _HIDDEN, 0, _is_card),)
_IBAN: Final = (
    Rule(0, re.compile(r"(?<=[A-Z][A-Z])(?<![A-Z]..)\d\d(?: ?[A-Z0-9]){11,30}(?!\w)"), _HIDDEN, 0, _is_account),
)

RULES: Final = Rules(
    words={},
    numbers={" ": (*_CARD, *_IBAN), "-": _CARD, OTHER: (*_CARD, *_IBAN)},
    scans=(
        Scan(("eyJ",), Rule(0, re.compile(r"eyJ[\w-]{8,2000}\.[\w.-]{4,2000}"), _HIDDEN)),
        Scan(_TOKENS, Rule(0, re.compile(r"[spghxn][kphilotxan][\w-]{14,300}"), _HIDDEN)),
        Scan(("AKIA", "ASIA", "AIza"), Rule(0, re.compile(r"A[KSI][\w-]{14,60}"), _HIDDEN)),
        Scan(("-----BEGIN",), Rule(0, re.compile(r"-----BEGIN [^\n]{1,80}"), _HIDDEN)),
        # A password in an address hides the whole of it, from the signs behind its scheme.
        Scan(("://",), Rule(0, re.compile(r"://[^\s/@:]{0,128}:[^\s/@]{1,256}@[^\s\"'<>]{1,512}"), _HIDDEN)),
    ),
)
