"""Whether a text leans on what was said before it ("that one", "again", "what about Rome?"), and by which words.

A rule of thumb over short lists of words, for who decides whether to look into the history at all. It knows no
grammar and asks no model. English has rules for what stands around a word: a pronoun whose noun the same text brings
along ("a phone and its battery") leans on nothing, nor does the "that" of "the weather that we had". Of the other
languages there are only words that hardly mean anything else: what is not listed is not seen.

A thing that is named as known ("the triangle") counts if it was named before and the text does not say which one.
An answer without such words ("O-12345") is not seen either: whether a question is open is for the session's state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

# So much of a text is looked at: what a text leans on, it says soon.
_LOOKED_AT: Final = 4000

# The end of a clause, and the beginning of one.
_END: Final = r"(?=\s*(?:[?!.,;)…]|$))"
_BEGIN: Final = r"(?:^|(?<=[?!.,;:(…]))\s*(?:(?:and|but|or|so|if|well|oh|yes|no|ok|okay|sure),?\s+)?"
_SAID: Final = "question|answer|reply|response|message|example|point|step|result|output|request|suggestion|option"
_COMPARED: Final = (
    "cheaper|shorter|longer|simpler|faster|slower|bigger|smaller|earlier|later|better|different|alternative"
)
# "Mend this code:", and the code.
_PASTED: Final = r"[^?!.:\n]*[:\n]\s*\S"
_SPAN: Final = "week|weekend|month|year|morning|afternoon|evening|night|summer|winter|spring|autumn|fall|time"
_IDLE: Final = "raining|snowing|late|early|getting|time|my|been|possible|important"
# Before "that" they make it a thing, where no clause follows: not "I know that you", nor "so that we".
_BEFORE_THAT: Final = (
    "about|with|of|for|like|to|from|after|before|than|at|by|on|into|do|did|is|was|does|explain|repeat|change|cancel|"
    "book|rent|play|use|keep|make|watch|add|remove|try|take|buy|have|call|put|want|show|translate|rewrite"
)
_CLAUSE: Final = "the|i|you|we|they|he|she|it|there|my|your|was|were|is|are|has|have|can|will"
_AFTER_KNOWN: Final = "is|are|was|were|and|or|but|by|as|so|please|now|then|when|while|has|does|should|would|will|can"

# What leans on something wherever it stands.
_DECISIVE: Final = (
    rf"(?:earlier|last|first|second|third|other)\s+(?:{_SAID})s?(?!\s+of\b)|(?:the|your)\s+(?:previous|preceding|above)\s+\w+",
    rf"(?:the|see|as|mentioned|said|from)\s+above{_END}|(?:as|like)\s+before{_END}",
    r"(?:you|we|i)(?:'ve|\s+have)?\s+(?:just\s+)?(?:said|told|mentioned|suggested|recommended|listed|discussed)",
    rf"again|once\s+more|instead|(?:as\s+well|too|(?<!hi\s)(?<!hey\s)(?<!hello\s)there){_END}",
    r"(?:that|this|these|those|another|other|which|different|same|the)\s+ones?",
    rf"the\s+(?:first|second|third|fourth|fifth|last|other|next|former|latter|rest|others){_END}",
    r"(?:any|some|no)(?:thing|one|body|where)\s+else|(?:what|who|where)\s+else",
    rf"more\s+(?:details?|info|information|examples?){_END}|(?:tell|show|give)\s+me\s+more",
    rf"(?:what|how)\s+about|in\s+that\s+case|that\s+way|if\s+(?:so|not){_END}",
)
# How a text goes on from another, at its very beginning; and a question that is no more than its question word.
_OPENING: Final = (
    "and|but|or|then|also|yes|yeah|yep|no|nope|ok|okay|sure|right|exactly|correct|agreed|alright|actually|otherwise|finally",
    r"continue|go\s+on|go\s+ahead|keep\s+going|elaborate|repeat|redo|rerun|retry|undo",
    r"(?:why|how|when|where|who|which|what)(?:\s+(?:not|so|exactly|come|then))?(?=\s*\?*$)",
)
# What stands for something: which was said before this text, unless the text brings it along.
_STANDING: Final = (
    rf"it(?!(?:'s|\s+is|\s+was)?\s+(?:{_IDLE})\b)|its|they|them|their",
    rf"(?:that|this){_END}|those|another|(?:any|some|the)\s+other(?!\s+(?:\S+\s+)?than\b)",
    r"(?:the\s+)?same(?!\s+(?:\S+\s+){0,2}as\b)",
    r"the\s+\w+\s+ones?",
    rf"{_BEGIN}that(?='s|\s+(?:is|was|sounds|looks|works|would|will|does|seems)\b)",
    rf"(?:{_BEFORE_THAT})\s+(that)(?!\s+(?:{_CLAUSE})\b)",
    rf"(?:this\s+(?!(?:{_SPAN})\b)\w+|these)(?!{_PASTED})",
    r"both(?!(?:\s+\S+){1,4}\s+and\b)",
    rf"(?:an?|any|some|the)\s+(?:{_COMPARED})(?!\s+(?:\S+\s+){{0,4}}than\b)",
)
_PERSON: Final = ("he|him|his|she|her|hers",)
# Of other languages: Spanish, Portuguese, French, Italian, German, Russian, Arabic, Hebrew, Hindi.
_OTHER_WORDS: Final = (
    "eso|esto|aquello|otra vez|de nuevo|lo mismo|el anterior|la anterior",
    "isso|isto|aquilo|outra vez|o mesmo|a mesma",
    "ça|cela|celui-ci|celle-ci|celui-là|celle-là|le même|la même|à nouveau|le précédent|la précédente",
    "quello|quella|questo|questa|di nuovo|lo stesso|la stessa",
    "das gleiche|dasselbe|derselbe|dieselbe|nochmal|nochmals|noch einmal|davon|dazu|damit|darüber|stattdessen",
    "это|этот|эту|этого|этом|его|её|их|тот же|то же|снова|ещё раз|еще раз",  # noqa: RUF001 - Cyrillic it is
    "هذا|هذه|ذلك|تلك|نفس|مرة أخرى",
    "זה|זאת|אותו|אותה|שוב",
    "यह|वह|इसे|उसे|इसका|उसका|वही|फिर से|दोबारा",
)
# And of those that are written without spaces, or with particles at the word: Chinese, Japanese, Korean, Thai.
_OTHER_RUNS: Final = (
    "它|(?<![其吉])[他她]|这个|那个|这些|那些|這個|那個|這些|刚才|剛才|上面|同样|同樣|一样|一樣|再来|再來|再试|再試|再次|继续|繼續|换成|換成",
    "それ|これ|あれ|その|この|さっき|前の|もう一度|同じ|続け",
    "그것|그거|이것|이거|저거|그건|이건|다시|아까|같은 걸|계속",
    "อันนั้น|อันนี้|สิ่งนั้น|อีกครั้ง|เหมือนเดิม",
)


# Marks that may follow a letter in its word: Latin, Hebrew, Arabic, Devanagari.
_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f"


def _one_of(*lists: str) -> re.Pattern[str]:
    """A pattern of whole words."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(lists)})(?![\w{_MARKS}])", re.IGNORECASE)


_LEANS: Final = _one_of(*_DECISIVE, *_OTHER_WORDS)
_LEANS_ANYWHERE: Final = re.compile("|".join(_OTHER_RUNS))
_GOES_ON: Final = _one_of(*_OPENING)
_STANDS: Final = _one_of(*_STANDING)
_STANDS_FOR_SOMEBODY: Final = _one_of(*_PERSON)
# What a text brings along: "a phone", "my order", "two files", notes.md, words in quotes; and names, written large.
_BROUGHT: Final = re.compile(
    rf"\b(?:an?|some|my|our|every|two|three|\d+)\s+(?!(?:bit|lot|few|little|{_COMPARED})\b)\w{{2,}}"
    r"|\b(?:some|any)(?:thing|one|body)\b(?!\s+else)|\w[._]\w|(?<!\w)[\"'\u201c\u2018`]\w",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[\w,] )(?!I\b)[A-Z]\w+|^[A-Z]\w+(?='s\b| is\b| was\b)")
# "the triangle", where nothing follows that says which one: not "the file that I sent", nor "the order O-12345".
_KNOWN: Final = re.compile(rf"(?<!\w)the\s+([^\W\d_]{{3,}})(?:{_END}|(?=\s+(?:{_AFTER_KNOWN})\b))", re.IGNORECASE)
# What everybody knows without having heard of it.
_ALWAYS_KNOWN: Final = frozenset(
    ("time", "date", "day", "weather", "year", "week", "world", "internet", "sun", "moon", "user", "way")
)


@dataclass(frozen=True, slots=True)
class Reference:
    """Whether a text refers to what was said: true or false by itself. ``words`` are those that decided, in order."""

    words: tuple[str, ...] = ()

    @property
    def refers(self) -> bool:
        return bool(self.words)

    def __bool__(self) -> bool:
        return self.refers


def references_earlier(text: str, said: Sequence[str]) -> Reference:
    """Whether ``text`` leans on ``said``, the messages before it; never where there are none."""
    if not said:
        return Reference()
    looked_at = normalize("NFC", text[:_LOOKED_AT].strip()).replace("\u2019", "'")
    words: dict[int, str] = {}
    seen: set[int] = set()
    for start, end in _found(looked_at, said):
        if seen.isdisjoint(range(start, end)):
            words[start] = looked_at[start:end].strip()
            seen.update(range(start, end))
    return Reference(tuple(words[start] for start in sorted(words)))


def _found(text: str, said: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where ``text`` leans on something else than itself: what says so for certain comes first."""
    yield from map(_place, _LEANS.finditer(text))
    yield from map(_place, _LEANS_ANYWHERE.finditer(text))
    opening = _GOES_ON.match(text)
    if opening is not None:
        yield opening.span()
    brought = _first(_BROUGHT, text)
    yield from _until(brought, _STANDS, text)
    yield from _until(min(brought, _first(_NAME, text)), _STANDS_FOR_SOMEBODY, text)
    yield from (known.span() for known in _KNOWN.finditer(text) if _is_named_before(known, text, said))


def _place(match: re.Match[str]) -> tuple[int, int]:
    """Where the word stands that decides: the group, where a pattern has one."""
    return match.span(match.lastindex or 0)


def _first(pattern: re.Pattern[str], text: str) -> int:
    """Where ``pattern`` is met first; beyond the end where it is not."""
    match = pattern.search(text)
    return len(text) if match is None else match.start()


def _until(end: int, pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (_place(match) for match in pattern.finditer(text) if match.start() < end)


def _is_named_before(known: re.Match[str], text: str, said: Sequence[str]) -> bool:
    noun = known[1].lower()
    if noun in _ALWAYS_KNOWN or not any(said):
        return False
    named = re.compile(rf"(?<!\w){noun.removesuffix('s')}(?:e?s)?(?!\w)", re.IGNORECASE)
    return named.search(text, 0, known.start()) is None and any(named.search(each) for each in reversed(said))
