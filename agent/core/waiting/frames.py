"""Takes the usual frame of a short answer away: "I'd like to go to X, please", "X would be great", "the genre is X".

What is left is only what may be a value; whether it is one is for ``agent.core.waiting.short_answers``. A frame that
says where ("in X", "to X") is one for a place alone, and one that says the other end of a way is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from agent.core.waiting.hint import Hint, is_one_of
from agent.core.waiting.words import (
    CARRIERS,
    COURTESY,
    DESTINATIONS,
    FUNCTION_WORDS,
    NAMES,
    ORIGINS,
    PLACES,
    POLITE,
    WAYS,
    YES,
    one_of,
    ordered,
)

# In lower case only, and with a mark where a name is asked for: "Life Is Good" and "Yes Man" are names.
_GOOD: Final = "good|great|nice|fine|perfect|lovely|ideal|okay|ok|best|awesome|cool|wonderful|excellent"
_PRAISE: Final = (
    rf"(?:would|will|should|could) (?:be (?:{_GOOD})|work(?: for me)?)|(?:is|are) (?:good|great|fine|perfect|ok|okay)"
    r"|sounds (?:good|great|nice|fine)|works(?: for me)?|will do"
)
_TAKES_BACK: Final = r"i meant?(?: to say)?|sorry|oops|wait|actually|correction|no wait"
_OPENS: Final = (
    rf"{_TAKES_BACK}|um|uh|hmm|oh|of course|sure thing|ok|okay|yes|yeah|sure|please|hi|hello|hey|just|and|to be exact"
)
_MARKED: Final = rf"(?:{one_of(POLITE | YES)}|{_OPENS}|no|let me (?:think|see)|let's see)\s*(?:[,.;:!]|-(?!\w))"
_LEAD: Final = re.compile(rf"\s*(?:(?:{_MARKED}|(?:{_OPENS})(?![\w'-]))\s*)*", re.IGNORECASE)
_LEAD_OF_A_NAME: Final = re.compile(rf"\s*(?:(?:{_MARKED}|(?:{_TAKES_BACK}|um|uh|hmm)(?![\w'-]))\s*)*", re.IGNORECASE)
# One of what may end a sentence, looked for in its last few words alone.
_TAIL: Final = re.compile(rf"[\s,](?:(?i:{one_of(COURTESY)})|then|actually|sorry|instead|{_PRAISE})\Z")
_LONGEST_TAIL: Final = 40
_TAIL_MARKS: Final = " \t\r\n,.;:!-"
_WISH: Final = (
    r"(?:i'd|i would|we'd|we would) (?:like|love|prefer)|(?:i|we) (?:want|need|prefer|plan|wish)|i'm going|i am going"
)
_BEING: Final = r"i'm|i am|we're|we are|i'll be|we'll be|i will be|we will be"
_WHERE: Final = (
    r"(?:(?:go|going|travel|travell?ing|fly|flying|head|heading|driv(?:e|ing)|mov(?:e|ing)) )?(?P<to>to)"
    r"|(?:(?:leav(?:e|ing)|depart(?:ing)?|fly(?:ing)?|start(?:ing)?|com(?:e|ing)|travel|travell?ing|go(?:ing)?) )?"
    r"(?P<from>from|out of)"
    r"|(?P<leave>leav(?:e|ing)|depart(?:ing)?)|(?P<visit>visit(?:ing)?)"
    r"|(?:(?:it|eat|dine|stay|look|search|check|be|located|staying|based|something|somewhere|one) )?(?P<in>in|at|for)"
)
_FIND: Final = r"(?:look|search|i'm looking|i am looking|we're looking) for|find(?: me| us)?|show(?: me| us)?"
_TAKE: Final = r"(?:i|we) (?:choose|pick|like|love)|(?:i'll|we'll|let's) (?:take|have|get|do|say|try|go with|make it)"
_FRAME: Final = re.compile(
    rf"(?:(?P<find>{_FIND})"
    rf"|(?:{_BEING}) (?:in the mood for|interested in|into|craving)|i feel like(?: having| eating)?"
    r"|go with|go for|try|use"
    rf"|(?:(?:{_WISH})(?: to)?+ |(?:{_BEING}|it's|it is|make it) )?(?P<where>{_WHERE})"
    rf"|(?P<wish>{_WISH}|{_TAKE})"
    r"(?: to (?:eat|watch|see|hear|listen to|try|use|have|get|check|play|look for|find))?+(?: it)?(?: to be)?"
    r"|(?P<is>it's|it is|that's|that is)"
    r"|it should be|that would be|that'd be|it'd be|make it|let it be) (?=\S)",
    re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    r"(?:(?:the|my|our|its|this|that) )?(?P<subject>[\w-]+(?: [\w-]+){0,3}) "
    r"(?:is|are|should be|would be|will be|must be|called|named)(?: (?:called|named|actually|just))? (?=\S)"
    r"|(?:(?:the|my|our) )?(?P<label>[\w-]+(?: [\w-]+){0,3})\s?[:=]\s?(?=\S)",
    re.IGNORECASE,
)
_OF_A_SUBJECT: Final = frozenset(ordered("name value answer choice preference exact specific correct one it"))
_ROUTE: Final = re.compile(
    r"(?P<before>.* )?(?:from (?P<origin>\S.*?) to (?P<destination>\S.*)"
    r"|to (?P<destination2>\S.*?) from (?P<origin2>\S.*))",
    re.IGNORECASE,
)
_MARKS: Final = " \t,;:-"
# A wish or a thing, then where: not where somebody lives.
_IN_PLACE: Final = re.compile(
    rf"(?:(?i:{_WISH}|{_FIND}|check|tell me|book|reserve|something|somewhere|some|a|an|the|any)\b.*[a-z] in )"
    r"(?P<value>[A-Z][\w'.-]*(?: [A-Z][\w'.-]*){0,3})"
)


class Framed(NamedTuple):
    """What may be a value, and whether its frame may say another thing: a wish, a search, or "it's", which praises."""

    start: int
    end: int
    frame: Literal["plain", "wish", "find", "is"] = "plain"


def trimmed(said: str, start: int, end: int, hint: Hint) -> tuple[int, int]:
    """The sentence without what is only polite, or takes back what was said before."""
    lead = (_LEAD_OF_A_NAME if is_name(hint) else _LEAD).match(said, start, end)
    start, _ = trimmed_marks(said, lead.end() if lead else start, end)
    return start, _before_its_tail(said, start, end)


def _before_its_tail(said: str, start: int, end: int) -> int:
    """The end of a sentence without what is polite or praises at its end, piece by piece."""
    while True:
        while end > start and said[end - 1] in _TAIL_MARKS:
            end -= 1
        tail = _TAIL.search(said, max(start, end - _LONGEST_TAIL), end)
        if tail is None:
            return end
        end = tail.start()


def trimmed_marks(said: str, start: int, end: int) -> tuple[int, int]:
    """The span without the blanks and marks at its ends."""
    while start < end and said[start] in _MARKS:
        start += 1
    while start < end and said[end - 1] in _MARKS:
        end -= 1
    return start, end


def unframed(said: str, start: int, end: int, hint: Hint) -> Iterator[Framed]:
    """What may be a value in the sentence, the likeliest first."""
    role = _role(hint)
    if role is not None:
        route = _ROUTE.fullmatch(said, start, end)
        if route is not None and _is_way(route["before"] or ""):
            yield Framed(*_span(route, role))
            return
    frame = _FRAME.match(said, start, end)
    if frame is not None:
        if frame["where"] is None or _may_be_where(frame, hint, role):
            yield Framed(frame.end(), end, _kind(frame))
    else:
        subject = _SUBJECT.match(said, start, end)
        if subject is None:
            yield Framed(start, end)
        elif _is_about(subject["subject"] or subject["label"], hint):
            yield Framed(subject.end(), end)
    if role is None and is_place(hint):
        place = _IN_PLACE.fullmatch(said, start, end)
        if place is not None:
            yield Framed(*place.span("value"))


def _kind(frame: re.Match[str]) -> Literal["plain", "wish", "find", "is"]:
    if frame["find"]:
        return "find"
    if frame["wish"]:
        return "wish"
    return "is" if frame["is"] else "plain"


def is_place(hint: Hint) -> bool:
    """Whether the parameter is a place: it may be answered with "in X"."""
    return bool(hint.own_words & PLACES)


def is_name(hint: Hint) -> bool:
    """Whether the parameter is what something is called: its words are its own, whatever else they mean."""
    return bool(hint.name_words & NAMES)


def _role(hint: Hint) -> str | None:
    """Which end of a way the parameter is, if any."""
    if hint.name_words & ORIGINS:
        return "origin"
    return "destination" if hint.name_words & DESTINATIONS else None


def _is_way(before: str) -> bool:
    """Whether what leads to "from X to Y" is about a way, and not about a change."""
    return all(word in WAYS or word in CARRIERS or word in FUNCTION_WORDS for word in before.casefold().split())


def _span(route: re.Match[str], role: str) -> tuple[int, int]:
    return route.span(role) if route[role] else route.span(f"{role}2")


def _may_be_where(frame: re.Match[str], hint: Hint, role: str | None) -> bool:
    if not is_place(hint) and role is None:
        return False
    if role == "origin":
        return not (frame["to"] or frame["visit"])
    return not (frame["from"] or frame["leave"])


def _is_about(subject: str, hint: Hint) -> bool:
    """Whether a sentence with this subject tells the parameter, and not something of another thing."""
    return all(is_one_of(word, hint.own_words) or word.casefold() in _OF_A_SUBJECT for word in subject.split())
