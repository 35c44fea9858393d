"""What is worked out for windows is held as long as the conversation is what it was, and grows by what is new in it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given

from agent.core.history import shown
from agent.core.session import fold
from agent.core.turn import SessionTurn
from agent.recall.context import ContextRequest, ContextSettings, SessionWindows, session_window
from agent.recall.tokens import Counters
from agent.recall.view import View
from agent.recall.window_prune import Pruned, pruned
from agent.recall.windows import Which
from tests.core.session_turns import ONE, TWO, chain, state_only, turn, turn_id
from tests.core.session_turns import sessions as sessions_of_turns
from tests.recall.seen_sessions import Characters, Sessions, contents, limits, said, sessions


@pytest.fixture
def made() -> Iterator[Sessions]:
    with sessions() as opened:
        yield opened


def test_a_conversation_is_counted_once_and_then_by_what_is_new_in_it(made: Sessions) -> None:
    made.capture(*[said(number, f"message {number}") for number in range(1, 5)])
    made.window(max_tokens=1000)
    made.count.counted.clear()
    made.window(max_tokens=1000)
    made.window(max_tokens=900, strategy="importance", min_recent=2)
    made.capture(said(5, "message 5"))
    window = made.window(max_tokens=1000)
    assert [text for text in made.count.counted if text and text.startswith("message")] == ["message 5"]
    assert contents(window.messages)[-1] == "message 5"


def test_a_revision_and_an_erasure_are_seen_at_once(made: Sessions) -> None:
    made.capture(said(1, "first"), said(2, "second"))
    assert contents(made.window().messages) == ["first", "second"]
    made.capture({**said(1, "first, revised"), "parent_turn_id": None})
    assert contents(made.window().messages) == ["first, revised", "second"]
    made.memory.client.erasure.turn(turn_id(2))
    window = made.window()
    assert [turn.content for turn in window.messages if turn.seq] == ["first, revised"]
    assert "second" not in str(made.windows.shown(made.see(), Which(), None).turns)


def test_windows_from_what_is_held_are_those_of_a_process_that_holds_nothing(made: Sessions) -> None:
    for number in range(1, 13):
        made.capture(said(number, f"{number} " + "x" * (7 * number)))
        for budget in (120, 200, 400):
            held = made.window(max_tokens=budget)
            fresh = session_window(
                made.see(),
                ContextRequest(max_tokens=budget),
                ContextSettings(),
                SessionWindows(counters=lambda _: Characters(), limits=limits),
            )
            assert (held.messages, held.manifest.document()) == (fresh.messages, fresh.manifest.document())


def test_a_session_that_is_held_without_content_is_read_once_and_then_what_is_new(made: Sessions) -> None:
    with sessions(whole_bytes=100) as light:
        light.capture(*[said(number, f"{number:02}{'x' * 98}") for number in range(1, 9)])
        assert light.see().held.content is not None
        whole = contents(light.window().messages)
        assert whole == [f"{number:02}{'x' * 98}" for number in range(1, 9)]
        light.capture(said(9, "nine"))
        assert contents(light.window().messages) == [*whole, "nine"]


def test_what_was_asked_for_longest_ago_goes_first_and_what_is_too_large_is_not_kept(made: Sessions) -> None:
    made.windows = SessionWindows(counters=lambda _: made.count, limits=limits, most=5)
    made.capture(said(1, "a"), said(2, "b"), said(3, "c"))
    made.capture(said(4, "d"), said(5, "e"), said(6, "f"), conversation=TWO)
    one, two = (made.windows.shown(made.see(), Which(each), None) for each in (ONE, TWO))
    assert made.windows.shown(made.see(), Which(TWO), None) is two
    assert made.windows.shown(made.see(), Which(ONE), None) is not one
    every = made.windows.shown(made.see(), Which(), None)
    assert made.windows.shown(made.see(), Which(), None) is not every


def test_as_it_was_is_not_held(made: Sessions) -> None:
    made.capture(said(1, "a"), said(2, "b"))
    seen = made.see(View(at_seq=1))
    assert made.windows.shown(seen, Which(), None) is not made.windows.shown(seen, Which(), None)
    assert contents(made.window().messages) == ["a", "b"]


def test_counters_of_two_models_do_not_share_what_is_held(made: Sessions) -> None:
    counters = {None: Characters(name="one"), "m": Characters(around=10, name="other")}
    made.windows = SessionWindows(counters=lambda model: counters[model], limits=limits)
    made.capture(said(1, "abc"))
    assert [made.window(model=model, max_tokens=99).manifest.tokens for model in (None, "m", None)] == [3, 13, 3]


def test_any_number_of_threads_get_the_same_window(made: Sessions) -> None:
    made.capture(*[said(number, "x" * 50) for number in range(1, 40)])
    with ThreadPoolExecutor(8) as threads:
        hashes = list(threads.map(lambda _: made.window(max_tokens=700, strategy="hybrid").manifest.hash, range(32)))
    assert len(set(hashes)) == 1


# What resets and cuts took away.


def test_a_prune_is_counted_with_what_it_took_and_the_last_one_with_its_time() -> None:
    said_first = [turn(number) for number in range(1, 11)]
    prunes = [state_only(11, keep_last=4), turn(12), state_only(13, keep_last=2)]
    path = tuple(map(stamped, chain(*said_first, *prunes)))
    assert pruned(path) == Pruned(messages=9, last=3, at="2026-03-02T08:13:00Z")
    assert pruned(path[:10]) == Pruned()


def test_a_reset_keeps_system_turns_and_all_of_it_does_not() -> None:
    path = chain(turn(1, role="system"), turn(2), turn(3, reset=True), turn(4, reset="all"))
    assert pruned(path[:3])[:2] == (1, 1)
    assert pruned(path)[:2] == (3, 2)


@given(sessions_of_turns())
def test_what_is_pruned_is_what_the_history_of_the_path_does_not_show(turns: Any) -> None:
    path = fold(turns).paths().path()
    messages = [each for each in path if not each.is_state_only]
    assert pruned(path).messages == len(messages) - len(shown(path))


def stamped(each: SessionTurn) -> SessionTurn:
    return replace(each, fields={**each.fields, "captured_at": f"2026-03-02T08:{each.seq:02}:00Z"})


@dataclass
class Doubled(Characters):
    """Another counter of the same name."""

    def __call__(self, turn: SessionTurn) -> int:
        return 2 * super().__call__(turn)


def test_counters_of_one_name_never_see_each_other_s_counts(made: Sessions) -> None:
    by_model = {None: Characters(), "twice": Doubled()}
    made.windows = SessionWindows(counters=lambda model: by_model[model], limits=limits)
    for number in range(1, 8):
        made.capture(said(number, f"{number}" * 100))
        # In either order, held from before the session grew and asked for again.
        for model, each in ((None, 100), ("twice", 200), (None, 100)):
            window = made.window(max_tokens=10_000, model=model)
            assert (window.manifest.counter, window.manifest.tokens) == ("characters", each * number)


def test_without_a_tokenizer_the_windows_of_a_model_and_of_none_are_those_of_their_own_estimates(
    made: Sessions,
) -> None:
    made.capture(*[said(number, "これは日本語の文章です。" * 20) for number in range(1, 20)])

    def tokens(windows: SessionWindows, model: str | None) -> tuple[int, str]:
        manifest = session_window(
            made.see(), ContextRequest(max_tokens=3000, model=model), ContextSettings(), windows
        ).manifest
        return manifest.tokens, manifest.hash

    def fresh() -> SessionWindows:
        return SessionWindows(counters=Counters(exact=lambda _: None).for_model)

    models = ("gpt-4o", None, "gpt-4", "claude-sonnet-5")
    alone = [tokens(fresh(), model) for model in models]
    assert alone[0] != alone[1]
    for order in (models, models[::-1]):
        together = fresh()
        found = {model: tokens(together, model) for model in order}
        assert [found[model] for model in models] == alone
