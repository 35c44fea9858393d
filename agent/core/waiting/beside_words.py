"""The words that may stand beside a value and say nothing of their own, by what the value is for.

A word that could take a value back, limit it, compare with it or say what became of it is in none of these lists. The
other languages have what frames an answer: "meine Bestellnummer ist", "je prends", "我要".
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.waiting.words import one_of, words_of

BESIDE: Final = words_of(
    "i i'd i'll i've we we'd we'll we've my our me us you your u it it's its it'd it'll that that's this these those",
    "the a an here here's let let's lets is are be will would should can has have got found",
    "want need prefer choose chose pick take get go going give make use put set show find see look looking search try",
    "plan planning change switch keep enter check buy order book rent reserve",
    "on with for to of and so then just only simply really definitely absolutely certainly surely exactly specifically",
    "preferably accordingly actually sorry again now also ah oh um uh er hmm hm mm well ok okay yes yeah yep yup sure",
    "please pls plz thanks thank thx ty cheers hi hello hey option choice answer value number exact",
    "ich nehme nehmen möchte hätte gern gerne bitte danke das ist die der den dem es ein eine einen mein meine meiner",
    "für um mit und nummer bestellung bestellnummer lautet ja",
    "ik wil graag mijn de het een nummer bestelling alstublieft alsjeblieft",
    "je j'ai prends voudrais c'est est le la les un une mon ma mes pour s'il vous plaît plait numéro",
    "commande merci oui",
    "quiero quisiera prefiero mi es el una número pedido por favor para gracias sí será",
    "vorrei prendo preferisco il mio mia è numero ordine per grazie sì quero queria prefiro meu minha é obrigado sim",
    "мой моя моё мне номер заказа заказ это пожалуйста хочу спасибо да رقم الطلب طلبي هو هي أريد من فضلك شكرا نعم",
)
# Behind a value they praise it, or say that it is the one. Before one they are a part of it: "Good Friday".
AFTER: Final = words_of(
    "fine good great nice perfect lovely ideal best better cool awesome excellent wonderful right correct alright",
    "works work sounds sound looks suits do does instead",
)
# Alone between marks they open what is said next: "First, I want ...".
OPENING: Final = words_of("first firstly second secondly third fourth next last lastly finally")
# Whoever says so of themselves beside a number says how old they are.
ARE: Final = words_of("i'm im am we're")
# Beside one of listed values, a day or a time: whoever tells them may tell what for.
DOING: Final = ARE | words_of(
    "in at play playing listen listening watch watching hear hearing have eat eating fly flying travel traveling",
    "travelling stay staying visit visiting sit sitting come meet free available",
)
# Beside a yes or a no.
OF_AN_AGREEMENT: Final = words_of("like love one have")
OF_A_LIST: Final = words_of("like love class type kind sort style size mode device one")
# Beside a name or an id.
OF_A_NAME: Final = words_of("was id code nr ref reference one")
# Beside a number.
OF_A_SUM: Final = words_of("in at total altogether there people")
OF_A_YEAR: Final = words_of("from in since")
MONEY_UNITS: Final = words_of("dollar usd eur euro pound gbp buck cent yen")
TIME_UNITS: Final = words_of("second minute hour day week month year night")
OF_PEOPLE: Final = words_of("we're table reservation booking party group family place places bring")
# "It's 7 pm here now" is no answer.
PRESENT: Final = words_of("now here here's")
OF_A_DAY: Final = words_of("day date by morning afternoon evening night one")
OF_A_TIME: Final = words_of("time hour around about by sharp one")
BOOKED: Final = words_of(
    "flight flights train trains bus buses ticket tickets trip trips ride way one-way roundtrip table reservation",
    "booking appointment meeting room event movie film show concert weather forecast restaurant hotel car",
)
IN_AND_OUT: Final = words_of("check checking checkin checkout in out")
# Both ends of a time or a way, each with the words for it: those of another end are about another parameter.
ENDS: Final = (
    words_of("depart departs departing departure leave leaves leaving outbound outgoing origin from"),
    words_of("return returns returning back inbound home coming"),
    words_of("arrive arrives arriving arrival land landing"),
    words_of("start starts starting begin begins beginning from"),
    words_of("end ends ending finish finishes until"),
    words_of("pickup pick picking collect"),
    words_of("dropoff drop dropping"),
    IN_AND_OUT,
)
# Whatever a description says: beside a value they may say that it is none.
NEVER: Final = words_of(
    "not no never none nothing wrong incorrect invalid expired old previous former except excluding exclude unlike",
    "other another without instead before after until than different",
)
# What says that the digits beside it are not all of them.
PARTIAL: Final = words_of("last first start starts starting end ends ending begin begins beginning four part")

# Chinese, Japanese, Korean: "my order number is", "I'll take", "please". They write no blanks between words.
_UNSPACED: Final = words_of(
    "我 我们 我們 的 要 想 想要 是 请 請 给 給 用 选 選 选择 選擇 坐 订 訂 订单 訂單 单号 單號 号 号码 號 號碼 编号",
    "就 吧 了 好 好的 谢谢 謝謝 个 個 位 张 張 那 这 這 嗯 对 對 是的 您 你 您好 你好 在 去 到 元 块 人",
    "私 の は が を に で です ます ください 下さい お願いします お願い します 注文 番号 えっと はい こんにちは 名",
    "円 する いい ね よ それ これ",
    "저 제 저는 주문 번호 주문번호 는 은 이 가 을 를 로 으로 입니다 이에요 예요 요 해 주세요 부탁합니다 부탁해요",
    "네 명 할게요 하겠습니다 원해요",
)
UNSPACED_BESIDE: Final = re.compile(f"(?:{one_of(_UNSPACED)})+")
