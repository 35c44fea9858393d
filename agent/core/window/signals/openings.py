"""Whether a message opens something new: a request, and words that turn to it.

English, German, French, Spanish, Chinese and Japanese. ``asks`` is any request ("find me a song"); ``turns_away`` is
one that turns away from what was before ("now I need the weather", "I'd rather listen to music").
"""

from __future__ import annotations

from typing import Final

from agent.core.window.signals.rule import Read, fires, rule, unspaced

_THINGS: Final = r"(?:an?|some|any|the|another|more|my|information|info|details|help|to)"
_LEAD: Final = r"(?:^|[.!?,;:\n]\s*|\b(?:and|also|now|then|please|just|but|so|ok|okay|next)\s+)"
_VERBS: Final = (
    "(?:find|search|look|get|give|show|tell|book|reserve|buy|order|play|check|make|create|write|add|send|schedule|set|open|read|list|compare|move|copy|compute"
    "|calculate|translate|summari[sz]e|explain|recommend|suggest|plan|help|fix|implement|run|draft|post|cancel|change|return|exchange|update|locate)"
)
_ASKS: Final = (
    rule(
        "like love want wanna need wish hope looking",
        rf"\b(?:i|we)(?:'d|\s+would)?\s+(?:(?:also|just|really|now|actually|still)\s+)*(?:like|love|want|wanna|need|wish|hope)\s+(?:you\s+to|to\s+\w+|{_THINGS}\b|\w+s\b)",
    ),
    rule(
        "looking searching hoping trying interested planning wondering thinking",
        r"\b(?:i'm|i\s+am|we're|i\s+was|been)\s+(?:(?:also|now|just|actually)\s+)*(?:looking|searching|hoping|trying|interested|planning|wondering|thinking)\b",
    ),
    rule("rather", r"\b(?:i|we)(?:'d|\s+would)\s+rather\s+[a-z]+\b"),
    rule(
        "can could would will may might",
        rf"\b(?:can|could|would|will|may|might)\s+(?:you|i|we)\s+(?:\w+\s+){{0,2}}{_VERBS}\b",
    ),
    rule(
        "find search look get give show tell book reserve buy order play check make create write add send"
        " schedule set open read list compare move copy compute"
        " calculate translate summarize summarise explain recommend suggest plan"
        " help fix implement run draft post cancel change return exchange update locate",
        rf"{_LEAD}{_VERBS}\s+(?:me|us|for|up|out|at|in|on|of|{_THINGS})\b|\blet's\s+{_VERBS}\b",
    ),
    rule("help assist about", r"\b(?:help|assist)\s+me\b|\b(?:how|what)\s+about\s+(?:an?|some|the|any)\b"),
    rule(
        "what how is are",
        r"(?:^|[.!?,;]\s*|\b(?:and|also|now|know)\s+)(?:what(?:'s|\s+is|\s+are|\s+will|\s+the)|how(?:'s|\s+is|\s+do|\s+many|\s+much|\s+the)|is\s+there|are\s+there)\b",
    ),
    rule(
        "möchte brauche will suche hätte können kannst zeig",
        r"\bich\s+(?:möchte|brauche|will|suche|hätte\s+gern)\b|\b(?:können\s+sie|kannst\s+du|such\w*\s+mir|zeig\s+mir)\b",
    ),
    rule(
        "voudrais veux cherche souhaite aimerais vous peux pourriez",
        r"\bje\s+(?:voudrais|veux|cherche|souhaite)\b|\bj'aimerais\b|\b(?:pouvez-vous|peux-tu|pourriez-vous)\b",
    ),
    rule(
        "quiero quisiera necesito busco gustaría puedes podrías puede",
        r"\b(?:quiero|quisiera|necesito|busco|me\s+gustaría|puedes|podrías|puede\s+usted)\b",
    ),
    unspaced(
        r"我想|我要|我需要|帮我|幫我|请(?:帮|给|问|查)|請(?:幫|給|問|查)|(?:て|で)(?:ください|くれますか|もらえますか)|たいです|お願い"
    ),
)
_TURNS: Final = (
    rule(
        "also another more different else",
        r"\balso\b|\banother\s+(?:thing|question|task|request|matter|topic)\b"
        r"|\bone\s+more\s+(?:thing|question)\b|\bsomething\s+else\b|\bdifferent\s+(?:question|topic|task)\b",
    ),
    rule(
        "now next meanwhile meantime moving way btw separately additionally apart",
        rf"{_LEAD}(?:now|next|meanwhile|in\s+the\s+meantime|moving\s+on|apart\s+from\s+that|by\s+the\s+way|btw|separately|additionally)\b"
        r"(?!\s+(?:that|it|is|i'm|i\s+am|and|then|you)\b)",
        r"(?<!right )(?<!not )\bnow\s*\?|\b(?:can|could)\s+you\s+now\b",
        r"\bi(?:'d|\s+would)?\s+(?:now|next)\s+(?:like|want|need)\b",
    ),
    rule(
        "rather mind instead",
        r"\b(?:would|'d)\s+rather\b|\bchanged\s+my\s+mind\b|\binstead,?\s+(?:i|can|could|let's|please)\b",
    ),
    rule(
        "außerdem jetzt noch andere", r"\baußerdem\b|\bjetzt\s+(?:möchte|brauche)\b|\bnoch\s+etwas\b|\bandere\s+frage\b"
    ),
    rule("maintenant autre ailleurs", r"\bmaintenant\b|\bautre\s+(?:chose|question)\b|\bpar\s+ailleurs\b"),
    rule("ahora también otra además", r"\b(?:ahora|también|además)\b|\botra\s+(?:cosa|pregunta)\b"),
    unspaced(r"另外|还有[,，一]|還有[,，一]|接下来|接下來|顺便|順便|次は|あと、|それから|ところで|別の"),  # noqa: RUF001 - as it is written
)


def asks(seen: Read) -> bool:
    """Whether a text asks for something to be done or told."""
    return fires(_ASKS, seen)


def turns_away(seen: Read) -> bool:
    """Whether a text turns to something else than what was before, in so many words."""
    return fires(_TURNS, seen)
