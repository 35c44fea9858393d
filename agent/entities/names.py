"""Names of people, organisations, places and works in prose, told by what stands around them or by a small list.

A capital alone names nobody: see ``runs``. Addresses with a number and names in scripts without capitals have patterns
of their own here, and so has "my name is" with a name in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.entities import name_lists as lists
from agent.entities.known import Known
from agent.entities.mention import Mention
from agent.entities.runs import runs

_ADDRESS: Final = re.compile(
    r"\d(?<![\w.-].)\d{0,4} (?:[NSEW]\. |[A-Z][a-z]{1,20} |\d{1,3}(?:st|nd|rd|th) ){1,4}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Drive|Dr|Lane|Ln|Court|Ct|Way|Place|Square|Terrace|Parkway|Highway)(?!\w)"
)
_EACH_STREETS: Final = (
    "street st avenue ave road rd boulevard blvd drive dr lane ln court ct way place square terrace parkway highway"
)
_STREETS: Final = frozenset(_EACH_STREETS.split())
_GERMAN_ADDRESS: Final = re.compile(r"[A-ZÄÖÜ](?<!\w.)[a-zäöüß]{2,24}(?:straße|strasse|gasse|platz) \d{1,4}(?!\w)")
_LOWER_NAME: Final = re.compile(r"\bmy (?:full )?name is ([a-z]{2,20}(?: [a-z]{2,20})?)(?=[.,!\n]|\Z| and )")
_CJK_NAMES: Final = re.compile(
    r"(?:我叫|我的名字是|我是)([王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈]"
    r"[\u4e00-\u9fff]{1,2})(?=[，。,.！!\s]|\Z)"  # noqa: RUF001 - as it is written
    r"|([王李张刘陈杨黄赵吴周徐孙朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈])(?:先生|女士|小姐|太太)"
    r"|([\u4e00-\u9fff]{2,4})(?:さん|様)|([김이박최정강조윤장임한오서신권황안송류홍][가-힣]{2})(?:씨|입니다)"
)
_CJK: Final = re.compile("[\u3040-\u9fff\uac00-\ud7a3]")
_CJK_PLACES: Final = re.compile(lists.CJK_PLACES)


def names(prose: str, words: set[str], known: Known) -> Iterator[Mention]:
    """The names in ``prose``, a piece without lines of code; ``words`` are all of the piece, in lower case.

    ``known`` has those from before and gets the new ones.
    """
    if not words.isdisjoint(_STREETS):
        for found in _ADDRESS.finditer(prose):
            yield Mention(*found.span(), "LOCATION")
    if "traße" in prose or "strasse" in prose or "gasse" in prose or "platz" in prose:
        for found in _GERMAN_ADDRESS.finditer(prose):
            yield Mention(*found.span(), "LOCATION")
    if not prose.isascii() and _CJK.search(prose):
        yield from _cjk(prose)
    if "my" in words and "name" in words:
        for found in _LOWER_NAME.finditer(prose):
            yield Mention(*found.span(1), "PERSON")
    yield from runs(prose, words, known)


def _cjk(prose: str) -> Iterator[Mention]:
    for found in _CJK_NAMES.finditer(prose):
        group = found.lastindex or 0
        yield Mention(*found.span(group), "PERSON")
    for found in _CJK_PLACES.finditer(prose):
        yield Mention(*found.span(), "LOCATION")
