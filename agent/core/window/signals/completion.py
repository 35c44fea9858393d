"""Whether a user says that what they wanted is done ("that's all, thanks").

English, German, French, Spanish, Chinese and Japanese. What is done in a story is none, nor what is still to come:
"I've finished my work for today", "once that's done", "is that all?".
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.window.signals.rule import SPOKEN, Read, fires, rule, unspaced

_END: Final = r"(?=\s*(?:$|[.,!;\n)]))"
_THAT: Final = r"(?:that|this|it)(?:'s|\s+is|'ll\s+be|\s+will\s+be|\s+would\s+be|\s+should\s+be|'d\s+be|\s+was)"
_COMPLETE: Final = (
    rule(
        "all it everything",
        rf"\b{_THAT}\s+(?:about\s+)?(?:all|it|everything)(?=\s*(?:$|[.,!;\n)]|for\s+(?:now|today|me|the\s+moment)|from\s+me"
        r"|thanks?|thank\s+you|i\s+(?:need|needed|wanted|want|have|had|was)\b|right\s+now|on\s+my\s+(?:end|side)|then))",
        r"\beverything\s+(?:seems|is|looks)\s+(?:all\s+)?(?:set|sorted|settled|done|taken\s+care\s+of)\b",
        rf"\ball\s+(?:done|set|good\s+now|sorted)(?:{_END}|(?=\s+(?:now|thanks?|thank|for)\b))",
    ),
    rule(
        "done finished set good",
        rf"\b(?:i'm|i\s+am|we're|we\s+are)\s+(?:all\s+)?(?:done|finished|good\s+for\s+now|set)(?:{_END}|(?=\s+(?:now|here|thanks?|thank)\b))",
        rf"\bi\s+think\s+(?:we're|we\s+are|i'm)\s+done\b|\bjob\s+done{_END}",
    ),
    rule(
        "completes concludes wraps call stop leave",
        r"\bthat\s+(?:completes|concludes|wraps\s+up)\b|\blet's\s+(?:call\s+it\s+a\s+day|stop\s+here|leave\s+it\s+(?:there|at\s+that))\b",
    ),
    rule(
        "no nope nothing don not",
        rf"(?:^|[.!,;]\s*)(?:no|nope|nah)[\s,.]+(?:i'm\s+(?:good|fine|ok|okay)|(?:that's|it's)\s+(?:ok|okay|fine))?(?:thanks|thank\s+you)?{_END}(?=[\s.,!]*(?:thanks|thank|that|i'm|$))(?!$)",
        r"(?:^|[.!,;]\s*)(?:no|nope|nah)[\s,.]+(?:i'm\s+(?:good|fine|ok|okay|all\s+set)|nothing\s+(?:else|more)|(?:thanks|thank\s+you))",
        rf"\bnothing\s+(?:else|more|further)(?:{_END}|(?=\s+(?:for\s+(?:now|today|me)|at\s+the\s+moment|thanks?|thank|to\s+add|is\s+needed|needed)))",
        r"\b(?:i|we)\s+(?:do\s+not|don't)\s+need\s+any(?:thing|\s+(?:more|further|other)\s+(?:help|assistance))\b(?!\s+(?:from|to))",
    ),
    rule(
        "works worked solved fixed complete completed resolved",
        rf"\b(?:it|that|this|everything)\s+(?:works?|worked)\s+(?:perfectly|great|fine|now|like\s+a\s+charm){_END}|\bthat\s+(?:solved|fixed|did)\s+it\b",
        rf"\b(?:problem|issue|bug|task)\s+(?:is\s+|has\s+been\s+)?(?:solved|resolved|fixed|complete|completed){_END}",
    ),
    rule(
        "alles fertig brauche war",
        r"\bdas\s+(?:ist|war|wäre)\s+(?:dann\s+)?alles\b|\b(?:wir\s+sind|ich\s+bin)\s+fertig\b|\bmehr\s+brauche\s+ich\s+nicht\b|\bnein,\s+das\s+war's\b",
    ),
    rule(
        "tout rien fini terminé",
        rf"\bc'est\s+(?:bon\s+)?tout(?:{_END}|\s+(?:pour|merci))|\bce\s+sera\s+tout\b|\brien\s+d'autre\b|\bj'ai\s+(?:fini|terminé)(?:{_END}|\s+merci)",
    ),
    rule(
        "todo nada terminado",
        rf"\beso\s+(?:es|sería|era)\s+todo\b|\bes\s+todo\s+por\s+(?:ahora|hoy)\b|\bnada\s+más(?:{_END}|\s+gracias)|\bhe\s+terminado{_END}",
    ),
    unspaced(
        r"就这些|就這些|就这样(?:吧|了)|就這樣(?:吧|了)|没(?:有)?(?:别的|其他)(?:问题|事)?了|沒(?:有)?(?:別的|其他)(?:問題|事)?了|搞定了|不用了[,，]?(?:谢谢|謝謝)",  # noqa: RUF001 - as it is written
        r"以上です|これで(?:全部|終わり|大丈夫|結構)|それだけです|もう(?:大丈夫|結構)です|特にありません",
    ),
)
# What is still to come, or is asked.
_NOT_YET: Final = re.compile(
    r"\b(?:once|when|after|if|until|before|unless|as\s+soon\s+as)\s+(?:that|it|this|everything|you|i|we|i'm|you're|you've|all)\b[^.!?\n]{0,20}"
    r"\b(?:all|done|finished|completed?|set|works?)\b|\b(?:is|was)\s+(?:that|this|it|everything)\b[^.!\n]{0,30}\?|\bright\s*\?|\bthat's\s+all\s*\?"
)


def says_complete(seen: Read) -> bool:
    """Whether a user says that what they wanted is done."""
    return len(seen.text) <= SPOKEN and fires(_COMPLETE, seen) and _NOT_YET.search(seen.text) is None
