"""What of a message counts as said: its statements, without questions, doubts, conditions and what it denies.

All of it keeps the length of the text, so that a place in what counts is a place in the text. Longer messages than
500 characters are not read: they are no answer to one question, and no search here has more than that to walk over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

LONGEST: Final = 500
# Scripts that write no blank between words, or join what follows to a word: there a value may stand anywhere.
UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Letters of scripts that write blanks, for a class of characters.
LETTERS: Final = r"A-Za-z\u00c0-\u052f"
_ALIKE: Final = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f", '"'),
    # Marks of direction and of no width say nothing.
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad", " "),
    "\u061f": "?",
    "\u060c": ",",
    "\u3001": ",",
}
_END: Final = re.compile(
    r"[!?]+(?=\s|\Z|[^\x00-\x7f])|\n+|[\u3002]+|\.{2,}|\u2026"
    r"|(?<!\b[A-Za-z])(?<!\b[SMDJFv][trs])(?<!\bMrs)(?<!\b[Nn]o)\.(?=\s)|(?<=\b[Nn]o)\.(?=\s+\D)|\.(?=\s*\Z)"
)
CLAUSE: Final = re.compile(
    r"[,;:](?=\s|\Z|[^\x00-\x7f])|\s-+\s|(?<!\banything )(?<!\beverything )(?<!\ball )\bbut\b|\n", re.IGNORECASE
)
_WH: Final = r"(?:what|which|who|whom|whose|when|where|why|how)(?:'s|'re|'d)?\b"
_AUXILIARY: Final = (
    r"(?:is|are|am|was|were|do|does|did|can|could|would|will|should|shall|may|have|has)(?:n't)? "
    r"(?:i|you|u|we|it|that|this|there|they|the|my|your|he|she|any|those|these)\b"
)
# No other sentence begins with them.
_ONLY_ASKS: Final = r"(?:is|are|was|were|does|did|ist|sind)(?:n't)? (?!not\b)\S"
_LEADS: Final = r"(?:(?:and|so|but|ok|okay|well|hmm|um|uh|oh|sorry|wait|yes|no|yeah|sure|hi|hello|hey)\b[,\s]*)*"
_QUESTION: Final = re.compile(rf"\s*{_LEADS}(?:{_WH}|{_AUXILIARY}|{_ONLY_ASKS})", re.IGNORECASE)
_REQUEST: Final = re.compile(
    rf"\s*{_LEADS}(?:(?:can|could|may) (?:i|we) (?:please )?(?:have|take|get)\b(?! (?:there|to|in|a refund))"
    r"|(?:can|could|will|would) (?:you|u) (?:please )?(?:make it|make that|use|try|find|look for|search for|play)\b)",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(r"[吗嗎呢]\s*\Z|什么|什麼|哪|怎么|怎麼|为什么|ですか|ますか|どこ|いつ|何|무엇|어디")
_DOUBT: Final = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|might|not sure|unsure|not certain|uncertain|undecided|i guess|i suppose"
    r"|i (?:think|believe)|yeah right|no (?:idea|clue)|don'?t know|do not know|dunno|idk|i'm thinking|either"
    r"|vielleicht|weiß nicht|peut-être|sais pas|quizás?|tal vez|no sé|forse|talvez)\b|也许|可能|たぶん|아마",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"\b(?:if(?! (?:possible|you can|you could|that's|that is|you don't mind))|whether|unless|depends|depending"
    r"|provided|falls (?:es|das|der|die|ich|du|er|sie|wir|ihr|man)|wenn|sauf si)\b|如果|もし",
    re.IGNORECASE,
)
# With and without its apostrophe: "isn't", "isnt".
_NOT: Final = r"(?:is|was|are|were|do|does|did|wo|would|could|should|ca|has|have|had|must|need|ai)n'?t"
_DENIED: Final = re.compile(
    r"\b(?:is|was|are|were|'s|do|does|did|will|would|could|should|can|has|have|am|'m) (?:not|never)\b|\bcannot\b"
    rf"|\b{_NOT}\b|n't\b|\b(?:wrong|incorrect|invalid|outdated|mistaken?|hate|dislike|avoid"
    r"|ne \w+ pas|nicht|falsch\w*|kein\w*|niet|geen|incorrect[ao]|equivocad[ao]|sbagliat[ao]|errad[ao]"
    r"|no (?:quiero|es)|não|не|неправильн\w*|ليس|ليست|لست)\b"
    r"|不是|不对|不對|不要|不想|别|別|错|錯|じゃない|ではない|ではなく|じゃなく|違|아니|틀",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(
    r"\b(?:not|never|neither|nor|none of|without|except(?:ing)?(?: for)?|excluding|apart from|aside from|unlike"
    r"|disregard|instead of|rather than|other than|no longer|no(?! wait\b|\.\s)"
    r"|(?:anything|everything|all) but)\b"
    r".*?(?=\b(?:it's|its|it is|i mean|i meant|make it|rather (?!than)|instead (?!of))\b|\Z)",
    re.IGNORECASE | re.DOTALL,
)
# "no" with a mark behind it takes back what was said before, and says nothing of what follows.
_NO: Final = re.compile(r"\s*(?:no|nope|nah|nein|non|não|нет|لا|不是|いいえ|아니요)\s*\Z", re.IGNORECASE)
# The words of a text: a run of a script without blanks is one.
WORD: Final = re.compile(
    rf"{UNSPACED.pattern}+|(?:(?!{UNSPACED.pattern})[^\W_])+(?:'(?:(?!{UNSPACED.pattern})[^\W_])+)*"
)


class Part(NamedTuple):
    """A part of a message: said outright, asked, denied, or left open by a doubt or a condition."""

    start: int
    end: int
    kind: Literal["said", "asked", "denied", "open"]


class Found(NamedTuple):
    """A value, and where it stands in the text. The value None: something is said there, and not one value."""

    start: int
    end: int
    value: Any


def folded(text: str) -> str:
    """``text`` in NFC with plain digits, dashes and quotes, compatible forms as their plain ones, length for length."""
    return text if text.isascii() else "".join(map(_plain, text))


def _plain(character: str) -> str:
    alike = _ALIKE.get(character)
    if alike is not None:
        return alike
    plain = unicodedata.normalize("NFKC", character)
    if len(plain) != 1:
        return character
    digit = unicodedata.decimal(plain, None)
    return plain if digit is None else str(digit)


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of ``text``, each as its start and its end before the mark that ends it; none is blank."""
    start = 0
    for mark in _END.finditer(text):
        if text[start : mark.start()].strip():
            yield start, mark.start()
        start = mark.end()
    if text[start:].strip():
        yield start, len(text)


def clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a sentence between its commas and the like; none is blank."""
    for mark in CLAUSE.finditer(text, start, end):
        if text[start : mark.start()].strip():
            yield start, mark.start()
        start = mark.end()
    if text[start:end].strip():
        yield start, end


def is_question(text: str, start: int, end: int) -> bool:
    """Whether the sentence asks something; a request in the form of a question does not."""
    sentence = text[start:end]
    if _REQUEST.match(sentence):
        return False
    return text[end : end + 1] == "?" or bool(_QUESTION.match(sentence) or _ASKING.search(sentence))


def parts(text: str) -> Iterator[Part]:
    """The parts of ``text`` in order, without the marks between them."""
    for start, end in pieces(text):
        if is_question(text, start, end):
            yield Part(start, end, "asked")
        elif _CONDITION.search(text, start, end):
            yield Part(start, end, "open")
        else:
            for clause in clauses(text, start, end):
                yield from _parts_of(text, *clause)


def _parts_of(text: str, start: int, end: int) -> Iterator[Part]:
    clause = text[start:end]
    if _NO.match(clause):
        yield Part(start, end, "said")
    elif _DOUBT.search(clause):
        yield Part(start, end, "open")
    elif _DENIED.search(clause):
        yield Part(start, end, "denied")
    else:
        denies = _DENIES.search(clause)
        if denies is None:
            yield Part(start, end, "said")
            return
        begin, close = start + denies.start(), start + denies.end()
        yield from (
            each
            for each in (Part(start, begin, "said"), Part(begin, close, "denied"), Part(close, end, "said"))
            if text[each.start : each.end].strip()
        )


def only(text: str, whole: Iterable[Part], *kinds: str) -> str:
    """``text`` with line breaks in place of the parts that are of none of ``kinds``; the marks between them stay."""
    left = list(text)
    for each in whole:
        if each.kind not in kinds:
            left[each.start : each.end] = "\n" * (each.end - each.start)
    return "".join(left)


def statements(text: str) -> str:
    """``text`` with line breaks in place of all that is not said outright: values are looked for in what is left."""
    return only(text, parts(text), "said")
