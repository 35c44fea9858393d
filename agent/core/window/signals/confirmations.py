"""Whether an agent says that what was asked for has been done, and whether it asks for the next thing.

English, German, French, Spanish, Chinese and Japanese. Done on the way is not done ("your identity has been
verified"), nor is what cannot be, will be or would have to be.
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.window.signals.rule import Read, fires, rule, unspaced

_VERBS: Final = (
    "(?:booked|rebooked|cancell?ed|updated|changed|modified|processed|issued|completed|added|upgraded|created|sent|submitted|placed|scheduled|reserved|rented"
    "|purchased|paid|refunded|transferred|confirmed|saved|deleted|removed|moved|renamed|copied|installed|deployed|fixed|resolved|corrected|merged|requested"
    "|shipped|registered|published|posted|uploaded|set\\s+up|applied|waived|credited|adjusted|exchanged|returned)"
)
_CONFIRMATIONS: Final = (
    rule("been", rf"\b(?:has|have)\s+(?:now\s+|all\s+|also\s+)*been\s+(?:successfully\s+|now\s+|fully\s+)*{_VERBS}\b"),
    rule("successfully", rf"\bsuccessfully\s+{_VERBS}\b"),
    rule(
        "now just",
        rf"\b(?:is|are)\s+(?:now|all|both)\s+{_VERBS}\b|\b(?:i|we)(?:'ve|\s+have)\s+(?:now|just)\s+{_VERBS}\b",
    ),
    rule("have ve", rf"\b(?:i|we)(?:'ve|\s+have)\s+(?:also\s+)?{_VERBS}\s+(?:the|your|a|an|it|all|both|that|this)\b"),
    rule("done finished", r"(?:^|[.!\n]\s*)(?:all\s+)?(?:done|finished)(?=\s*(?:$|[.,!:\u2014-]))"),
    rule(
        "complete confirmed successful placed booked set",
        r"\byour\s+\w+(?:\s+\w+)?\s+is\s+(?:now\s+)?(?:complete|confirmed|booked|all\s+set)\b",
        r"\b(?:reservation|booking|order|payment|purchase|appointment|transfer|task|request|setup|installation)\s+(?:is|was)\s+(?:complete|confirmed|successful|placed)\b",
    ),
    rule(
        "gebucht storniert erledigt geändert bestellt abgeschlossen gesendet erstellt reserviert",
        r"\b(?:ist|sind|wurde|wurden|habe)\b.{0,40}\b(?:gebucht|storniert|erledigt|geändert|bestellt|abgeschlossen|gesendet|erstellt|reserviert)\b",
    ),
    rule(
        "été fait",
        r"\b(?:a|ont)\s+été\s+(?:bien\s+|correctement\s+)?(?:réservée?s?|annulée?s?|effectuée?s?|modifiée?s?|envoyée?s?|créée?s?|confirmée?s?)\b|\bc'est\s+fait\b",
    ),
    rule(
        "sido listo",
        r"\b(?:ha|han)\s+sido\s+(?:reservad|cancelad|completad|modificad|enviad|cread|confirmad|procesad)[oa]s?\b|(?:^|[.!¡]\s*)listo\b",
    ),
    unspaced(
        r"已(?:经|經)?(?:成功)?(?:预订|預訂|取消|完成|发送|發送|创建|創建|修改|更新|提交|支付|下单|下單)|(?:预订|預訂|支付|取消|修改|提交)成功",
        r"(?:予約|キャンセル|変更|送信|作成|登録|更新|注文|手配)(?:が|を)?(?:完了|いたしま|できま)?しました|完了(?:しました|いたしました|です)",
    ),
)
# Done on the way, or not done.
_NOT: Final = re.compile(
    r"\b(?:identity|account|order)\s+has\s+been\s+(?:\w+\s+)?(?:verified|authenticated|confirmed|located|found)\b"
    r"|\b(?:not|n't|nothing|cannot|never|once|if|unless|until|before|after|when|whether|already|which|must|should|will)\b[^.!?\n]{0,60}"
    r"\b(?:been|is|are|have|has|successfully)\b|\?\s*$"
)
_SENTENCE: Final = re.compile(r"[^.!?\n。！？]+[.!?\n。！？]*")  # noqa: RUF001 - as it is written
_MORE: Final = (
    rule("there", r"\b(?:is|was)\s+there\s+(?:anything|something|any\s+other\s+\w+)\s+(?:else|more|that|i|you)\b"),
    rule("anything something", r"\b(?:anything|something)\s+else\b[^.!\n]{0,60}\?|\bwith\s+anything\s+else\b"),
    rule(
        "further else more other",
        r"\b(?:can|could|may|shall)\s+i\s+(?:be\s+of\s+(?:any\s+)?(?:further|more|other)\s+|(?:assist|help|do)\b[^.!\n]{0,25}\b(?:further|else|more|other)\b"
        r"|further\s+(?:assist|help))|\bwhat\s+else\b[^.!\n]{0,40}\?",
        r"\b(?:would|do)\s+you\s+(?:like|need|want)\s+any(?:\s*thing\s+else|\s+(?:other|more|further)\s+\w+)",
    ),
    rule(
        "sonst noch",
        r"\b(?:kann|darf)\s+ich\s+(?:ihnen\s+|dir\s+)?(?:sonst|noch)\b|\bsonst\s+noch\s+(?:etwas|was)\b|\bbrauchen\s+sie\s+noch\b",
    ),
    rule("autre algo más", r"\bautre\s+chose\b[^.!\n]{0,40}\?|\balgo\s+más\b|\ben\s+qué\s+más\b"),
    unspaced(r"还有(?:什么|别的|其他)|還有(?:什麼|別的|其他)|(?:他|ほか)に(?:何か|ご)"),
)


def confirms_done(seen: Read) -> bool:
    """Whether an agent says that what was asked for has been done."""
    if not fires(_CONFIRMATIONS, seen):
        return False
    return any(
        fires(_CONFIRMATIONS, Read(sentence, seen.words))
        for sentence in _SENTENCE.findall(seen.text)
        if _NOT.search(sentence) is None
    )


def asks_for_more(seen: Read) -> bool:
    """Whether an agent asks whether there is anything else to do."""
    return fires(_MORE, seen)
