"""What is no answer, though a number, a day or a time is in it: it is told of another thing."""

import pytest

from agent.core.waiting import Hint
from tests.core.waiting_answers import (
    ACCOUNT,
    AMOUNT,
    DAY,
    DEPARTURE,
    HOUR,
    NOTHING,
    PASSENGERS,
    PRICE,
    RETURN,
    answer,
    each,
)


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        *each(
            ACCOUNT,
            "1) yes | $12.50 | version 2.0 | my birthday is 12.03.1990 | I have been waiting 45 minutes | "
            "it ends in 4567 | I'm 25 years old | dont use 12345 | 2) no | 1. yes | call me at 7 | ring 2 times | "
            "I have 3 accounts | 20% | 3 pm | 12.5 | 1,200 | ends with 4567 | the last four are 4567 | "
            "starts with 12 | not 12345 | 12345 is wrong | 12345, wait | my old number was 12345 but it changed | "
            "between 10 and 20 | about 300 | €50 | 50 € | USD 50 | room 12 | line 3 | since 1990 | in 1990 | "
            "1990s | 2026-03-08 | 08/03/2026 | 8.3.2026 | 10:30 | 5 minutes | 5 stars | I was born in 1990 | "
            "24/7 | 9/11 | 4 you | call 911 | chapter 11 | v2 | 2x | x2 | 3rd | option 2 | step 2 | + | -5 | "
            "-12345 | 1/2 | ½ | 12345 maybe | 12345? | 12345 or 54321 | 12345 minus 1 | I am 25 | we are 5 | "
            "he is 12 | at 5 | page 3 | 10 km | zip code 12345? | the pin for my dog is 1234 | not 1 but | "
            "my phone has 128 gb | 2.0 | iPhone 15 | windows 11 | covid 19 | the 12345 bus | 12345 isnt it | "
            "one second | dial 0 for operator | press 1",
        ),
    ],
)
def test_digits_that_name_something_else_are_none(hint: Hint, text: str) -> None:
    assert answer(text, hint) is NOTHING


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        *each(
            PRICE,
            "300 for two | three persons",
        ),
        *each(
            AMOUNT,
            "300 for two | three persons | for two | for 2 | 300? | 300-400 | 300 or 400 | at least 300 | "
            "under 300 | 300 max | 300 each | not 300 | 300 is too much | less than 300 | 3 nights | "
            "no more than 300 | 300k | 100 + 200 | around 300 | ~300 | 300+ | I am 30 | 30 minutes | option 2 | "
            "room 2 | 300 is a joke | I paid 300 but it should be less | never 300 | 300, wait | 2 x 50 | "
            "50% off | 50% | 1) | (1) yes | #1 | no 300 | half of 300 | twice 300 | double 300 | 300 minus 50 | "
            "between 200 and 300 | 200 to 300 | in 2012 | at 7 | 5 5 | 300 300 | 2 1/2 | half | a few hundred | "
            "hundreds | one hundred | 300 less | nearly 300 | $300 or less | $300? | 300 euros too much",
        ),
        *each(
            PASSENGERS,
            "- 3 | >5 | ~4 | 2 1/2 | two adults and one child | 5 5 | I am 25 | -1 people | I'm 25 | im 25 | "
            "she is 3 | 3 years old | my son is 3 | 3 kids and 2 adults | 2 adults and a child | 2 and a half | "
            "2,5 | 2.5 | 2-3 | 2/3 | 2 to 3 | 3? | 3 or 4 | not 3 | 3 isn't enough | 3 too many | no 3 | "
            "3 minus 1 | more than 3 | fewer than 3 | 3+ | 3ish | ~3 | <3 | > 3 | at 3 | 3 pm | room 3 | 3 bags | "
            "3 nights | 3 rooms | 1) two | 1. two | option 3 | gate 3 | 3rd | a couple | a few | dozens | "
            "2 or so | one way | one second | one moment | one of them may come | me and my wife | two, no wait | "
            "2, scratch that | two? no | two of my friends cancelled | two times | 2x | x2 | +2 | -2 | ½ | 0.5 | "
            "zero chance | I have 2 dogs | 5 stars | 5 minutes | in 5 | since 2012 | we are 2 hours away | 2 2 | "
            "two two | 3 - 1 | 3*2 | #3 | two and two | number 2 | no, 2 is wrong | I was 2 | there were 2 | "
            "2 less | 2 more | two left | two left already | one child | no one | 2 infants | "
            "I booked 2 last time | last time we were 3 | 2 is company, 3's a crowd",
        ),
    ],
)
def test_a_number_of_something_else_is_none(hint: Hint, text: str) -> None:
    assert answer(text, hint) is NOTHING


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        *each(
            DEPARTURE,
            "Return on 2026-03-09 | March 9th is when I return | I was born on 8 March 1990 | any day but Friday | "
            "Friday is bad | Friday isnt possible | 2 weeks from Friday | the eve of March 8th | "
            "I return on Friday | back on Friday | coming home Friday | not Friday | Friday? no | "
            "Friday doesn't work | Friday doesnt work | Friday won't work | can't on Friday | cant on Friday | "
            "I'm busy Friday | busy on Friday | Friday is a holiday | Friday is out | except Friday | "
            "any day except Friday | every Friday | some Friday | Fridays | last Friday | the Friday before last | "
            "day before Friday | the day after March 8th | two days after March 8th | a week before March 8th | "
            "March 8th or 9th | March 8th or so | around March 8th | early March | sometime in March | "
            "March 2026 | before Friday | after Friday | until Friday | by Friday at the latest? | "
            "Friday at the earliest | not before Friday | my birthday is March 8th | "
            "it's my birthday on March 8th | I was there on March 8th | "
            "the meeting is on March 8th 2026 so not that day | I arrive on Friday | arriving March 8th | "
            "Good Friday | Black Friday | Freaky Friday | I got paid Friday | my visa expires March 8th | "
            "expires 2026-03-08 | today is Friday | today I can't | yesterday | tomorrow never dies | not today | "
            "no, not tomorrow | tomorrow? maybe | maybe tomorrow | I'd rather not fly on Friday | "
            "anything but Friday | all days but Friday | Friday sucks | Friday is full | Friday was full | "
            "Friday, wait | Friday, no | Friday, scratch that | Friday nope | Friday. Never mind | "
            "Friday if it's cheap | Friday unless it rains | Friday or Saturday | Friday-Sunday | "
            "Friday to Sunday | Friday through Sunday | Friday and Sunday | the first Friday of March | "
            "2 days after Friday | a week from Friday | Friday week | mid March 8 | check in on March 8th | "
            "the deadline is Friday | since Friday | ever since Friday | Friday's too late | Friday is too early | "
            "I hate Fridays | Friday isn't good | is Friday ok | how about Friday | What about Friday? | "
            "see you Friday! bye | nicht Freitag | kein Freitag | pas vendredi | vendredi non | no el viernes | "
            "Freitag geht nicht | I ordered on March 8th | delivered on 2026-03-08 | invoice of 2026-03-08 | "
            "until tomorrow | end of the day tomorrow | in 3 days or so | due Friday",
        ),
        *each(
            RETURN,
            "I'm leaving March 8th | I leave on Friday | leaving Friday | departing March 8th | "
            "outbound March 8th | we fly out Friday | going there on Friday, no return",
        ),
        *each(
            DAY,
            "Return on 2026-03-09 | I was born on 8 March 1990 | any day but Friday | Friday is bad | "
            "Friday isnt possible | 2 weeks from Friday | the eve of March 8th",
        ),
    ],
)
def test_a_day_that_is_told_of_something_else_is_none(hint: Hint, text: str) -> None:
    assert answer(text, hint) is NOTHING


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        *each(
            HOUR,
            "I woke up at 7am | 7pm isnt good | not 7pm | 7pm? no | 7pm doesn't work | 7pm doesnt work | "
            "after 7pm | before 7pm | until 7pm | around 7pm or 8pm | 7pm or 8pm | 7-8pm | 7pm-8pm | "
            "between 7pm and 8pm | I had lunch at noon | I got up at 6 am | it's 7pm now | it's 7pm here | "
            "the store closes at 7pm | closed at 7pm | 7pm is too late | 7pm is when I eat | any time but 7pm | "
            "7pm at the earliest | not before 7pm | 7pm no | 7pm, wait | 7pm maybe | maybe 7pm | 7pm? | "
            "7pm I think | 7pm ish | 24/7 | 7 times | 7 people | at 7 people arrive | high noon | midnight blue | "
            "Midnight Express | the 7pm one is sold out | 2 hours before 7pm | an hour after noon | "
            "every day at 7pm | since 7pm | 7pm sharp is impossible | kein 7 Uhr | nicht um 19 Uhr | "
            "7pm isn't possible | cancel my 7pm | the meeting was at 7pm | I called at 7pm | "
            "a quarter to nowhere",
        ),
    ],
)
def test_a_time_that_is_told_of_something_else_is_none(hint: Hint, text: str) -> None:
    assert answer(text, hint) is NOTHING
