"""Reads a yes or a no. Both, a yes with a but, and a no with a wish behind it are neither."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.core.waiting.said import clauses, is_question, pieces
from agent.core.waiting.words import NEITHER, NO, POLITE, YES, one_of

_HEDGE: Final = re.compile(
    r"\b(?:but|if(?! possible)|unless|depends?|maybe|perhaps|probably|might|not sure|only|except|either|whatever"
    r"|why not|don't (?:know|care|mind)|doesn't matter|aber|wenn|vielleicht|mais|peut-être|pero|tal vez)\b"
    r"|但是|如果|也许|でも|たぶん",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(r"n't\b|\b(?:not|no|never|without|nicht|kein\w*|pas|nada|niet|geen)\b", re.IGNORECASE)
_CORRECTS: Final = re.compile(r"\b(?:i meant?|wait|sorry|oops|actually|correction)\b", re.IGNORECASE)


# What was said before the yes or the no, and does not change it.
_LEAD: Final = re.compile(
    rf"\s*(?:(?:{one_of(POLITE)}|and|i mean|i meant|wait|sorry|oops|actually|correction)(?!\w)[,\s]*)*", re.IGNORECASE
)
_NEITHER: Final = re.compile(rf"(?:{one_of(NEITHER)})(?!\w)", re.IGNORECASE)
# "I do" is a yes where nothing follows: "I would like to go" is none.
_SENTENCES: Final = frozenset(word for word in YES | NO if re.match(r"(?:i|it|they|we|that)\b", word))
_WHOLE: Final = rf"(?:{one_of(_SENTENCES & YES)})(?=[\s,]*(?:(?:{one_of(POLITE)})[\s,]*)*\Z)"
_YES: Final = re.compile(rf"(?:(?:{one_of(YES - _SENTENCES)})(?![\w'])|{_WHOLE})", re.IGNORECASE)
_NO: Final = re.compile(rf"(?:{one_of(NO)})(?![\w'])", re.IGNORECASE)
_TAIL: Final = re.compile(rf"[\s,]*(?:(?:{one_of(POLITE)}|wait)(?!\w)[\s,]*)*", re.IGNORECASE)


def yes_or_no(text: str) -> bool | None:
    """What ``text`` answers to a question for yes or no; None where it leaves that open."""
    if _HEDGE.search(text):
        return None
    answer: bool | None = None
    agrees, corrects = True, False
    for clause in _clauses(text):
        said = _said(clause)
        corrects = corrects or _CORRECTS.match(clause.lstrip()) is not None
        if said is None:
            # "No, with a terrace": which of the two holds is not said. "No, I don't need one" is a no.
            agrees = agrees and answer is not None and answer is not bool(_NEGATION.search(clause))
        elif corrects:
            answer, agrees = said, True
        elif answer in {None, said}:
            answer = said
        else:
            return None
        corrects = _CORRECTS.search(clause) is not None
    return answer if agrees else None


def _clauses(text: str) -> Iterator[str]:
    for start, end in pieces(text):
        if is_question(text, start, end):
            continue
        for begin, close in clauses(text, start, end):
            clause = text[begin:close]
            if not _TAIL.fullmatch(clause):
                yield clause


def _said(clause: str) -> bool | None:
    """The yes or no that the clause begins with, and that nothing after it in the clause takes back."""
    start = _LEAD.match(clause)
    place = start.end() if start else 0
    if _NEITHER.match(clause, place):
        return None
    denies, grants = _NO.match(clause, place), _YES.match(clause, place)
    if denies is not None and (grants is None or denies.end() >= grants.end()):
        rest = clause[denies.end() :]
        return False if _TAIL.fullmatch(rest) or _NEGATION.search(rest) else None
    if grants is None or _NEGATION.search(clause, grants.end()):
        return None
    return True
