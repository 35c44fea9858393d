"""What a text is found by, and by what it is not: every script, every form, and the laws that a search rests on."""

# ruff: noqa: RUF001 - letters of other scripts that look like Latin ones are what is tested

import hashlib
import random
import tracemalloc
from itertools import pairwise
from unicodedata import category, normalize

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from store.lists.words import wanted, words


def found(q: str, text: str) -> bool:
    return bool(wanted(q)) and wanted(q) <= words(text)


# Each: the sentence, what finds it, what does not.
SENTENCES = {
    "English": (
        "Don't panic: the towel is packed.",
        ["TOWEL", "don't", "don\u2019t", "towel panic"],
        ["tow", "towels"],
    ),
    "French": ("L\u2019élève a mangé une crème brûlée à Noël.", ["CRÈME BRÛLÉE", "noël", "élève"], ["creme", "noel"]),
    "German": ("Die Straße nach Köln", ["STRASSE", "strasse", "KÖLN"], ["koln", "straß"]),
    "Turkish": ("İstanbul'dan Isparta'ya, Iğdır'a", ["istanbul", "ISPARTA", "ısparta", "IĞDIR", "iğdir"], ["igdir"]),
    "Vietnamese": ("Tiếng Việt rất đẹp", ["tiếng việt", "ĐẸP"], ["viet", "dep"]),
    "Greek": ("Ο Οδυσσέας γύρισε στην Ιθάκη", ["ΟΔΥΣΣΈΑΣ", "ιθάκη"], ["ιθακη", "οδυσσέα"]),
    "Russian": ("Съешь ещё этих мягких булок, заказ №12345", ["БУЛОК", "ещё", "12345", "№ 12345"], ["еще", "булка"]),
    "Ukrainian": ("Моє ім\u02bcя Олена", ["ім'я", "ім\u2019я", "олена"], ["імя"]),
    "Georgian": ("თბილისი ლამაზია", ["ᲗᲑᲘᲚᲘᲡᲘ"], ["თბილის"]),
    "Armenian": ("Բարեւ աշխարհ", ["ԱՇԽԱՐՀ", "բարև"], ["աշխար"]),
    "Hebrew": ('שלום עולם, צה"ל', ["עולם", "צה״ל"], ["שלומ"]),
    "Arabic": ("مرحبا بكم يا محـمدﷺ", ["محمد", "مرحبا", "ﷺ"], ["مرحب"]),
    "Persian": ("من می\u200cخواهم بروم", ["می\u200cخواهم", "میخواهم"], ["خواهم"]),
    "Hindi": ("मुझे हिन्दी में लिखना पसंद है", ["हिन्दी", "पसंद है"], ["हिन्द", "हनद"]),
    "Bengali": ("আমি বাংলায় গান গাই", ["বাংলায়", "বাংলা\u09af\u09bc"], ["বাংলা"]),
    "Tamil": ("எனக்கு தமிழ் பிடிக்கும்", ["தமிழ்"], ["தமிழ"]),
    "Amharic": ("ሰላም፡ለዓለም።", ["ለዓለም"], ["ዓለም"]),
    "Chinese": (
        "我们今天去北京看长城，用Python写代码。",
        ["北京", "长城", "京", "python", "去北京看"],
        ["东京", "城北", "京今"],
    ),
    "Japanese": (
        "東京タワーでコーヒーを2杯飲んだ",
        ["ｺｰﾋｰ", "東京", "タワー", "2杯", "飲んだ", "飲んた\u3099"],
        ["京東", "ーコ"],
    ),
    "Korean": ("내일 서울에서 만나요", ["서울", "서울에서", "만나"], ["울서", "내일서울"]),
    "Thai": ("สวัสดีครับ ยินดีที่ได้รู้จัก ราคา๕๐๐บาท", ["ยินดี", "รู้จัก", "๕๐๐", "บาท"], ["ดียิน", "รูจก"]),
    "Lao": ("ສະບາຍດີ ຂ້ອຍຮຽນພາສາລາວ", ["ພາສາ", "ລາວ"], ["ສາພາ"]),
    "Khmer": ("ខ្ញុំរៀនភាសាខ្មែរនៅភ្នំពេញ", ["ភាសាខ្មែរ", "ភ្នំពេញ"], ["ខ្មែរភាសា"]),
    "Burmese": ("ကျွန်တော် မြန်မာစာ သင်နေတယ်", ["မြန်မာ"], ["မာမြန်"]),
    "Tibetan": ("བོད་ཡིག་སློབ་པ།", ["བོད་ཡིག", "སློབ"], ["ཡིགས"]),
}


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_sentence_is_found_by_its_words_in_every_form_and_by_no_others(language: str, form: str) -> None:
    sentence, finds, finds_not = SENTENCES[language]
    for text in (sentence, normalize(form, sentence)):
        assert [q for q in finds if not found(normalize(form, q), text)] == []
        assert [q for q in finds_not if found(normalize(form, q), text)] == []


WHOLE_AND_PARTS = {
    "O-12345": ["O-12345", "o-12345", "12345", "o 12345"],
    "ada.lovelace@example.com": ["ada.lovelace@example.com", "lovelace", "Example.com", "ada@example.com"],
    "3F2504E0-4F89-41D3-9A0C-0305E82C3301": ["3f2504e0-4f89-41d3-9a0c-0305e82c3301", "0305e82c3301"],
    "snake_case": ["snake_case", "case", "Snake Case"],
    "C++ and C#": ["C++", "c#", "c"],
    "https://example.com/a/b?q=1&r=%20": ["https://example.com/a/b?q=1&r=%20", "example.com/a"],
    "v1.2.3-rc1": ["v1.2.3-rc1", "rc1", "v1.2"],
    "1.234,50\u00a0€ for 20℃ and 5㎏": ["1.234,50 €", "20 °c", "5kg", "５㎏"],
    "Acme\u2122 costs \u20a8500": ["acme", "Acme™", "Acme TM", "500", "rs 500"],
    "\uff21\uff22\uff23\uff11 \ufb01nd m\u00b2 \U0001d401\U0001d428\U0001d425\U0001d41d": [
        "abc1",
        "find",
        "m2",
        "bold",
    ],
    "so\u00adft hy\u200bphens, \u202eabc\u202c": ["soft", "hyphens", "abc"],
    "great\U0001f600job \U0001f44d\U0001f3fd \u2764\ufe0f": ["\U0001f600", "\U0001f44d", "\u2764", "great", "job"],
    "\U0001f468\u200d\U0001f469\u200d\U0001f467": ["\U0001f467", "\U0001f468\u200d\U0001f467"],
    "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7": ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"],
}


@pytest.mark.parametrize("text", WHOLE_AND_PARTS)
def test_what_punctuation_joins_is_found_whole_and_by_its_parts(text: str) -> None:
    assert [q for q in [text, *WHOLE_AND_PARTS[text]] if not found(q, f"before {text} after")] == []
    assert [q for q in WHOLE_AND_PARTS[text] if found(q, "before after")] == []


def test_a_flag_is_not_another_flag() -> None:
    assert not found("\U0001f1e9\U0001f1ea", "\U0001f1ea\U0001f1e9 \U0001f1e9 \U0001f1ea")


@pytest.mark.parametrize("q", ["", " \t\n", "?!…", "++ -- €", "\u200d\ufe0f\u202e", "\u0301\u0323", "\u0000", "\ue000"])
def test_a_query_without_words_looks_for_nothing(q: str) -> None:
    assert (wanted(q), words(q)) == (frozenset(), frozenset())


def test_a_query_of_one_unspaced_character_looks_for_it_and_of_more_for_the_pairs() -> None:
    assert wanted("京") == {digest("京")}
    assert wanted("北京市") == {digest("北京"), digest("京市")}
    assert words("北京市") == wanted("北京市") | {digest("北"), digest("京"), digest("市")}
    assert words("ไม่") == {digest("ไ"), digest("ม่"), digest("ไม่")}, "a mark stays with its character"


def test_digests_are_those_that_databases_hold() -> None:
    # A change here leaves every index that was filled before it finding nothing.
    assert words("Hello, 世界") == {
        -7140060302537246853,
        -7007536963197075571,
        -6361636117772159875,
        9085411723092273678,
    }


# The same rules a character at a time, without patterns, blocks or short cuts.

SPELLED_OUT = "₨№℠℡™℻ﷺﷻ﷼"
IGNORED = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x1810), 0x34F, 0x115F, 0x1160, 0x17B4}
IGNORED |= {0x17B5, 0x3164, 0xFFA0}


def digest(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big", signed=True)


def kind(character: str) -> str:
    code, name = ord(character), category(character)
    if name == "So":
        return "flag" if 0x1F1E6 <= code <= 0x1F1FF else "symbol"
    if name[0] not in "LNM" or 0x2B9 <= code <= 0x2BF:
        return "none"
    unspaced = 0xE00 <= code < 0x10A0 or 0x1100 <= code < 0x1200 or 0x1780 <= code < 0x1800 or 0x3000 <= code < 0xA4D0
    unspaced = unspaced or 0xAC00 <= code < 0xD7B0 or 0xF900 <= code < 0xFB00 or 0x20000 <= code < 0x30000
    return "mark" if name[0] == "M" else "unspaced" if unspaced and name != "Nd" else "word"


def plainly(text: str) -> tuple[set[int], set[int]]:
    """What ``words`` and ``wanted`` are to answer."""
    kept = [c for c in text if category(c) != "Cf" and ord(c) not in IGNORED]
    folded = normalize("NFKC", "".join(f" {c} " if c in SPELLED_OUT else c for c in kept)).casefold()
    folded = normalize("NFKC", folded.replace("i\u0307", "i").replace("ı", "i").replace("\u0640", ""))
    runs: list[tuple[str, list[str]]] = [("none", [])]
    for character in folded:
        of, last = kind(character), runs[-1]
        if of == "mark" and last[0] in ("word", "unspaced"):
            last[1][-1] += character
        elif of == last[0] and of != "symbol":
            last[1].append(character)
        else:
            runs.append((of, [character]))
    has, wants = set[str](), set[str]()
    for of, characters in runs:
        if of in ("word", "symbol"):
            has.add("".join(characters))
            wants.add("".join(characters))
        elif of in ("unspaced", "flag"):
            pairs = {a + b for a, b in pairwise(characters)}
            has |= pairs | set(characters)
            wants |= pairs or set(characters)
    return set(map(digest, has)), set(map(digest, wants))


TRICKY = (
    "aAzZéÉßſİIıiǅǰŉΐΰᾳςΣѐЙ5½²Ⅳ①٣ \t\n\u00a0.,-_'’\u02bc!＋，。…€₨№™℃㎏㍿"
    "\u0300\u0301\u0307\u0323\u0345\u0328\u0338\u20e3\u034f\u200b\u200c\u200d\ufe0f\u00ad\u202e\ufeff"
    "中京々〇あがカーｶﾞﾊﾟ\u3099가각ㄱㅏ\u1100\u1161\u11a8한국กำำ่นิเແລາऱकि़्བོ\u0f73\u0f71ខ្មကြာעٱآأـﷺﻻ"
    "😀👍🏽❤🇩🇪𝐀𝟘\U0001e900\U0001d165\U0002f800\U00020000\ue000\x00"
)
tricky_texts = st.text(st.sampled_from(TRICKY) | st.sampled_from("ab 中 "), max_size=40)
texts = tricky_texts | st.text(max_size=40)
# Enough marks on one character for them to be sorted apart.
piles = st.text(st.sampled_from("\u0301\u0323\u0345\u0328\u0338\u3099\uff9e\u0f71\u0f73\u0344\u093c"), max_size=90)


@settings(max_examples=600, deadline=None)
@given(tricky_texts)
def test_the_fast_way_finds_what_the_plain_way_finds(text: str) -> None:
    assert (words(text), wanted(text)) == plainly(text)


def test_every_character_beside_others_is_what_its_category_says() -> None:
    # Letters of the large blocks are alike; one in 97 of them is looked at.
    for code in range(0x20000):
        name = category(chr(code))
        rare = name not in ("Lo", "Cn", "Co", "Cs") or code < 0x3000
        if name not in ("Cn", "Co", "Cs") and not in_scripts_left_out(code) and (rare or code % 97 == 0):
            text = f"a{chr(code)}b中{chr(code)}\u0301国"
            assert words(text) == plainly(text)[0], f"U+{code:04X}"


def in_scripts_left_out(code: int) -> bool:
    """Unspaced scripts that the plain way does not know."""
    return any(
        first <= code < end
        for first, end in [
            (0x1950, 0x19E0),
            (0x1A20, 0x1AB0),
            (0x1B00, 0x1B80),
            (0xA960, 0xAA00),
            (0xAA60, 0xAAE0),
            (0xD7B0, 0xD800),
            (0x11700, 0x11750),
            (0x16FE0, 0x18E00),
            (0x1AFF0, 0x1B300),
        ]
    )


@settings(max_examples=400, deadline=None)
@given(texts, piles)
def test_composed_and_decomposed_forms_meet(text: str, pile: str) -> None:
    for mixed in (text + pile, pile + text, f"e{pile}", f"中{pile}国"):
        assert words(normalize("NFC", mixed)) == words(normalize("NFD", mixed)) == words(mixed)
        assert wanted(normalize("NFC", mixed)) == wanted(normalize("NFD", mixed)) == wanted(mixed)


@settings(max_examples=300, deadline=None)
@given(texts)
def test_case_is_no_difference(text: str) -> None:
    # Two marks are part of a letter in one case and stand alone in the other, behind whatever marks came first.
    assume(not {"\u0307", "\u0345"} & set(normalize("NFKD", text)))
    assert words(text.upper()) == words(text.lower()) == words(text.casefold()) == words(text)


@settings(max_examples=300, deadline=None)
@given(texts)
def test_a_text_is_found_by_itself(text: str) -> None:
    assert wanted(text) <= words(text)
    assert all(-(2**63) <= word < 2**63 for word in words(text))


@settings(max_examples=300, deadline=None)
@given(texts, texts, st.sampled_from([" ", "\n", "\t", "\u3000"]))
def test_a_longer_text_is_found_by_all_that_found_its_parts(before: str, after: str, between: str) -> None:
    assert words(before + between + after) == words(before) | words(after)
    assert wanted(before + between + after) == wanted(before) | wanted(after)


@settings(max_examples=40, deadline=None)
@given(tricky_texts, st.integers(2**16 - 45, 2**16 + 5), st.sampled_from([";", " ", "x ", "€"]))
def test_where_a_long_text_is_cut_changes_nothing(text: str, length: int, filler: str) -> None:
    lead = filler * (length // len(filler))
    assert words(f"{lead} {text}") == words(filler) | words(text)
    assert words(f"{'x' * length} {text}") == words("x" * length) | words(text)


def test_a_word_longer_than_any_page_is_one_word() -> None:
    assert words("ab" * 100_000) == {digest("ab" * 100_000)}
    assert words("é" * 100_000) == words("e\u0301" * 100_000) == {digest("é" * 100_000)}


def test_a_pile_of_marks_is_sorted_in_less_than_the_square_of_its_height() -> None:
    # Normalised as it stands, it takes minutes.
    height = 200_000
    assert words("a" + "\u0301\u0323" * height) == words("a" + "\u0323" * height + "\u0301" * height)


@pytest.mark.parametrize("letter", ["a", "中", "é", "😀", "½", "ﷺ", "e\u0301", "\u0323\u0301", "-", "中\u0301", "a "])
def test_a_text_of_one_letter_takes_a_small_multiple_of_itself(letter: str) -> None:
    text = letter * (2**18 // len(letter.encode()))
    found, peak = traced(text)
    assert (len(found) <= 4, peak < 8 * 2**20) == (True, True), peak


def test_many_different_words_take_the_memory_of_their_digests() -> None:
    source = random.Random(1)
    found, peak = traced(" ".join(f"{source.getrandbits(40):x}" for _ in range(30_000)))
    assert len(found) == 30_000
    assert peak < 30_000 * 160 + 2 * 2**20


def traced(text: str) -> tuple[frozenset[int], int]:
    """The words, and the most bytes that were held while they were found."""
    words("")
    tracemalloc.start()
    try:
        return words(text), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
