"""What stands before a name and says of which type it is, in lower case; and words that name nothing."""

from __future__ import annotations

from typing import Final

_HONORIFICS: Final = (
    "mr mr. mrs mrs. ms ms. miss mx. dr dr. prof prof. professor sir dame herr frau señor señora sr. sra. "
    "don doña monsieur madame mme mlle signor signora signore dott. senhor senhora dhr. mevrouw г-н г-жа "  # noqa: RUF001 - as it is written
    "господин госпожа"
)
HONORIFICS: Final = frozenset(_HONORIFICS.split())
# Whatever has a capital behind these is a person.
_OF_PERSONS: Final = (
    "my name is|my full name is|my name's|call me|directed by|written by|starring|starred by|sung by|"
    "painted by|composed by|authored by|me llamo|mi nombre es|je m'appelle|je m’appelle|mon nom est|"  # noqa: RUF001 - as it is written
    "ich heiße|ich heisse|mein name ist|mi chiamo|il mio nome è|meu nome é|me chamo|mijn naam is|ik heet|"
    "меня зовут|मेरा नाम|اسمي|under the name|on behalf of|signed by|nombre de|dirigida por"
)
OF_PERSONS: Final = frozenset(_OF_PERSONS.split("|"))
# A person, where the name is in the list.
_MAYBE_PERSONS: Final = (
    "i'm|i’m|i am|this is|hi|hello|hey|dear|thanks|thank you|by|with|from|and|soy|je suis|ich bin|sono|sou o|"  # noqa: RUF001 - as it is written
    "sou a|ik ben|hola|hallo|bonjour|cher|chère|liebe|lieber|querido|estimado|estimada|caro|cara|regards|"
    "cheers|sincerely|is|named|son|daughter|wife|husband|friend|brother|sister|colleague|guest|user|customer|"
    "for|to|ask|met|tell|name is|passenger|passengers|traveler|actor|actress|director|singer|author"
)
MAYBE_PERSONS: Final = frozenset(_MAYBE_PERSONS.split("|"))
# A person, where the name has two words or more.
_BEFORE_FULL_NAMES: Final = "by passenger passengers traveler actor actress director singer author"
BEFORE_FULL_NAMES: Final = frozenset(_BEFORE_FULL_NAMES.split())

_OF_PLACES: Final = (
    "city of|town of|located in|live in|lives in|living in|born in|based in|weather in|forecast for|"
    "traveling to|travelling to|flying to|fly to|flying from|fly from|flight to|flights to|flight from|"
    "flights from|trip to|capital of|moved to|visiting|visit to|attractions in|restaurants in|hotels in|"
    "hotel in|restaurant in|weather like in|depart from|departing from|arriving in|arrive in|wohne in|"
    "vivo en|habite à|abito a|moro em|живу в|departure from|like in"
)
OF_PLACES: Final = frozenset(_OF_PLACES.split("|"))
# A place, where the list has it or the sentence is about places.
_MAYBE_PLACES: Final = "in from to near à nach aus desde из"
MAYBE_PLACES: Final = frozenset(_MAYBE_PLACES.split())

_ABOUT_PLACES: Final = (
    "weather forecast flight flights fly flying flew airport airports travel traveling travelling trip trips "
    "visit visiting hotel hotels restaurant restaurants attractions table city live lives living depart "
    "departing vuelo voyage reise flug"
)
ABOUT_PLACES: Final = frozenset(_ABOUT_PLACES.split())

_OF_ORGANIZATIONS: Final = (
    "table at|reservation at|work at|works at|working at|work for|works for|employed by|company called|"
    "restaurant called|fly with|flying with|booked with|dinner at|lunch at|breakfast at|eat at|stay at|"
    "restaurant named|job at|intern at|engineer at|manager at|professor at|student at"
)
OF_ORGANIZATIONS: Final = frozenset(_OF_ORGANIZATIONS.split("|"))

_OF_WORKS: Final = (
    "movie|movies|film|films|song|songs|album|albums|novel|musical|called|titled|entitled|the book|tv show|"
    "the series|play|playing|watch|watching|rent|renting|listen to|listening to|hear|read|cast|see|"
    "song called|stream|película|canción|libro|le film|chanson|livre|den film|lied|buch|filme|música|фильм|"
    "песня|книга"
)
OF_WORKS: Final = frozenset(_OF_WORKS.split("|"))
# Only where the talk is of works.
_MAYBE_WORKS: Final = (
    "about|by|from|from the|from album|from their album|from her album|from his album|like|would like|to see|"
    "enjoy|found|is|want|these|have|including|choose|choosing|pick|prefer|either|watching either|got"
)
MAYBE_WORKS: Final = frozenset(_MAYBE_WORKS.split("|"))

_ABOUT_WORKS: Final = (
    "movie movies film films song songs album albums music novel novels soundtrack película películas "
    "canción chanson genre"
)
ABOUT_WORKS: Final = frozenset(_ABOUT_WORKS.split())
# What follows an organisation, a work or a place at once.
BEHIND: Final = {
    "song": "WORK_OF_ART",
    "album": "WORK_OF_ART",
    "movie": "WORK_OF_ART",
    "film": "WORK_OF_ART",
    "restaurant": "ORGANIZATION",
    "hotel": "ORGANIZATION",
}
_DEMONYMS: Final = (
    "american british european asian african indian mexican canadian australian english spanish french "
    "german italian portuguese chinese japanese korean russian arabic hindi dutch swiss irish greek turkish "
    "polish thai vietnamese"
)
DEMONYMS: Final = frozenset(_DEMONYMS.split())
# Behind a run that begins a sentence, where the talk is of works.
_BEHIND_WORKS: Final = "seems was ? . from would ! is sounds has"
BEHIND_WORKS: Final = frozenset(_BEHIND_WORKS.split())
# A capital that is owed to the start of a sentence, to a heading or to a rule of spelling, and to no name.
_NO_NAMES: Final = (
    "a about absolutely account act actually add additionally after again all also although always am an and "
    "another answer any anything are as ask assistant at available based be because been before below best "
    "both but by bye can certainly change check choose class click code come common congratulations consider "
    "considering continue could create data date day dear delete did different do does done during each easy "
    "either else email ensure enjoy enter error especially even every everything exactly example execution "
    "explore false feature features finally find fine first follow following for from function further "
    "general get give go good great guide had happy has have having he hello help her here hers hey hi his "
    "hope how however i i'd i'll i'm i've i’d i’ll i’m i’ve id if important in include indeed info "  # noqa: RUF001 - as it is written
    "information input insert inside instead into is issue it it's it’s its just keep key know last later "  # noqa: RUF001 - as it is written
    "let let's let’s like list look looking made main make many may maybe me method might more most moreover "  # noqa: RUF001 - as it is written
    "my name need never new next no none nope not note nothing now object of off ok okay on once one only "
    "open or order other otherwise our out output over overall part perfect perhaps place please policy "
    "possible problem provide question read ready regarding regards remember remove reply request response "
    "result results return review right role run same say search second see select send set shall she should "
    "show similarly simple since so some something sorry specific start status step steps still stop string "
    "such sure system table take tell test thank thanks that that's that’s the their them then there there's "  # noqa: RUF001 - as it is written
    "there’s therefore these they this those though three through thus time tip tips title to today together "  # noqa: RUF001 - as it is written
    "tool total true try two type under understand understood unfortunately until up update upon use used "
    "user using usually value various verify version very view wait warning was watch we we'll we’ll welcome "  # noqa: RUF001 - as it is written
    "well were what what's what’s when where whether which while who whose why will wish with within without "  # noqa: RUF001 - as it is written
    "would wow write yeah yep yes yet you you'll you’ll you're you’re your yours zero adult economy business "  # noqa: RUF001 - as it is written
    "basic gold silver regular premium standard card credit debit gift certificate payment flight flights "
    "outbound inbound trip travel route departure arrival price reservation booking membership member bag "
    "bags baggage insurance passenger passengers cabin item items product products refund number birth "
    "cancel cancellation certificates option options details assess monday tuesday wednesday thursday friday "
    "saturday sunday january february march april june july august september october november december "
    "morning evening tv internet python java javascript rust sql json html css api url http https linux "
    "windows docker react kubernetes ai llm gpt cd dvd pdf usb gps ios android mac ui io cli sdk der die das "
    "ein eine und oder ich sie wir ist hier bitte danke ja nein wie wo wann el la los las un una y o yo por "
    "qué hola gracias sí le les une et ou je nous vous il elle est oui non merci bonjour que qui dans pour "
    "lo gli uno per che grazie sì os um uma não sim obrigado em com он она они мы вы это как что где да нет "
    "привет пожалуйста спасибо"
)
NO_NAMES: Final = frozenset(_NO_NAMES.split())
