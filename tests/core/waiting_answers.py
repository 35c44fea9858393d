"""One message read for one parameter, as the tests of ``agent.core.waiting`` ask for it."""

from typing import Any

from agent.core.memory import Memory
from agent.core.waiting import Hint, Hints, resolve

# Stands for "nothing was read": None could be taken for a value.
NOTHING = object()

ORDER = Hint("order_id", pattern=r"O-\d+", examples=("O-12345",), prompt="Which order is it?")
FARES = Hint(
    "flight_class",
    values=("Economy", "Premium Economy", "Business", "First Class"),
    description="Fare class of flight booking",
)
SPEAKERS = Hint(
    "playback_device", values=("TV", "Kitchen speaker", "Bedroom speaker"), description="Device to play the song on"
)
SEATS = Hint("number_of_seats", "integer", description="Number of seats to reserve at the restaurant")
AMOUNT = Hint("amount", "number", description="Amount to be paid")
DAY = Hint("date", "date")
HOUR = Hint("time", "time")
OUTSIDE = Hint("outdoor_seating", "boolean")
CITY = Hint("city", "string", description="Name of the city")
GENRE = Hint("genre", "string", description="Main genre of the movie")
MOVIE = Hint("movie_name", "string", description="Name of the movie")
ORIGIN = Hint("origin_city", "string", description="City in which the journey originates")
DESTINATION = Hint("destination_city", "string", description="City in which the journey ends")
FILE = Hint("file_name", "string")
NAME = Hint("name", "string")
SIZE = Hint("size", values=("S", "M", "L", "XL"))
PLAN = Hint("plan", values=("Free", "Pro"))
COLOUR = Hint("colour", values=("red", "blue"))
CUISINE = Hint("cuisine", values=("Italian", "Mexican", "Chinese"))
SCOPE = Hint("scope", values=("All", "Some"))
TENS = Hint("count", values=(10, 20, 30))
CLASSES = Hint("class", values=("Economy", "Business", "First"))
ACCOUNT = Hint("account_number", "digits")
PRICE = Hint("price", "number", description="Price for the persons")
PASSENGERS = Hint("passengers", "integer", description="Number of passengers")
DEPARTURE = Hint("departure_date", "date", description="Day of the departure")
RETURN = Hint("return_date", "date")


def answer(text: str, hint: Hint) -> Any:
    """What ``text`` is read as for ``hint``, or NOTHING."""
    resolution = resolve(Memory(waiting_for_param=hint.name), text, Hints({hint.name: hint}))
    return resolution.params[hint.name] if resolution.cleared else NOTHING


def each(hint: Hint, texts: str) -> list[tuple[Hint, str]]:
    """Each of ``texts``, between " | ", for ``hint``."""
    return [(hint, text) for text in texts.split(" | ")]
