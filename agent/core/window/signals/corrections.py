"""Whether a text takes back or makes precise what was said before, or asks for that.

English, German, French, Spanish, Chinese and Japanese. "Actually" alone is not enough: "I was actually hoping to cancel
an order" takes nothing back. Nor is "that's correct", or "sorry" for what one does not know.
"""

from __future__ import annotations

from typing import Final

from agent.core.window.signals.rule import Read, fires, rule, unspaced

_BEGIN: Final = r"(?:^|[.!?;\n]\s*|\b(?:oh|but|and|so|hmm|ah|well)[, ]+)"
_THE: Final = r"(?:the|that|my|your|its?)"
_CORRECTIONS: Final = (
    rule(
        "mean meant said mentioned mistyped typo",
        r"\bi\s+(?:actually\s+|really\s+)?meant?\b(?!\s+(?:a\s+lot|no))|\bwhat\s+i\s+mean(?:t)?\b|\bi\s+said\b|\bas\s+i\s+(?:said|mentioned)\b",
        r"\bi\s+(?:have\s+)?(?:already|previously)\s+(?:said|told|mentioned)\b|\bi\s+mistyped\b|\btypo\b",
    ),
    rule(
        "oops whoops my correction scratch never nevermind wait hold",
        rf"{_BEGIN}(?:oops|whoops|my\s+(?:bad|mistake)|correction|scratch\s+that|never\s*mind|wait|hold\s+on|no\s+wait)\b(?!\s+for\b)",
    ),
    rule(
        "mistake wrong mistaken incorrect opposite",
        r"\bi\s+(?:made|think\s+i\s+made)\s+(?:a|the)\s+mistake\b|\b(?:was|were|am)\s+(?:wrong|mistaken)\b|\bby\s+mistake\b",
        r"\b(?:that's|that\s+is|this\s+is|it's|it\s+is|you're|you\s+are|still)\s+(?:wrong|incorrect|the\s+opposite)\b",
    ),
    rule(
        "not isn indeed",
        r"\b(?:that's|that\s+is|this\s+is|it's|it\s+is|you're|you\s+are)\s+not\s+(?:what|right|correct|it|true|quite)\b",
        r"\b(?:not|isn't|wasn't)\s+['\"$]?\w[\w$.'\"-]*[,;]\s*(?:but|it's|rather)\b|\bindeed\s+[$\d'\"]|,\s*not\s+(?:['\"$]\w|\d)",
    ),
    rule(
        "actually indeed really fact",
        rf"{_BEGIN}actually,\s+\w|{_BEGIN}actually\s+(?:it|that|this|i\s+(?!was|am)|my|no|never|not|make|let)\b",
        r"\b(?:it|that|this|total|file|flights?|cost|price|name|one|number|address|id|date)(?:'s|\s+(?:is|was|should\s+be))\s+(?:actually|in\s+fact|indeed)\b"
        r"(?!\s+(?:helpful|great|good|nice|cool|interesting|funny|important|hard|easy))",
    ),
    rule(
        "did definitely actually certainly",
        r"\bi\s+(?:actually\s+|definitely\s+)?did\s+(?!(?:you|it|that|i|not|a|an|the|my)\b)\w+",
        r"\bi\s+(?:actually|definitely|certainly)\s+(?:purchased|bought|paid|ordered|booked|sent|asked|wanted|don't\s+want|took)\b",
    ),
    rule(
        "confusion mix misunderstanding misunderstood misread oversight mixup",
        r"\b(?:confusion|mix-?up|misunderstanding|misunderstood|misread|oversight)\b(?!\s+(?:matrix|board|committee))",
    ),
    rule(
        "forgot overlooked",
        r"\bi\s+(?:forgot|overlooked)\b(?!\s+(?:my|the)\s+(?:\w+\s+)?(?:password|id|name)\b)|\bforgot\s+to\s+(?:mention|say|add|tell)\b",
    ),
    rule(
        "exact precise clear clarify clarification specific clearing clearer",
        r"\bto\s+(?:be\s+(?:exact|precise|clear|more\s+(?:exact|precise|specific))|clarify)\b|\bclarif(?:y|ication)\b(?!\s+values)|\bclearing\s+that\s+up\b",
        rf"\b{_THE}\s+(?:specific|exact)\s+\w+(?:,[^,\n]{{1,50}},)?\s+(?:is|was|should\s+be)\b",
    ),
    rule(
        "correct right",
        rf"\b{_THE}\s+(?:correct|right)\s+(?:\w+\s+){{0,2}}?(?:\w+,[^,\n]{{1,50}},\s+)?(?:is|was|should\s+be)\b",
    ),
    rule("specifically precisely words", r"\b(?:more\s+)?(?:specifically|precisely)\s*[,:]|\bin\s+other\s+words\b"),
    rule(
        "is are should",
        rf"^{_THE}\s+(?:\w+\s+){{1,3}}(?:should\s+(?:be|go)\b(?!\s+(?:able|eligible|fine|ok|enough))|(?:is|are)\s+(?:the\s+)?['\"\u2018\u201c])",
        rf"^{_THE}\s+\w+\s+is\s+(?:the\s+one|the\s+\w+$|actually|just)",
    ),
    rule(
        "thought changed second",
        r"\bi\s+thought\b[^.?!\n]{0,60}\b(?:was|were|had|would|is|are)\b|\bchanged\s+my\s+mind\b|\bon\s+second\s+thoughts?\b",
    ),
    rule("should", r"\bshould\s+have\s+(?:been|said|had)\b"),
    rule(
        "meine meinte korrektur nein stimmt falsch genauer missverständnis missverstanden vertan geirrt genau",
        r"\bich\s+mein(?:e|te)\b(?!,?\s+(?:dass|es))|\bkorrektur\b|\bnein,\s+(?:ich|das|es|nicht)\b|\bdas\s+(?:stimmt|ist)\s+(?:so\s+)?(?:nicht|falsch)\b",
        r"\bgenauer\s+gesagt\b|\bmissverst\w+|\bich\s+habe\s+mich\s+(?:vertan|geirrt)\b|\bum\s+genau\s+zu\s+sein\b",
    ),
    rule(
        "voulais précisément non faux erreur trompé trompée précis exact clair malentendu fait",
        r"\bje\s+voulais\s+dire\b|\bplus\s+précisément\b|\bnon,\s+(?:je|c'est|ce|pas)\b|\bc'est\s+(?:faux|une\s+erreur)\b",
        r"\bje\s+me\s+suis\s+trompée?\b|\bpour\s+être\s+(?:précis|exact|clair)\b|\bmalentendu\b|\ben\s+fait,",
    ),
    rule(
        "decir equivoqué refiero no dicho exacto preciso claro malentendido",
        r"\b(?:quise|quería)\s+decir\b|\bme\s+equivoqué\b|\bno,\s+(?:me\s+refiero|es|eso|yo)\b|\bmejor\s+dicho\b",
        r"\bpara\s+ser\s+(?:exacto|preciso|claro)\b|\bmalentendido\b|\bno\s+es\s+(?:correcto|eso)\b",
    ),
    unspaced(
        r"我是说|我是說|我的意思是|不对[,，。]|不對[,，。]|说错了|說錯了|搞错了|搞錯了|更正|确切地说|准确地说|準確地說|你(?:误解|誤解)",  # noqa: RUF001 - as it is written
        r"という意味|じゃなくて|ではなくて?、|間違えました|間違いました|訂正|正確には|違います[。、]|言い間違",
    ),
)


def is_correction(seen: Read) -> bool:
    """Whether a text corrects or clarifies."""
    return fires(_CORRECTIONS, seen)
