"""Texts that give a detector the most to do: the beginnings of each family, what is nearly one, digits in every row.

``GROUPS`` has what is said again and again, by the name of its group and its own.
"""

import itertools
import random
from collections.abc import Callable

# One of each class of characters that some pattern tells from another.
CLASSES = (*"aA10 \n\t.,-_/+=:;@\"'\\%()[{|&#", "é", "\uff14", "漢", "\u200b", "\u0301", "\ufdd0")
HEADS = (
    *(
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nVersion: a",
        "-----END PRIVATE KEY-----",
    ),
    *(
        "eyJ",
        "eyJaaaaaa.",
        "eyJaaaaaa.eyJaaaa",
        "password=",
        "Password=a;",
        'pwd="a',
        "pwd=a ",
        "server=a;pwd=b;",
        "pwd={{",
    ),
    *("AccountKey=", "AccountKey=aaaaaaaaaaaaaaaa;", "://", "://u:", "://u:p", "://u:p@", "a://b:c/d@", "ssh a@b.cc:"),
    *("a@b.", "a@b.cc ", "@a.b", "a%40b.cc ", '"a"@b.cc ', "bearer ", "bearer a1", "Authorization: Bearer aaaaaaaa "),
    *("AKIA", "AKIA" + "A" * 16 + " ", "AIza", "GOCSPX-", "ya29.", "==", "aB1" * 13 + "a ", "aws " + "aB1" * 13 + "a "),
    *("storage " + "a" * 86 + "== ", "DE89", "DE89 ", "D E 8 9 ", "GB82WEST", "NO12" + "3" * 11 + " ", "A1234567 "),
    *(
        "X1234567L ",
        "RSSMRA80A01H501",
        "ABCD800101HABCDE12 ",
        "1234567A ",
        "12345678-K ",
        "123456-123A ",
        "12345678 9 ZZ1 ",
    ),
    *("hooks.slack.com/services/T/", "discord.com/api/webhooks/", "webhook.office.com/webhookb2/", "12345678:"),
    *("twilio ", "twilio " + "a" * 31 + " ", "SK" + "a" * 31 + " ", "M" * 24 + ".aaaaaa.", "sk-", "ghp_", "glpat-a"),
    *("[redacted:", "[redacted:email]", "[redacted:phone] ", "[omitted:1]", "+1", "+1 (", "(0", "00 49 ", "wa.me/1555"),
    *(
        "4111111111111111.0 ",
        "4.111111111111111e15 ",
        "4111.1111.1111.1112 ",
        "2020-01-01 ",
        "01/02/2020",
        "192.168.0.1 ",
    ),
    *("order 1234567 ", "phoneId: 1234567 ", "电话12345678", "phone\tid\n1234567\t7654321\n", "call(1234567, "),
    *('"phone": 1234567, ', "?phone=1234567&", "\\n1234567 ", "$1,", "№ 1234567 ", "&amp;", "${", "%3C"),
)
WORDS = ("phone", "cpf", "card", "iban", "order", "电话")
MARKS = (
    " ",
    ", ",
    ",",
    ".",
    "-",
    "/",
    "\n",
    "\t",
    ") (",
    " - ",
    ": ",
    ";",
    "|",
    "_",
    "\u200b",
    "\u00a0",
    "  ",
    ". ",
    " or ",
)
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 18, 19, 20, 30, 95)
GROUPED = ((4, 4, 4, 4), (3, 3, 4), (2, 2, 2, 2, 2), (6, 4), (1, 3, 3, 3), (1, 4, 5, 2, 1), (3, 3, 3, 2), (6, 8, 4))


def _digits(lengths: tuple[int, ...], mark: str, count: int) -> str:
    """``count`` groups of digits, none like another, of these ``lengths`` by turns."""
    chance = random.Random(repr((lengths, mark)))
    each = itertools.islice(itertools.cycle(lengths), count)
    return mark.join("".join(chance.choices("0123456789", k=length)) for length in each) + mark


def _groups() -> dict[str, dict[str, str]]:
    pairs = ("".join(pair) for pair in itertools.combinations(CLASSES, 2))
    chance = random.Random(1)
    mixed = ("".join(a * chance.randint(1, 9) for a in chance.sample(CLASSES, 3)) for _ in range(100))
    rows = {(length,): MARKS for length in LENGTHS} | dict.fromkeys(GROUPED, (" ", "-", ".", "/", ", "))
    listed = [_digits((length,), mark, 40) for length in (1, 7, 9, 11, 16) for mark in (", ", ",", " ", "\n")]
    return {
        "alternations": {repr(unit): unit for unit in (*CLASSES, *pairs, *mixed)},
        "heads": {repr(unit): unit for head in HEADS for unit in (head, f"{head}a1 ")},
        "rows of digits": {
            f"{lengths} {mark!r}": _digits(lengths, mark, 400) for lengths, marks in rows.items() for mark in marks
        },
        "rows of one digit": {repr(mark): f"1{mark}" for mark in MARKS},
        "lists behind a word": {f"{word} {unit[:24]!r}": f"{word} {unit}" for word in WORDS for unit in listed},
        "escapes": {
            repr(unit): unit
            for level in range(5)
            for said in ("u0031 ", "u0040b.cc ", '"', "n", "u003a//", "u00e9", "/")
            for unit in ("\\" * 2**level + said,)
        },
    }


GROUPS = _groups()
# What was sent to bring a function down: each took from 9 to 34 s of CPU.
ATTACKS: dict[str, Callable[[int], str]] = {
    "digits": lambda size: "1 " * (size // 2),
    "a list behind a word": lambda size: "phone," + "1234567," * (size // 8),
    "two digits": lambda size: "0 1 " * (size // 4),
    "a matrix": lambda size: "\n".join(
        " ".join("01"[row * place % 3 % 2] for place in range(40)) for row in range(size // 80)
    ),
}


def shaped(unit: str, size: int) -> str:
    """``unit`` again and again, ``size`` characters."""
    return (unit * (size // len(unit) + 1))[:size]
