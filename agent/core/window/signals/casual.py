"""Whether a text is nothing but a courtesy: a greeting, thanks, a goodbye, praise.

English, German, French, Spanish, Italian, Chinese and Japanese. One word that says something more, and it is none:
"Yes, please proceed. Thank you!" and "Hi, I need a flight" are not. A bare "yes" or "okay" answers something.
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.window.signals.rule import SPOKEN, Read

_THANKED: Final = (
    r"(?:\s+(?:so|very)\s+much|\s+a\s+(?:lot|million|bunch|ton)|\s+again|\s+anyway|\s+in\s+advance)*"
    r"(?:\s+for\s+(?:(?:all|everything|that|this)(?:\s+(?:the|your|of)\b)*|(?:(?:all|the|your|of|kind|quick|great)\s+)*"
    r"(?:help|assistance|time|support|patience|kindness|understanding|words?|info|information|update|answer|reply|response|service"
    r"|asking|letting\s+me\s+know|clearing\s+that\s+up|helping(?:\s+me)?(?:\s+out)?|(?:the\s+)?(?:breakdown|clarification|explanation|details)))"
    r"(?:\s+(?:so\s+far|today|with\s+(?:this|that|everything)))*)?"
)
_PHRASES: Final = (
    # Thanks.
    (
        rf"(?:many\s+|big\s+)?(?:thanks|thank\s+(?:you|u)|thx|ty|cheers){_THANKED}|(?:much\s+)?appreciated"
        r"|(?:i\s+)?(?:really\s+|greatly\s+|do\s+)?appreciate\s+(?:it|(?:that|this)|(?:all\s+)?(?:your|the)\s+(?:help|assistance|time|support))"
        r"|you(?:'ve|\s+have)\s+been\s+(?:so\s+|very\s+|really\s+|most\s+|a\s+great\s+)*(?:helpful|kind|patient|great|help)"
    ),
    # Greetings.
    (
        r"(?:hi|hello|hey|hiya|howdy|greetings|yo)(?:,?\s+(?:there|again|all|everyone|folks|world))?"
        r"|good\s+(?:morning|afternoon|evening|day|night)|how\s+are\s+you(?:\s+(?:doing|today))*|how(?:'s|\s+is)\s+it\s+going|what(?:'s|\s+is)\s+up"
        r"|nice\s+to\s+meet\s+you|(?:i'm|i\s+am)\s+(?:fine|good|great|doing\s+well)(?:\s+too)?"
    ),
    # Goodbyes and wishes.
    (
        r"(?:good)?bye(?:\s+(?:bye|now|for\s+now))?|see\s+(?:you|ya)(?:\s+(?:later|soon|then|around|tomorrow))?|take\s+care"
        r"|talk\s+(?:to\s+you\s+)?(?:soon|later)|(?:have|enjoy)\s+(?:a|the|your)\s+(?:(?:rest\s+of\s+your|very|really)\s+)?"
        r"(?:(?:great|nice|good|wonderful|lovely|pleasant|safe|fantastic|amazing)\s+)*(?:rest\s+of\s+your\s+)?"
        r"(?:day|evening|night|one|weekend|trip|flight|time|week|journey|travels)(?:\s+(?:ahead|too))?|safe\s+travels|until\s+next\s+time"
        r"|you\s+too|same\s+to\s+you|likewise|cheerio"
    ),
    # What is answered to them.
    (
        r"you(?:'re|\s+are)\s+(?:very\s+|most\s+|so\s+)?welcome|(?:my\s+pleasure|no\s+problem|no\s+worries|anytime|glad\s+(?:to\s+help|i\s+could\s+help))"
        r"|(?:happy|glad)\s+to\s+(?:help|assist)|feel\s+free\s+to\s+reach\s+out(?:\s+any\s*time)?"
        r"|how\s+(?:can|may)\s+i\s+(?:help|assist)\s+you(?:\s+today)?"
        r"|if\s+you\s+(?:have|need)\s+any(?:\s*thing)?(?:\s+(?:more|other|further|else))*(?:\s+(?:questions?|help|assistance))?"
        r"(?:\s+in\s+the\s+future)?,?\s*(?:please\s+)?(?:don't\s+hesitate|feel\s+free)\s+to\s+(?:ask|reach\s+out|contact\s+me)"
    ),
    # Praise and noises.
    (
        r"(?:that(?:'s|\s+is)\s+|this\s+is\s+|it(?:'s|\s+is)\s+|sounds\s+|looks\s+)?(?:so\s+|really\s+|very\s+|just\s+)?"
        r"(?:great|perfect|awesome|wonderful|excellent|fantastic|amazing|cool|nice|lovely|brilliant|super|terrific|helpful)"
        r"(?:\s+(?:to\s+hear|work|job|stuff))?|(?:lol|haha\w*|hehe\w*|wow|yay|hmm+|oh|ah|aww|well|okay|ok|alright|will\s+do|got\s+it|i\s+will)"
        r"|makes\s+sense|i\s+see|understood|so\s+much"
    ),
    # German; French; Spanish, Italian.
    (
        r"(?:vielen\s+|herzlichen\s+|besten\s+)?dank(?:e)?(?:\s+(?:schön|sehr|dir|ihnen|für\s+(?:die|deine|ihre)\s+hilfe))*|hallo|guten\s+(?:tag|morgen|abend)"
        r"|tschüss|auf\s+wiedersehen|bis\s+(?:bald|dann|später)|schönen\s+tag(?:\s+noch)?|gern(?:e)?\s+geschehen|wie\s+geht(?:'s|\s+es\s+(?:dir|ihnen))"
    ),
    (
        r"merci(?:\s+(?:beaucoup|bien|à\s+vous|infiniment|pour\s+(?:votre|ton|l')\s*aide))*|bonjour|bonsoir|salut|au\s+revoir|à\s+bientôt|bonne\s+(?:journée|soirée)"
        r"|de\s+rien|(?:comment\s+)?ça\s+va"
    ),
    (
        r"(?:muchas\s+|mil\s+)?gracias(?:\s+por\s+(?:tu|su|la)\s+ayuda)?|hola|buen(?:os|as)\s+(?:días|tardes|noches)|adiós|hasta\s+(?:luego|pronto)|de\s+nada"
        r"|(?:mille\s+)?grazie(?:\s+mille)?|ciao|buon(?:giorno|asera)|arrivederci|prego"
    ),
    # Chinese; Japanese.
    r"(?:非常)?(?:谢谢|謝謝|感谢|感謝)(?:你|您)?(?:的帮助|的幫助)?(?:了)?|多谢|多謝|你好|您好|再见|再見|拜拜|早上好|晚上好|不客气|不客氣|太好了|好的?呢",
    r"(?:どうも)?ありがとう(?:ございま(?:す|した))?|こんにちは|こんばんは|おはよう(?:ございます)?|さようなら|またね|どういたしまして|お疲れ様(?:です|でした)?",
)
_BETWEEN: Final = r"[\s,.!?¡¿…~:;)(、。！？，\u2600-\u27bf\U0001f300-\U0001faff\ufe0f-]*"  # noqa: RUF001 - they are meant
# Alone they are an answer.
_AGREES: Final = frozenset({"ok", "okay", "alright"})
# Nothing is tried twice: "thanks so much" can be parted in more than one way, and a long message has many of them.
_CASUAL: Final = re.compile(rf"{_BETWEEN}+(?:(?>(?:{'|'.join(_PHRASES)}|and|but|so)(?!\w)){_BETWEEN}+)++")


def is_casual(seen: Read) -> bool:
    """Whether a text is courtesy alone."""
    if len(seen.text) > SPOKEN or seen.words <= _AGREES:
        return False
    return _CASUAL.fullmatch(seen.text) is not None
