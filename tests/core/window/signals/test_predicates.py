"""What texts say of themselves, on sentences of real conversations: 20 that do, and 20 that nearly do.

``data/<signal>.jsonl``: one sentence a line, cut out of the file of the shared data that ``source`` names (MIT and
Apache-2.0 only; see ``../../../data/licences``). ``missed``: it says so, and the predicate is known not to see it.
Other languages are by hand: the data have too little of them.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.window.signals import references, signals_of

DATA = Path(__file__).parent / "data"
ROLES = {"confirms_done": "assistant", "error": "tool"}
SIGNALS = sorted(path.stem for path in DATA.glob("*.jsonl"))
# Where the permissive data have no more than so many different ones.
FEWER = {"says_complete": 15}


def sentences(signal: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{signal}.jsonl").read_text().splitlines()]


def says(signal: str, text: str, role: str | None = None) -> bool:
    found = signals_of(text, role or ROLES.get(signal, "user"))
    return references(found) > 0 if signal == "reference" else signal in found


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_predicate_is_told_from_20_sentences_and_20_near_misses(signal: str) -> None:
    labels = [each["label"] for each in sentences(signal) if not each.get("missed")]
    assert labels.count(True) >= FEWER.get(signal, 20)
    assert labels.count(False) >= 20


@pytest.mark.parametrize(
    ("signal", "sentence"), [(signal, each) for signal in SIGNALS for each in sentences(signal)], ids=str
)
def test_a_sentence_says_what_it_is_labelled_with(signal: str, sentence: dict[str, Any]) -> None:
    assert says(signal, sentence["text"]) is (sentence["label"] and not sentence.get("missed", False))


def test_the_sentences_are_of_files_that_may_be_given_on() -> None:
    sources = {each["source"].split("__")[0] for signal in SIGNALS for each in sentences(signal)}
    permissive = {"tau-bench", "bfcl", "swe-agent", "toolbench", "mt-bench", "sharegpt-format", "api-recording"}
    assert sources <= permissive | {"api-response", "agent-trace", "claude-code", "claude-web-export"}


@pytest.mark.parametrize(
    ("signal", "text"),
    [
        ("directive", "Bitte achte darauf, dass die Datei kurz bleibt."),
        ("directive", "Je ne veux pas partir avant midi."),
        ("directive", "Responde únicamente con el número."),
        ("directive", "回答不超过三句话"),
        ("directive", "必ず日本語で答えてください"),
        ("error", "Die Seite funktioniert leider nicht."),
        ("error", "Le bouton ne fonctionne plus."),
        ("error", "La aplicación no funciona."),
        ("error", "运行失败，请检查"),  # noqa: RUF001 - as it is written
        ("error", "実行時にエラーが出ました"),
        ("correction", "Nein, ich wollte den anderen."),
        ("correction", "Je voulais dire mardi."),
        ("correction", "Perdón, me equivoqué de fecha."),
        ("correction", "不对，是星期三"),  # noqa: RUF001 - as it is written
        ("correction", "すみません、間違えました"),
        ("casual", "Vielen Dank!"),
        ("casual", "Merci beaucoup, bonne journée !"),
        ("casual", "¡Muchas gracias!"),
        ("casual", "谢谢你！"),  # noqa: RUF001 - as it is written
        ("casual", "ありがとうございます。"),
        ("says_complete", "Danke, das ist alles."),
        ("says_complete", "Merci, c'est tout."),
        ("says_complete", "Eso es todo, gracias."),
        ("says_complete", "就这些，谢谢"),  # noqa: RUF001 - as it is written
        ("says_complete", "以上です"),
        ("confirms_done", "Ihr Tisch wurde erfolgreich reserviert."),
        ("confirms_done", "Votre réservation a été annulée."),
        ("confirms_done", "Su pedido ha sido cancelado."),
        ("confirms_done", "您的订单已取消"),
        ("confirms_done", "予約が完了しました"),
        ("asks", "Ich möchte einen Tisch für zwei."),
        ("asks", "Je voudrais un billet."),
        ("asks", "Quiero una mesa."),
        ("asks", "帮我订一张票"),
        ("asks", "席を予約したいです"),
        ("asks_for_more", "Kann ich sonst noch etwas tun?"),
        ("asks_for_more", "还有什么可以帮您？"),  # noqa: RUF001 - as it is written
        ("turns_away", "Außerdem brauche ich ein Hotel."),
        ("turns_away", "另外，帮我查天气"),  # noqa: RUF001 - as it is written
    ],
)
def test_the_languages_that_a_predicate_names_are_known(signal: str, text: str) -> None:
    assert says(signal, text, "assistant" if signal in {"confirms_done", "asks_for_more"} else "user")


@pytest.mark.parametrize("text", ["Kiitos, siinä kaikki.", "Дякую, це все.", "شكرا لك", "감사합니다", "Köszönöm!"])
def test_a_language_that_is_not_named_has_no_signals(text: str) -> None:
    assert signals_of(text, "assistant") == frozenset()


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_nothing_says_nothing(text: str) -> None:
    assert signals_of(text, "user") == frozenset()


def test_a_long_text_is_told_by_its_beginning_and_its_end() -> None:
    middle = "words and more of them. " * 2000
    assert "error" in signals_of(f"Error: not there\n{middle}", "tool")
    assert "error" in signals_of(f"{middle}\nError: not there", "tool")
    assert "error" not in signals_of(f"{middle}\nError: not there\n{middle}", "tool")


def test_who_speaks_decides_what_is_looked_for() -> None:
    order = "Never use the second file."
    assert "directive" in signals_of(order, "user")
    assert "directive" in signals_of(order, "system")
    assert signals_of(order, "assistant") == signals_of(order, "tool") == signals_of(order, "robot") == frozenset()


@pytest.mark.parametrize("text", ["Okay.", "ok", "Yes", "No.", "Alright!"])
def test_what_answers_is_not_courtesy(text: str) -> None:
    assert "casual" not in signals_of(text, "user")


def test_references_are_counted() -> None:
    assert references(signals_of("Cancel that one, and do it again.", "user")) > 1
    assert references(signals_of("Paris", "user")) == 0


@given(text=st.text(max_size=300), role=st.sampled_from(["user", "assistant", "system", "tool", "robot"]))
def test_any_text_has_the_same_signals_twice(text: str, role: str) -> None:
    assert signals_of(text, role) == signals_of(text, role)


@pytest.mark.parametrize(
    "piece",
    [
        "thanks so much ",
        "so so much, ",
        "\n",
        "error ",
        "    - ",
        "a.b.",
        "that's all ",
        "has been ",
        "(((",
        "don't ",
        "if it ",
    ],
)
def test_a_text_that_repeats_itself_is_read_all_the_same(piece: str) -> None:
    for role in ("user", "assistant", "tool"):
        signals_of(piece * 5000, role)
        signals_of(piece * (590 // len(piece)) + "x", role)
