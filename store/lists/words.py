"""The words of a text, for search: the same on every engine, for any script, however the text is composed.

A word is a run of letters, marks and numbers after compatibility normalisation and case folding (NFKC_Casefold of
UAX 44, with the Turkish i's in one). All else parts words, so ``O-12345``, an e-mail address, ``don't`` and
``snake_case`` are found whole and by their parts: a query is parted by the same rule, and each part has to be there.
A symbol, as an emoji is, is a word by itself.

Where writers leave no spaces (Han, kana, Thai, Lao, Khmer, Myanmar, Tibetan and some more) no dictionary is asked:
each character with its marks is found, and each two neighbours; a query of several looks for the pairs. Hangul has
spaces, but a word carries its particles (``서울에서`` is "in Seoul"): it goes by pairs within the word.

What leaves here are digests, never words. Accents are kept: é is not e. No stems, no prefixes, no phrases, no ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import chain, groupby, pairwise, starmap
from operator import add, itemgetter
from typing import Final, NamedTuple
from unicodedata import category, combining, normalize

# What has no look of its own, by Default_Ignorable_Code_Point and the category Cf. Each stands for itself in every
# canonical form and has the combining class 0: taking it out before normalisation keeps equal texts equal.
_IGNORED_CLASS: Final = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_IGNORED: Final = re.compile(f"[{_IGNORED_CLASS}]")
# Which i an I becomes depends on the language, which is not known: dotless i and i with a second dot are i.
# The Arabic tatweel only stretches a word.
_SPELLINGS: Final = (("i\u0307", "i"), ("\u0131", "i"), ("\u0640", ""))
# Normalisation spells them out, and they stand close by a word or number that they are no part of: "№5" is "no" and
# "5". No other sign becomes more than six characters.
_SPELLED_OUT: Final = "\u20a8\u2116\u2120\u2121\u2122\u213b\ufdfa\ufdfb\ufdfc"
# Normalisation sorts a pile of marks by insertion, in the square of its height. Half-width kana voice marks are letters
# until it has seen them.
_HALF_WIDTH_MARKS: Final = "\uff9e\uff9f"
_PILE_HEIGHT: Final = 32

# A text is worked off by so many characters, and on to the end of a stretch: what is held beside the digests does not
# grow with the text.
_BLOCK_LENGTH: Final = 1 << 16
# Words of a language come again and again, and a look-up takes a tenth of a digest.
_REMEMBERED: Final = 1 << 12

# Scripts that are written without spaces, and Hangul.
_UNSPACED: Final = (
    range(0x0E00, 0x10A0),  # Thai, Lao, Tibetan, Myanmar
    range(0x1100, 0x1200),  # Hangul jamo
    range(0x1780, 0x1800),  # Khmer
    range(0x1950, 0x19E0),  # Tai Le, New Tai Lue
    range(0x1A20, 0x1AB0),  # Tai Tham
    range(0x1B00, 0x1B80),  # Balinese
    range(0x3000, 0xA4D0),  # kana, Bopomofo, Han, Yi
    range(0xA960, 0xAA00),  # Hangul jamo, Javanese, Myanmar
    range(0xAA60, 0xAAE0),  # Myanmar, Tai Viet
    range(0xAC00, 0xD800),  # Hangul
    range(0xF900, 0xFB00),  # Han
    range(0x11700, 0x11750),  # Ahom
    range(0x16FE0, 0x18E00),  # Tangut, Khitan
    range(0x1AFF0, 0x1B300),  # kana, Nushu
)
_PLANES_OF_HAN: Final = "\U00020000-\U0003fffd"
# Letters by category, but written for the apostrophe and the prime, which are none: Ukrainian m'ya, Hawai'i.
_APOSTROPHES: Final = (range(0x02B9, 0x02C0),)
# Two of these are a flag.
_REGIONAL: Final = (range(0x1F1E6, 0x1F200),)
_LAST_SCANNED: Final = 0x1FFFF
_WORD, _GRAM, _MARK, _SYMBOL, _FLAG, _NO_WORD = "word", "gram", "mark", "symbol", "flag", "none"
_BEYOND_BMP: Final = "\U00010000-\U0010ffff"
_SCRIPTS_BEYOND_BMP: Final = "\U00010000-\U0001efff"


class _Patterns(NamedTuple):
    """``stretch`` finds what may be words in a text as it came, ``run`` words and unspaced runs in what is folded."""

    block: re.Pattern[str]
    stretch: re.Pattern[str]
    pile: re.Pattern[str]
    word: re.Pattern[str]
    run: re.Pattern[str]
    mark: re.Pattern[str]
    character: re.Pattern[str]


def words(text: str) -> frozenset[int]:
    """What a content is found by: a signed 64-bit digest of each of its words. Linear in the text."""
    found: set[int] = set()
    for whole, unspaced in _runs(text):
        found.update(map(_digest, whole.union(*map(_characters, unspaced))))
        found.update(map(_digest, chain.from_iterable(map(_pairs, unspaced))))
    return frozenset(found)


def wanted(q: str) -> frozenset[int]:
    """What a query looks for, each of which has to be there; empty where nothing in it can be searched for.

    It is a subset of ``words(q)``: a text is found by itself.
    """
    found: set[int] = set()
    for whole, unspaced in _runs(q):
        found.update(map(_digest, whole))
        for run in unspaced:
            found.update(set(map(_digest, _pairs(run))) or {_digest(run)})
    return frozenset(found)


@lru_cache(_REMEMBERED)
def _digest(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big", signed=True)


def _runs(text: str) -> Iterator[tuple[set[str], set[str]]]:
    """The words and symbols of the text, and its unspaced runs, all folded, those of a few pages at a time.

    No stretch is changed by what stands between two, so each is folded once however often it comes.
    """
    patterns = _patterns()
    for block in patterns.block.finditer(text):
        stretches = set(patterns.stretch.findall(block[0]))
        plain = set(filter(str.isascii, stretches))
        folded = set(_folded(" ".join(stretches - plain)).split(" "))
        whole, unspaced = set(filter(patterns.word.fullmatch, folded)), set[str]()
        for stretch in set(chain.from_iterable(map(_stretches, folded - whole))):
            for run in patterns.run.finditer(stretch):
                (unspaced if run["unspaced"] else whole).add(run[0])
        whole.update(map(str.lower, plain))
        yield whole, unspaced


def _stretches(text: str) -> Iterable[str]:
    return map(itemgetter(0), _patterns().stretch.finditer(text))


def _characters(run: str) -> Iterable[str]:
    """The characters of an unspaced run, each with its marks."""
    patterns = _patterns()
    return map(itemgetter(0), patterns.character.finditer(run)) if patterns.mark.search(run) else run


def _pairs(run: str) -> Iterable[str]:
    return starmap(add, pairwise(_characters(run)))


def _folded(text: str) -> str:
    """The form in which texts are compared."""
    folded = normalize("NFKC", _patterns().pile.sub(_sorted_marks, _IGNORED.sub("", text))).casefold()
    for spelling, plain in _SPELLINGS:
        folded = folded.replace(spelling, plain)
    return normalize("NFKC", folded)


def _sorted_marks(pile: re.Match[str]) -> str:
    """The pile in canonical order (UAX 15), by a sort that does not mind its height; normalisation finds it done."""
    # Equal marks are to share one string.
    decomposed = cache(lambda mark: tuple(normalize("NFKD", mark)))
    segments = groupby(chain.from_iterable(map(decomposed, pile[0])), lambda mark: combining(mark) > 0)
    return "".join(chain.from_iterable(sorted(segment, key=combining) for _, segment in segments))


@cache
def _patterns() -> _Patterns:
    """The patterns, by the categories of this Python's Unicode. Made on first use: it takes some 50 ms."""
    classes = _classes()
    word, gram, mark, symbol, flag = (classes[kind] for kind in (_WORD, _GRAM, _MARK, _SYMBOL, _FLAG))
    gram += _PLANES_OF_HAN
    # A pattern compares with the ranges beyond the first plane one by one. What is asked for each character of a text
    # takes all of these for one range.
    beyond = re.compile(f"[{_BEYOND_BMP}]-[{_BEYOND_BMP}]")
    stretch = beyond.sub("", word + gram + mark + symbol + _IGNORED_CLASS) + _BEYOND_BMP
    marks = beyond.sub("", mark) + _HALF_WIDTH_MARKS + _SCRIPTS_BEYOND_BMP
    return _Patterns(
        block=re.compile(f"(?s:.){{1,{_BLOCK_LENGTH}}}[{stretch}]*"),
        stretch=re.compile(f"[{stretch}]+|[{_SPELLED_OUT}]"),
        pile=re.compile(f"[{marks}]{{{_PILE_HEIGHT},}}"),
        word=re.compile(f"[{word}][{word}{mark}]*"),
        run=re.compile(f"[{word}][{word}{mark}]*|(?P<unspaced>[{gram}][{gram}{mark}]*|[{flag}]+)|[{symbol}]"),
        mark=re.compile(f"[^{gram}{flag}]"),
        character=re.compile(f"(?s:.)[^{gram}{flag}]*"),
    )


def _classes() -> dict[str, str]:
    """The characters of each kind, as ranges for a pattern."""
    codes = range(_LAST_SCANNED + 1)
    own = [""] * len(codes)
    signs = [range(ord(sign), ord(sign) + 1) for sign in _SPELLED_OUT]
    for kind, blocks in ((_GRAM, _UNSPACED), (_FLAG, _REGIONAL), (_NO_WORD, _APOSTROPHES), (_NO_WORD, signs)):
        for block in blocks:
            own[block.start : block.stop] = [kind] * len(block)
    traits = list(zip(map(category, map(chr, codes)), own, strict=True))
    ranges: dict[str, list[str]] = {}
    for trait, group in groupby(codes, traits.__getitem__):
        same = list(group)
        ranges.setdefault(_kind(*trait), []).append(f"{chr(same[0])}-{chr(same[-1])}")
    return {kind: "".join(found) for kind, found in ranges.items()}


def _kind(name: str, own: str) -> str:
    """What characters of the category ``name`` are; ``own`` is what their block makes of letters or symbols."""
    if own == _NO_WORD:
        return own
    if name[0] == "M":
        return _MARK
    if name == "So":
        return _FLAG if own == _FLAG else _SYMBOL
    # A number is a word also where the letters beside it are not.
    if name == "Nd":
        return _WORD
    return own or _WORD if name[0] in "LN" else _NO_WORD
