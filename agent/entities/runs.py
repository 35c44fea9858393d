"""Runs of words with a capital, and of which type each is: by its cue, by a list, or by what was named before.

A capital alone names nobody: a sentence begins with one, headings are full of them, and German nouns all have one. So a
run without a cue and in no list is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.entities import name_cues as cues
from agent.entities import name_lists as lists
from agent.entities.known import Known
from agent.entities.mention import Mention
from agent.entities.run import PERSON, PLACE, POSSESSIVE, WORK, Run, Talk, names_nothing, type_of

_LETTER: Final = r"[^\W\d_]"
_CAPITAL: Final = "[A-ZÀ-ÖØ-ÞĀĆČĎĐĒĘĚĞĢĪİĶĹĽŁŃŅŇŌŐŒŘŚŞŠŢŤŪŮŰŸŹŻŽА-ЯЁІЇЄΑ-Ω]"
# Behind the capital: "r." of "Dr.", nothing but the point of an initial, or the rest of a word.
_REST: Final = rf"(?:(?:[rst]|rs|rof|nc)?\.(?= )|{_LETTER}{{0,30}}(?:['’-]{_LETTER}{{1,30}}){{0,3}}(?!\w))"  # noqa: RUF001 - as it is written
_WORD: Final = _CAPITAL + _REST
_JOINT: Final = r"(?:(?:of|the|and|&|de|la|del|da|di|du|van|von|der|den|bin|al) ){0,2}"
_RUN: Final = re.compile(rf"{_CAPITAL}(?<![\w@#$./\\_-].){_REST}(?: {_JOINT}{_WORD}){{0,7}}")
_NOT_STARTED: Final = re.compile(r"[\w,)'’\"] [\"“'‘(*]{0,2}\Z")  # noqa: RUF001 - as it is written
_JOINED: Final = re.compile(r" (?:and|&|y|et|und|e) ")
_LISTED: Final = re.compile(r"(, (?:and |or )?(?:the )?)|,? (?:and|or|y|o|et|ou|und|oder) (?:the )?")
_CAMEL: Final = re.compile(r"[^\W\d_A-Z][A-Z]|[A-Z]{3}")
_MC: Final = re.compile(r"\b(?:Mc|Mac|De|Da|Du|La|Le|Di|O['’])(?=[A-Z])")  # noqa: RUF001 - as it is written
_BEHIND: Final = re.compile(r"[\"”'’]? ([a-z]{2,10})(?!\w)( [A-Z])?|([.?!,]|\s*\Z)")  # noqa: RUF001 - as it is written
_CLAUSE: Final = re.compile(r"[.!?\n;]")
_SIGNS: Final = dict.fromkeys(map(ord, ":\"“”*('‘"), " ")  # noqa: RUF001 - as it is written
# How much before a run is looked at for its cue, in characters.
_BEFORE: Final = 40


def runs(prose: str, words: set[str], known: Known) -> Iterator[Mention]:
    """The names among the runs of ``prose``, a part of what has the ``words``. They are put into ``known``."""
    of_works = known.talks_of_works(says_so=not words.isdisjoint(cues.ABOUT_WORKS))
    talk = Talk(not words.isdisjoint(cues.ABOUT_PLACES), of_works, known.names)
    last: Mention | None = None
    place = 0
    while found := _RUN.search(prose, place):
        start, end = found.span()
        place = end
        if found[0] not in known.names:
            start, end = _trimmed(prose, start, end)
        if start == end:
            continue
        run = _run(prose, start, end)
        if run.starts and not run.before and len(run.words) == 1 and not _is_listed(run.text, known):
            continue
        continued = _continued(prose, last, start)
        kind = continued if continued == WORK else type_of(run, talk) or continued
        if kind is None or (len(run.words) == 1 and run.text.lower() in cues.DEMONYMS):
            continue
        if (kind != WORK or continued) and (joint := _JOINED.search(prose, start, end)):
            end = place = joint.start()
        start, end = _without_title(prose, start, end, kind)
        text = prose[start:end]
        if _is_none(text, kind):
            continue
        _remember(text, kind, known)
        last = Mention(start, end, kind)
        yield last


def _is_listed(text: str, known: Known) -> bool:
    plain = POSSESSIVE.sub("", text)
    return (
        plain in known.names
        or plain in lists.PLACES
        or plain in lists.ORGANIZATIONS
        or plain.lower() in lists.GIVEN_NAMES
    )


def _trimmed(prose: str, start: int, end: int) -> tuple[int, int]:
    """Without the words at both ends that name nothing; those inside a sentence may begin a title, and stay there."""
    words = prose[start:end].split(" ")
    starts = not _NOT_STARTED.search(prose, max(0, start - 4), start)
    while words and (starts or len(words) == 1) and (names_nothing(words[0]) or _is_doing(words)):
        start += len(words.pop(0)) + 1
    while words and len(words) > 1 and words[-1] == "I":
        end -= len(words.pop()) + 1
    if not words:
        return end, end
    # "Yes and Mary" leaves "and Mary".
    while words and words[0][:1].islower():
        start += len(words.pop(0)) + 1
    return min(start, end), end


def _is_doing(words: list[str]) -> bool:
    """Whether a run begins with what is done to the rest of it: "Playing San Francisco"."""
    return len(words) > 1 and len(words[0]) > 5 and words[0].endswith("ing")


def _run(prose: str, start: int, end: int) -> Run:
    text = prose[start:end]
    before = prose[max(0, start - _BEFORE) : start]
    starts = not _NOT_STARTED.search(before)
    clause = _CLAUSE.split(before)[-1]
    behind = _BEHIND.match(prose, end)
    words = clause.lower().translate(_SIGNS).split()
    if len(words) > 1 and words[-1] == "the":
        words.pop()
    following = (behind[1] or behind[3] or ".") if behind else ""
    leads = behind is not None and behind[2] is not None
    return Run(text, text.split(" "), words, following, leads, starts)


def _continued(prose: str, last: Mention | None, start: int) -> str | None:
    """The type of the name before, where this one stands in a list with it."""
    if last is None or start - last.end > 7:
        return None
    gap = _LISTED.fullmatch(prose, last.end, start)
    if gap is None or (gap[1] is not None and last.type not in (WORK, PLACE)):
        return None
    return last.type


def _without_title(prose: str, start: int, end: int, kind: str) -> tuple[int, int]:
    text = prose[start:end]
    if kind == PERSON:
        first, space, _ = text.partition(" ")
        if space and first.lower() in cues.HONORIFICS:
            start += len(first) + 1
    if possessive := POSSESSIVE.search(text):
        end -= len(possessive[0])
    if kind == WORK and prose[end : end + 2] in ("!,", "! "):
        end += 1
    return start, end


def _is_none(text: str, kind: str) -> bool:
    """Whether a text can be no name of this type, whatever stands around it."""
    if text in lists.ORGANIZATIONS or text in lists.PLACES:
        return False
    words = text.split(" ")
    if all(names_nothing(each) for each in words) and (kind != WORK or len(words) == 1):
        return True
    if kind == PERSON and any(each.lower() in cues.NO_NAMES for each in words[:1]):
        return True
    return kind in (PERSON, WORK) and _CAMEL.search(_MC.sub("", text)) is not None


def _remember(text: str, kind: str, known: Known) -> None:
    known.add(text, kind)
    if kind == PERSON:
        first = text.partition(" ")[0]
        if len(first) > 2 and not names_nothing(first):
            known.add(first, kind)
