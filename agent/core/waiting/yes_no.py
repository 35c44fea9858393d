"""Reads a yes or a no that is nearly the whole message. Both, a yes with a but, and a no with a wish are neither.

"Ok" and "right" open a sentence as often as they agree: they are a yes where nothing else is said, not even a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from agent.core.waiting.beside import Vocabulary, is_known
from agent.core.waiting.said import clauses, is_question, pieces
from agent.core.waiting.words import IN_NAMES, NEITHER, NO, POLITE, WEAK_YES, YES, one_of

_STRONG_YES: Final = re.compile(rf"(?<!\w)(?:{one_of(YES - WEAK_YES - IN_NAMES)})(?!\w)", re.IGNORECASE)
_HEDGE: Final = re.compile(
    r"\b(?:but|if(?! possible)|unless|depends?|maybe|perhaps|probably|might|not sure|only|except|either|whatever"
    r"|why not|don'?t (?:know|care|mind)|doesn'?t matter|aber|wenn|vielleicht|mais|peut-être|pero|tal vez)\b"
    r"|但是|如果|也许|でも|たぶん",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(r"n't\b|\b(?:not|no|never|without|nicht|kein\w*|pas|nada|niet|geen)\b", re.IGNORECASE)
_NEGATED: Final = re.compile(rf"\b\w+n't\b|{_NEGATION.pattern}", re.IGNORECASE)
_CORRECTS: Final = re.compile(r"\b(?:i meant?|wait|sorry|oops|actually|correction)\b", re.IGNORECASE)
_TURNS: Final = re.compile(r"\b(?:i meant?|wait|oops|correction)\b[\s.!]*\Z", re.IGNORECASE)
# What was said before the yes or the no, and does not change it.
_LEAD: Final = re.compile(
    rf"\s*(?:(?:{one_of(POLITE)}|and|i mean|i meant|wait|sorry|oops|actually|correction)(?!\w)[,\s]*)*", re.IGNORECASE
)
_NEITHER: Final = re.compile(rf"(?:{one_of(NEITHER)})(?!\w)", re.IGNORECASE)
# "I do" is a yes where nothing follows: "I would like to go" is none.
_SENTENCES: Final = frozenset(word for word in YES | NO if re.match(r"(?:i|it|they|we|that)\b", word))
_WHOLE: Final = rf"(?:{one_of(_SENTENCES & YES)})(?=[\s,]*(?:(?:{one_of(POLITE)})[\s,]*)*\Z)"
_YES: Final = re.compile(rf"(?<![\w'])(?:(?:{one_of(YES - _SENTENCES)})(?![\w'])|{_WHOLE})", re.IGNORECASE)
_NO: Final = re.compile(rf"(?:{one_of(NO)})(?![\w'])", re.IGNORECASE)
_TAIL: Final = re.compile(rf"[\s,]*(?:(?:{one_of(POLITE)}|wait|sorry|actually)(?!\w)[\s,]*)*", re.IGNORECASE)
_WEAK: Final = re.compile(rf"[\s,]*(?:(?:{one_of(WEAK_YES | POLITE)})(?!\w)[\s,]*)*", re.IGNORECASE)
_AGREES: Final = re.compile(rf"[\s,]*(?:(?:{one_of(YES | POLITE)})(?!\w)[\s,]*)*", re.IGNORECASE)

_Said = Literal["yes", "no", "denies", "agrees", "open"]


def yes_or_no(text: str, known: Vocabulary) -> bool | None:
    """What ``text`` answers to a question for yes or no; None where it leaves that open."""
    if _HEDGE.search(text):
        return None
    whole = list(_clauses(text))
    if any(is_asked for _, is_asked in whole) and all(
        is_asked or _WEAK.fullmatch(clause) for clause, is_asked in whole
    ):
        return None
    answer: bool | None = None
    corrects = False
    for clause in (clause for clause, is_asked in whole if not is_asked):
        if _TAIL.fullmatch(clause):
            corrects = corrects or _CORRECTS.search(clause) is not None
            continue
        said = _said(clause, known)
        corrects = corrects or _CORRECTS.match(clause.lstrip()) is not None
        if said in {"yes", "no"}:
            if answer not in {None, said == "yes"} and not corrects:
                return None
            answer = said == "yes"
        elif answer is not (said == "agrees") or said == "open":
            # "No, with a terrace": which of the two holds is not said. "No, I don't need one" is a no.
            return None
        corrects = _CORRECTS.search(clause) is not None
    return None if _TURNS.search(text) else answer


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """The clauses of ``text``, and whether each is a question."""
    for start, end in pieces(text):
        if is_question(text, start, end):
            yield text[start:end], True
        else:
            yield from ((text[begin:close], False) for begin, close in clauses(text, start, end))


def _said(clause: str, known: Vocabulary) -> _Said:
    """The yes or no that the clause begins with, where the rest of it says nothing else."""
    start = _LEAD.match(clause)
    place = start.end() if start else 0
    if _NEITHER.match(clause, place):
        return "open"
    denies, grants = _NO.match(clause, place), _YES.match(clause, place)
    if denies is not None and (grants is None or denies.end() >= grants.end()):
        return _denied(denies[0].casefold(), clause[denies.end() :], known)
    rest = clause[grants.end() :] if grants is not None else clause
    if grants is not None and grants[0].casefold() in WEAK_YES and not _AGREES.fullmatch(rest):
        return "open"
    negated = _NEGATION.search(rest) is not None
    if not _is_known(rest, known) or (grants is not None and negated):
        return "open"
    return "yes" if grants is not None else ("denies" if negated else "agrees")


def _denied(no: str, rest: str, known: Vocabulary) -> _Said:
    """What a clause says that begins with ``no``: "I don't need one" is about what was asked only behind a no."""
    if _TAIL.fullmatch(rest):
        return "no"
    if _STRONG_YES.search(rest) or not is_known(_NEGATED.sub(" ", rest), known):
        return "open"
    return "no" if _NEGATION.search(rest) else ("denies" if no in _SENTENCES else "open")


def _is_known(rest: str, known: Vocabulary) -> bool:
    """Whether ``rest``, without its negations and what else agrees, has only words that say nothing of their own."""
    return is_known(_YES.sub(" ", _NEGATED.sub(" ", rest)), known)
