"""What is no answer in words: a yes or a no with something beside it, and what is said to a service."""

import pytest

from agent.core.waiting import Hint
from tests.core.waiting_answers import CITY, GENRE, NAME, NOTHING, OUTSIDE, answer, each


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        *each(
            OUTSIDE,
            "ok cancel | ok bye | ok wait | okay stop | right, so how much is it | yeah right | yes, inside | "
            "sure is hot | y/n | ok? | okay, agent | ok help | ok never mind | ok so what | ok but no | "
            "ok whatever | ok I want a human | sure, cancel it | sure about what | sure, why not | yes or no | "
            "yes/no | yes no | no yes | yes, cancel | yes, inside please | yes inside | yes but | yes if | "
            "yes, depends | yes, whatever | yes minister | yesterday | yes, stop | yes, bye | yes wait | "
            "yes, wait | yes, agent | yes, I said no | yes, I want a refund | yes, 2 | yes I am 25 | "
            "exactly what | exactly how | right now | right there | right, next | true story | true or false | "
            "correct me | correct me if I'm wrong | not yes | no yes no | nope yes | no inside | no, inside | "
            "no, outside | no way | no worries | no problem at all | no clue | no more | no one | no doubt | "
            "no kidding | no, wait | no, agent | no cancel | no stop | no, help | n/a | na | never mind | "
            "nein doch | of course not yes | sure thing boss | yeah, nah | yeah no | yeah, no | nah yeah | "
            "yep, nope | I do not know | I do care | it is hot | it does matter | ok I guess | I guess so | "
            "i suppose so | yes I think | I think yes | probably yes | yes, probably | maybe yes | say yes | "
            "I said yes yesterday | he said yes | did I say yes? | Yes we can talk | yes sir cancel | y tho | "
            "k bye | okay google | ok boomer | okay, let me think | ok, one second | sure, one moment | "
            "ok thanks bye | ok got it | alright ok stop | right, and the price | right. How much? | "
            "ok. How much is it? | ok, how much | da wo | ja nein | ja aber | oui mais | si no | sí pero | jein | "
            "true that | 👍👎 | yes 👎 | 👎👍",
        ),
    ],
)
def test_a_yes_or_a_no_with_something_beside_it_is_none(hint: Hint, text: str) -> None:
    assert answer(text, hint) is NOTHING


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        *each(
            CITY,
            "agent | human | Real person please | operator | Refund | unsubscribe | tbd | nvm | Undecided | "
            "wherever | cancelar | annuler | abbrechen | da igual | peu importe | O-12345 | representative | "
            "customer service | speak to a human | live agent | human please | a real human | talk to agent | "
            "agent!! | AGENT | Agent | operator please | support | help me | help | cancel | stop | quit | "
            "refund please | my refund | return | complaint | unsubscribe me | TBD | tba | idc | Idk | dunno | "
            "no clue | undecided yet | still undecided | not decided | whatever works | wherever you like | "
            "anywhere is fine | surprise me | your choice | you choose | you decide | up to you | any | any city | "
            "cancelar por favor | annuler s'il vous plaît | abbrechen bitte | egal | egal wo | n'importe où | "
            "no importa | me da igual | cualquiera | fa lo stesso | tanto faz | maakt niet uit | всё равно | "
            "неважно | отмена | оператор | لا يهم | إلغاء | 都可以 | 随便 | 人工 | 客服 | どこでも | キャンセル | "
            "상담원 | 아무거나 | hilfe | ayuda | aide | mitarbeiter | mensch | agente | operatore | A123 | 12A | "
            "sector 7 | #1 | route 66 | LOL | lol ok | brb | hmm | um | ??? | ... | no | yes | maybe | "
            "maybe Paris | Paris? | not Paris | Paris, wait | Paris... no wait | Paris, no | Paris no | "
            "Paris nope | Paris. No. | Paris. Wait. | Paris. Never mind. | Paris, scratch that | "
            "Paris scratch that | Paris, wrong | Paris is wrong | Paris isnt it | Paris aint it | "
            "anywhere but Paris | Paris or Rome | Paris and Rome | Paris/Rome | non-Paris | pas Paris | "
            "nicht Paris | kein Paris | sans Paris | не Париж | ليس باريس | except Paris | excluding Paris | "
            "neither Paris | forget Paris | skip Paris | like Paris | unlike Paris | near Paris | "
            "somewhere near Paris | Paris, I think | I think Paris | Paris I guess | Paris Hilton is nice | "
            "I was in Paris | I hate Paris | I live in Paris | from Paris | leaving Paris | Paris is far | "
            "<b>Paris</b> | {Paris} | city=Paris&x=1 | system: Paris | main menu | start over | go back | back | "
            "next | done | finish | checkout | order status | my order | my account | login | password | hello | "
            "hi there | thanks | bye | good morning | price | how much | hours | opening hours | contact | email | "
            "phone number | pizza? | what | why | none | nothing | null | undefined | n/a | test | asdf? | same | "
            "the same | same as before | previous | there | here | home | my place | downtown?",
        ),
        *each(
            NAME,
            "Paris nah | Paris hopefully | "
            "Mr. No | Mr. | Mrs. | Dr. | Mr No | No | Nobody | agent | O-12345 | tbd | cancel | my name | "
            "not John | John? no | John, no wait | John no | call me later | anonymous? | I won't say | none | "
            "no name | Mr. Nobody no | unknown",
        ),
        *each(
            GENRE,
            "drama or comedy | no drama | not drama | drama? no | drama queen please stop | anything but drama | "
            "undecided | refund | agent | drama, wait | less drama | drama-free | non-drama",
        ),
    ],
)
def test_what_is_no_value_of_any_parameter_is_none(hint: Hint, text: str) -> None:
    assert answer(text, hint) is NOTHING
