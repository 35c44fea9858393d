"""The words that decide, by purpose, each list with its languages. None is there for one data set.

English is read in sentences. German, French, Spanish, Italian, Portuguese, Dutch, Russian, Arabic, Chinese, Japanese
and Korean are known well enough to tell yes from no, and mostly to see that a message is no value. In any language a
message that is nothing but a value is read.
"""

from __future__ import annotations

import re
from typing import Final


def ordered(line: str) -> tuple[str, ...]:
    """The words of a line, "_" standing for a blank."""
    return tuple(word.replace("_", " ") for word in line.split())


def words_of(*lines: str) -> frozenset[str]:
    """The words of all ``lines``."""
    return frozenset(word for line in lines for word in ordered(line))


def one_of(words: frozenset[str]) -> str:
    """An expression for any of ``words``, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


# Lines: en; de, nl; fr; es, it, pt; ru, ar; zh, ja, ko. "_" stands for a blank.
YES: Final = words_of(
    "yes yeah yea yep yup yess aye sure sure_thing ok okay k y true correct right exactly definitely absolutely",
    "certainly",
    "of_course affirmative indeed i_do it_does it_is they_do we_do i_am we_are i_would that's_right that_is_correct",
    "that's_correct that_is_right please_do by_all_means",
    "ja jawohl jep klar natürlich gerne genau richtig jazeker",
    "oui ouais d'accord bien_sûr volontiers exactement",
    "sí si claro por_supuesto sì certo sim claro_que_sí",
    "да конечно نعم أجل ايوه",
    "是 是的 对 對 好 好的 可以 要 行 嗯 当然 はい ええ うん そうです お願いします 네 예 응 그래 맞아요 👍",
)
# They open a sentence too, and agree only where nothing else is said.
WEAK_YES: Final = words_of("ok okay k right sure exactly correct true definitely absolutely certainly indeed")
NO: Final = words_of(
    "no nope nah n false incorrect not_really not_at_all of_course_not absolutely_not definitely_not",
    "certainly_not never",
    "negative i_don't i_do_not it_doesn't it_does_not they_don't we_don't i'm_not i_am_not i_wouldn't it_isn't",
    "it_is_not",
    "nein nee nö keinesfalls",
    "non pas_du_tout",
    "não nao en_absoluto para_nada",
    "нет неа لا كلا",
    "不 不是 不要 不用 没有 不对 不行 不可以 いいえ いや いえ 違います 아니 아니요 아니오 👎",
)
# They begin like a yes or a no, and are neither.
NEITHER: Final = words_of(
    "no_problem no_preference no_idea no_matter no_worries no_clue no_one no_need_to_know no_thanks_to ok_so sure_if",
    "yes_and_no right_now no_more_than no_less_than no_particular no_specific true_or_false yes_or_no no_difference",
    "ok_but no_rush yeah_right yes_right sure_sure as_if no_way",
)
COURTESY: Final = words_of(
    "please thanks thank_you thx ty pls plz cheers thank_you_very_much thanks_a_lot many_thanks if_possible for_me",
    "bitte danke merci gracias grazie obrigado obrigada s'il_vous_plaît s'il_te_plaît por_favor per_favore alsjeblieft",
    "vielen_dank danke_schön merci_beaucoup muchas_gracias mille_grazie",
    "пожалуйста спасибо شكرا 谢谢 請 请 ありがとう 감사합니다",
)
# Before a name, and no name by themselves.
TITLES: Final = words_of("mr mrs ms miss dr prof sir madam herr frau monsieur madame señor señora signor")
# Before a name they speak to somebody: "Hey John", "Thanks, Nate".
GREETINGS: Final = words_of(
    "hi hello hey alright great perfect awesome cool good nice lovely fine sounds_good sounds_great sounds_fine",
    "that_works all_right",
)
POLITE: Final = COURTESY | GREETINGS | words_of("well oh um uh hmm hm so then")
# No value ever, whatever was asked for.
NO_VALUE: Final = words_of(
    "anything something nothing everything whatever whichever whoever any all none null undefined unknown n/a na idk",
    "dunno never_mind nevermind forget help menu cancel stop quit exit bye goodbye skip pass next back reset",
    "restart later",
    "same previous first last second other another more again anyway anywhere somewhere nowhere everywhere",
    "someone anyone",
    "nobody everybody everyone surprise random default either neither both nothing_else lol wow huh what test",
    "agreed welcome anytime congrats congratulations whoa yay oops",
    "ouch haha yikes aww totally true false",
    "weiß keine egal nichts rien aucun nada ninguno nulla niente nessuno",
    "随便 不知道 取消 没有 帮助 わからない なんでもいい キャンセル 몰라 취소 привет отмена مرحبا",
)
# What people say to a service instead of an answer: for a person, to end, to undo, about their account.
SERVICE: Final = words_of(
    "agent human person people operator representative rep supervisor manager assistant support service helpdesk",
    "advisor somebody customer refund refunds return returns complaint complain unsubscribe subscribe deactivate",
    "subscription payment invoice bill billing balance delivery shipping status login logout signup register password",
    "account settings profile order orders info information details faq contact chat chatbot bot robot ai",
    "back_to_start start_over begin_again undo redo abort terminate finish finished done end escalate feedback hours",
    "price prices cost costs discount address email phone number checkout cart basket tracking",
    "mitarbeiter mensch berater kundendienst kundenservice abbrechen abbruch stornieren stopp hilfe zurück fertig",
    "annuleren medewerker terug",
    "annuler annulation arrêter aide retour conseiller humain remboursement",
    "cancelar cancela anular parar ayuda ajuda atrás volver agente humano persona operador reembolso devolución",
    "annulla annullare aiuto operatore umano rimborso fermare indietro",
    "отменить отмена стоп помощь оператор человек назад возврат إلغاء توقف مساعدة موظف رجوع",
    "人工 客服 真人 转人工 退款 オペレーター 担当者 人間 返金 상담원 환불 상담사",
)
# Who has not made up their mind, does not mind, or only says hello.
UNDECIDED: Final = words_of(
    "undecided tbd tba tbc nvm idc ikr lol brb omg wtf np hbu pending later wherever whenever however whoever",
    "flexible dontcare indifferent unclear unsure surprise_me your_choice up_to_you you_choose you_decide you_pick",
    "open not_sure_yet either_way ugh grr argh meh pfft damn dammit shit fuck idiot stupid kk neat",
    "später plus_tard más_tarde depois dopo straks потом позже",
    "bonjour salut hola buenos_días buenas_tardes ciao buongiorno olá bom_dia hallo moin servus guten_tag guten_morgen",
    "guten_abend goedendag здравствуйте добрый_день السلام_عليكم नमस्ते 你好 您好 こんにちは 안녕하세요 good_morning",
    "good_evening good_afternoon",
    "beliebig egal_wo maakt_niet_uit geen_idee",
    "peu_importe n'importe n'importe_où n'importe_lequel aucune_idée",
    "da_igual me_da_igual da_lo_mismo me_da_lo_mismo no_importa cualquiera cualquier donde_sea",
    "fa_lo_stesso qualsiasi ovunque uguale indifferente tanto_faz qualquer",
    "всё_равно все_равно неважно любой любая любое где_угодно لا_يهم أي_شيء أي_مكان لا_أعرف",
    "都可以 都行 无所谓 無所謂 哪里都行 不限 任意 どこでも なんでも どちらでも お任せ おまかせ",
    "아무거나 상관없어요 아무데나",
)
# Adjectives that say how a thing should be, and not which. Those of the second list are in many names too.
QUALITIES: Final = words_of(
    "good nice great best better cheap cheaper cheapest expensive popular newer newest similar nearby nearest",
    "closer closest",
    "favorite favourite interesting funny available possible specific particular certain usual normal regular suitable",
    "affordable local decent recent latest sure happy sad tired sorry ready busy wrong correct incorrect",
    "perfect awesome",
    "amazing lovely excellent wonderful ideal okay whole complete direct unsure bored",
)
WEAK_QUALITIES: Final = words_of(
    "new old different near close top fun cool free fine big small fast quick long short early late open closed",
    "right ok low high real actual live",
)
# Verbs that tell somebody to do something: a message that begins with one is no value.
COMMANDS: Final = words_of(
    "book rent buy reserve order purchase cancel stop help go come tell give send show find search look play",
    "pay get take",
    "make check start continue try use watch listen change repeat forget wait add remove delete see pick choose select",
    "keep put set open close call ask leave let say know think confirm update schedule move transfer turn",
    "create list do",
    "have need want like love hate prefer visit travel fly eat drive read write print download upload share",
    "post provide",
)
# Closed classes: whoever uses one of these has said more than a value. Other languages: lines as above.
FUNCTION_WORDS: Final = words_of(
    "i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs u",
    "im i'm i've",
    "i'd i'll it's that's we'd we'll we're you're they're there's what's who's this that these those here there",
    "a an the some any no not and or nor but if so than as at by for from in into of off on onto out over to",
    "under up with",
    "without about after before around between during until till since through toward towards near against",
    "among per via",
    "is are was were be been being am do does did done doing have has had having can could will would shall should may",
    "might must ought cannot can't don't doesn't didn't won't wouldn't isn't aren't wasn't weren't haven't hasn't",
    "who whom whose which what when where why how whether because while though although",
    "just only also too very really still yet already now then actually maybe perhaps probably possibly please rather",
    "exactly quite almost sounds sound looks look seems instead else even ever never always often soon today",
    "tonight tomorrow yesterday yes yeah ok okay",
    "something anything nothing someone anyone somewhere anywhere one ones each every both few many much more",
    "most less",
    "least other another such same own mean meant guess believe suppose think thinking know sorry thanks thank",
    "hi hello hey",
)
OTHER_FUNCTION_WORDS: Final = words_of(
    "ich du er sie es wir ihr mich mir dich dir der die das den dem ein eine einen nicht kein keine keinen und",
    "oder aber",
    "ist sind war bin hat habe haben möchte will kann weiß wie wo wann warum nach für mit von zu im am auf ik",
    "jij niet geen",
    "je tu il elle nous vous ils ne pas le les un une des du et ou mais est sont suis ai veux voudrais sais que",
    "qui quoi où",
    "yo tú él ella nosotros el los las una y o pero es son soy estoy quiero sé qué quién cuándo dónde cómo io tu lui",
    "non so che chi per con di gli ed è sono voglio não eu você quero sei uma os",
    "я ты он она мы вы они не ни и или но что кто где когда как это хочу знаю мне أنا لا ما هل من في على أريد",
)
# Of those, what stands inside of names: "Lord of the Rings", "los angeles".
IN_NAMES: Final = words_of("of the and & de la los las el le del da di du des von van al san y am der sur upon")
# What one sees of a verb phrase that carries an answer: never content of its own beside a value.
CARRIERS: Final = words_of(
    "like love prefer want need choose pick take get go going fly flying travel traveling travelling book",
    "reserve use using",
    "play playing listen watch see hear try have eat visit stay sit rent buy find look looking search show set",
    "put make let",
    "give would works work sounds sound fine good great nice ok okay best perfect ideal lovely better right",
    "thanks thank",
    "class type kind sort option choice mode exactly exact device number amount please pls bitte danke merci",
    "gracias favor stp svp nehme nehmen möchte gern gerne",
    "prends prefiero prendo wil graag",
)
# Where a thing is, and what a name is of: how such a parameter may be answered differs.
PLACES: Final = words_of("city town place location country state region area airport station destination origin venue")
NAMES: Final = words_of("name title username")
ORIGINS: Final = words_of("origin originate source from start departure depart pickup")
DESTINATIONS: Final = words_of("destination to target arrival arrive dropoff end")
# What describes another thing, which may stand behind the value: "drama movies", "Italian food".
KINDS: Final = words_of(
    "genre type kind sort category style cuisine class color colour size brand model make flavor flavour"
)
# Words for where that name no place.
NOWHERE: Final = words_of(
    "home work school office north south east west outside inside abroad town city center centre downtown uptown",
    "hometown village capital suburb suburbs airport station area region country state place hotel house",
)
# What goes from one place to another.
WAYS: Final = words_of(
    "flight flights train trains bus buses ticket tickets trip ride way one-way round-trip roundtrip"
)
THINGS: Final = words_of(
    "film films flick flicks movie movies song songs music tune tunes track tracks album albums show shows book",
    "books game",
    "games food foods dish dishes cuisine restaurant restaurants place places stuff product products item items",
)
PEOPLE: Final = words_of(
    "person people passenger guest seat ticket party traveler traveller adult diner attendee visitor"
)
MONEY: Final = words_of("price cost amount budget fare fee total pay payment salary value charge rent")
TIMES: Final = words_of("duration length period age stay time long")
