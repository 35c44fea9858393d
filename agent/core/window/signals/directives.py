"""Whether a text tells how something is to be done, or limits it, beyond asking for it.

English, German, French, Spanish, Chinese and Japanese. "I don't want to fly before 11" and "reply with the number only"
are; "I don't remember" and "book a flight" are not.
"""

from __future__ import annotations

from typing import Final

from agent.core.window.signals.rule import Read, fires, rule, unspaced

_WISH: Final = r"(?:want|need|like|wish|require)"
_TELL: Final = r"(?:return|reply|respond|answer|use|say|include|mention|give|mentioning|want|contain|print|show|pay)"
_AT: Final = r"\d{1,2}(?::\d\d)?\s*(?:am|pm)\b"
_DIRECTIVES: Final = (
    rule(
        "don not never",
        r"(?:^|[.!?;:,\n]\s*|[-*]\s+|\b(?:please|and|but|so|you|to)\s+)(?:do\s+not|don't|never)\s+"
        rf"(?!{_WISH}\b)(?!(?:worry|hesitate|remember|know|mind|have|think|alone|see|get|be\s+(?:a|an|sure|some|another))\b)\w+",
        rf"\b(?:i|we)\s+(?:really\s+)?(?:do\s+not|don't|would\s+not)\s+{_WISH}\b(?!\s+to\s+(?:be\s+rude|bother))",
    ),
    rule("wouldn longer", rf"\b(?:i|we)\s+(?:really\s+)?(?:wouldn't|no\s+longer)\s+{_WISH}\b"),
    rule(
        "prefer rather preferably", r"\b(?:i|we)(?:'d|\s+would)?\s+(?:strongly\s+)?(?:prefer|rather)\b|\bpreferably\b"
    ),
    rule(
        "must shall should may",
        r"\bmust\s+(?:not|only|always|never|contain|use|include|start|end|return|re-?\w+)\b|\b(?:shall|should)\s+not\b",
        r"\b(?:you|it|they|output|answer|report|file|code)\s+must\b(?!\s+(?:have|be\s+(?:a|an|some)))"
        r"|\b(?:should|may)\s+(?:only|not|never|always)\b",
    ),
    rule("sure ensure ensuring", r"\b(?:make|be)\s+sure\b(?!\s+i\b)|\bensur(?:e|ing)\b(?!\s+accuracy)"),
    rule(
        "always only exactly just",
        r"(?:^|[.!?;:,\n]\s*|[-*]\s+)(?:please\s+)?(?:always|only)\s+(?!(?:the|a|an|one|two|is|was|then|if|my)\b)[a-z]+",
        rf"\b{_TELL}(?:\s+\w+){{0,2}}\s+(?:(?:with|in|by|me|as)\s+)?(?:exactly|only|just)\b",
        r"\bjust\s+the\s+\w+[.!]?$|\bonly\s+(?:use|contain|include|return|the\s+(?:tool\s+)?(?:result|number|code|name))\b",
    ),
    rule("without", r"\bwithout\s+(?!(?:knowing|thinking|having)\b)[a-z]+ing\b"),
    rule(
        "most least than up within under below exceed",
        r"\b(?:at\s+most|at\s+least|no\s+(?:more|less|later|earlier|fewer)\s+than|up\s+to|within|under|below|exceed)"
        r"\s+\$?\d[\d,.]*(?!\s*(?:hours?|days?|weeks?)\s+of\b)|\bif\s+(?:it's|it\s+is)?\s*more\s+than\s+\$?\d",
    ),
    rule(
        "before after by",
        rf"\b(?:want|prefer|need|fly|depart|leave|arrive|departs|departing|options?|flights?)\b[^.?!\n]{{0,40}}\b(?:before|after|by)\s+{_AT}",
    ),
    rule(
        "regardless matter long default remember mind on",
        r"\bregardless\s+of\b|\bno\s+matter\s+(?:what|how)\b|\bas\s+long\s+as\b|\bfrom\s+now\s+on\b|\bby\s+default\b",
        r"(?:^|[.!?:\n]\s*|\bplease\s+)remember\s+(?:this|that|to|the\s+following)\b|\bkeep\s+in\s+mind\b",
    ),
    rule(
        "keep keeping",
        r"\bkeep(?:ing)?\s+(?:the|my|it|all|everything)\b[^.?!\n]{0,40}\b(?:same|intact|as\s+(?:is|it\s+is)|unchanged)\b",
    ),
    rule(
        "if",
        r"\bif\s+(?:it|the|this|that|more|there|not)\b[^.?!\n]{0,80},?\s+(?:please\s+)?"
        r"(?:return|use|stop|ask|tell\s+me|create|cancel|report|fall\s+back)\b",
    ),
    rule(
        "niemals immer keinen unbedingt ausschließlich höchstens mindestens achte achten stelle stellen will möchte",
        r"\b(?:niemals|immer\s+nur|auf\s+keinen\s+fall|unbedingt|ausschließlich|höchstens|mindestens)\b",
        r"\bachten?\s+(?:sie\s+)?(?:bitte\s+)?darauf\b|\bstellen?\s+(?:sie\s+)?sicher\b|\bich\s+(?:will|möchte)\s+(?:nicht|kein\w*)\b",
    ),
    rule(
        "assurez assure veillez uniquement maximum plus moins surtout pas jamais",
        r"\b(?:assurez-vous|assure-toi|veillez\s+à|uniquement|au\s+maximum|au\s+plus|au\s+moins|surtout\s+pas)\b",
        r"\bje\s+ne\s+(?:veux|souhaite)\s+pas\b|\bil\s+ne\s+faut\s+(?:pas|jamais)\b",
    ),
    rule(
        "asegúrate asegúrese únicamente solamente máximo mínimo menos nunca no",
        r"\b(?:asegúrate|asegúrese|únicamente|solamente|como\s+(?:máximo|mínimo)|(?:al|por\s+lo)\s+menos)\b",
        r"(?:^|[.!?¡,]\s*)nunca\b|\bno\s+quiero\s+que\b",
    ),
    unspaced(
        r"必须|必須|务必|務必|不要(?!紧|緊)|不得|禁止|千万别|只能|最多|至少|不超过|不超過",
        r"必ず|絶対に|しないで|てはいけ|以内で|までに|だけを?(?:返|使|出力)",
    ),
)


def is_directive(seen: Read) -> bool:
    """Whether a text gives a standing instruction or a limit."""
    return fires(_DIRECTIVES, seen)
