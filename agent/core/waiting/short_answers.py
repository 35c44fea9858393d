"""Reads a short answer in words, for a parameter of type ``string``: a value that stands alone or in a usual frame.

Whoever says more than that says more than a value, and nothing is read: two statements, another frame, a name that is
spoken to. A value comes back in the letters that it was written in.
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.waiting.bare_value import is_bare_value
from agent.core.waiting.frames import Framed, is_name, trimmed, trimmed_marks, unframed
from agent.core.waiting.hint import Hint, is_one_of
from agent.core.waiting.said import Found, Part, is_question, parts, pieces, statements
from agent.core.waiting.words import COURTESY, GREETINGS, IN_NAMES, KINDS, NEITHER, THINGS, YES, one_of, ordered

_LONGEST_QUOTED: Final = 200
_QUOTED: Final = re.compile(r"(?:(?<=\s)|\A)(?P<mark>[\"'`])(?P<value>\S(?:.*\S)?)(?P=mark)[\s.!,]*\Z", re.DOTALL)
_ARTICLE: Final = re.compile(r"(?P<article>a|an|some|the) (?=\S)", re.IGNORECASE)
_NOUN_BEFORE: Final = re.compile(r"([a-z]+)(?: of)? (?=[A-Z0-9])")
_WORD: Final = re.compile(r"\S+")
_PART: Final = re.compile(r"[^\n]+")
_ADDRESS: Final = re.compile(
    rf"\b(?:{one_of((COURTESY | GREETINGS) - frozenset(ordered('please pls plz')))})\b", re.IGNORECASE
)
_AGREES: Final = re.compile(rf"(?<!\w)(?:{one_of(YES)})(?!\w)", re.IGNORECASE)
# Behind a value: it is taken back, or another one follows.
_TAKES_BACK: Final = re.compile(r"\b(?:no|nope|nah|not|wait|oops|correction|wrong|i meant?)\b", re.IGNORECASE)
_ANOTHER: Final = re.compile(r"(?:not|never|instead of|rather than|other than)\s+(?P<value>\S.*)", re.IGNORECASE)
_IS_NEITHER: Final = re.compile(rf"\s*(?:{one_of(NEITHER)})\b", re.IGNORECASE)


def short_answer(text: str, plain: str, hint: Hint) -> Found | None:
    """The value of ``text``, ``plain`` when folded, if it states one value in its frame and nothing else.

    Questions may stand beside the value.
    """
    stated = [piece for piece in pieces(plain) if not is_question(plain, *piece)]
    sentences = [(piece[0], *trimmed(plain, *piece, hint)) for piece in stated]
    sentences = [each for each in sentences if each[1] < each[2]]
    if len(sentences) != 1 or _IS_NEITHER.match(plain, sentences[0][0]):
        return None
    opening, start, end = sentences[0]
    if any(_TAKES_BACK.search(plain, *piece) for piece in stated if piece[0] > opening):
        return None
    quoted = _quoted(plain, start, end, hint)
    if quoted is not None:
        return Found(*quoted, text[slice(*quoted)]) if _is_outright(plain, start, *quoted) else None
    said = statements(plain)
    start, end = _said_of_it(plain, said, start, end, hint)
    for framed in unframed(said, start, end, hint):
        value = _value(said, framed, hint)
        if value is not None and not (value[0] == start and _is_addressed(plain[opening:start], plain[start])):
            return Found(*value, text[slice(*value)])
    return None


def _is_addressed(before: str, first: str) -> bool:
    """Whether words behind ``before``, of which ``first`` is the first letter, are for who is spoken to.

    The name in "Thanks, Nate" and "Hey John", and a cry: "Sure, jackpot". "Sure, San Jose" is an answer.
    """
    return _ADDRESS.search(before) is not None or (first.islower() and _AGREES.search(before) is not None)


def _said_of_it(plain: str, said: str, start: int, end: int, hint: Hint) -> tuple[int, int]:
    """The part of a sentence that is left without what it denies, if it is one and that does not take it back."""
    left = [match.span() for match in _PART.finditer(said, start, end) if match[0].strip(" ,;:.-")]
    if len(left) != 1:
        return start, start
    begin, close = trimmed_marks(said, *left[0])
    for part in parts(plain):
        if part.kind != "said" and start <= part.start < end and not _denies_another(plain, part, close, hint):
            return start, start
    return begin, close


def _denies_another(plain: str, part: Part, close: int, hint: Hint) -> bool:
    """Whether a part that is not said outright denies another value, and leaves the one that ends at ``close``."""
    if part.kind == "denied" and part.end <= close:
        return True
    another = _ANOTHER.match(plain, part.start, part.end) if part.kind == "denied" else None
    return another is not None and is_bare_value(another["value"].strip(" .,!"), hint)


def _is_outright(plain: str, start: int, opening: int, closing: int) -> bool:
    """Whether what leads to the quotes is said outright, whatever the words inside of them are; not for no quotes."""
    masked = f"{plain[:opening]}{'x' * (closing - opening)}{plain[closing:]}"
    return opening < closing and "\n" not in statements(masked)[start:opening]


def _quoted(plain: str, start: int, end: int, hint: Hint) -> tuple[int, int] | None:
    """The place of what stands in quotes at the end, where what leads to it is a frame; an empty place where not."""
    quoted = _QUOTED.search(plain[start:end])
    if quoted is None:
        return None
    value = start + quoted.start("value"), start + quoted.end("value")
    before = plain[start : start + quoted.start()]
    one = quoted["mark"] not in quoted["value"].replace("n't", "") and value[1] - value[0] <= _LONGEST_QUOTED
    # The frame is asked with a word in the place of the quotes.
    stand_in = f"{re.sub(r' (?:the|a|an) ?$', ' ', before)}Xx"
    framed = [stand_in[each.start : each.end] for each in unframed(stand_in, 0, len(stand_in), hint)]
    last = before.split()[-1:] or [""]
    return value if one and ("Xx" in framed or is_one_of(last[0], hint.own_words)) else (start, start)


def _value(said: str, framed: Framed, hint: Hint) -> tuple[int, int] | None:
    """The place of the value in ``framed``, without its article and without what it is called; None if it is none."""
    start, end = framed.start, framed.end
    match = _ARTICLE.match(said, start, end)
    article = match["article"].casefold() if match else ""
    if match is not None and article == "the" and said[match.end()].isupper():
        return (start, end) if is_name(hint) and is_bare_value(said[match.end() : end], hint) else None
    start = _after_its_noun(said, match.end() if match else start, end, hint)
    end = _without_stray_quote(said, start, end)
    named = _without_its_noun(said, start, end, hint)
    if named is None or (named == end and _may_be_another_thing(said[start], article, framed, hint)):
        return None
    opens = framed.start == 0 or said[framed.start - 1] in "\n.!?"
    value = said[start:named]
    is_value = not _is_mixed(value.split(), opens=opens) and is_bare_value(value, hint, is_noun=bool(article))
    return (start, named) if is_value else None


def _may_be_another_thing(first: str, article: str, framed: Framed, hint: Hint) -> bool:
    """Whether what begins with ``first``, and does not say what it is, is no answer in this frame.

    "I want a refund" and "it's lovely" are none, and "find flights" is none: "find Drama" is.
    """
    if first.isupper() or article == "the":
        return False
    if article:
        return framed.frame in {"wish", "find"} or is_name(hint)
    return framed.frame in {"find", "is"}


def _after_its_noun(said: str, start: int, end: int, hint: Hint) -> int:
    """The start of the value behind the noun for what was asked: "city of X", "file X"."""
    noun = _NOUN_BEFORE.match(said, start, end)
    return noun.end() if noun is not None and is_one_of(noun[1], hint.name_words) else start


def _without_stray_quote(said: str, start: int, end: int) -> int:
    return end - 1 if end - start > 1 and said[end - 1] in "\"'`" and not said[end - 2].isspace() else end


def _without_its_noun(said: str, start: int, end: int, hint: Hint) -> int | None:
    """The end of the value without the noun that it describes, "drama" of "drama movies"; None where that is unclear.

    Only a kind describes another thing. Another value may be followed by what it is itself: "Long Beach city".
    """
    nouns = hint.own_words | THINGS if hint.name_words & KINDS else hint.name_words
    words = list(_WORD.finditer(said, start, end))
    if words and words[-1][0].islower() and is_one_of(words[-1][0], hint.own_words - nouns):
        return None
    while len(words) > 1 and is_one_of(words[-1][0], nouns):
        noun = words.pop()[0]
        if noun[0].isupper():
            return end if is_name(hint) or is_one_of(noun, hint.name_words) else None
        if is_name(hint):
            return None
        end = words[-1].end()
    return end


def _is_mixed(words: list[str], *, opens: bool) -> bool:
    """Whether a name stands among other words: "contact Julia", "Jenny Gage film". A sentence opens in upper case."""
    upper = any(word[0].isupper() for word in words[opens:])
    return upper and any(word[0].islower() and word not in IN_NAMES for word in words)
