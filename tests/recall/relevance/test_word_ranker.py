"""A session's turns ranked by words: what of a turn counts, and that nothing depends on what was asked before."""

from hypothesis import given
from hypothesis import strategies as st

from agent.core.turn import SessionTurn
from agent.core.window.marker import marker_turn
from agent.recall.relevance import ranker_for

CONVERSATION = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"


def turn(number, content, **fields):
    turn_id = f"00000000-0000-4000-8000-{number:012}"
    is_erased = content is None
    return SessionTurn(turn_id, number + 1, CONVERSATION, None, "user", content, erased=is_erased, fields=fields)


def turns(*texts):
    return [turn(number, text) for number, text in enumerate(texts)]


def rank(messages, query):
    return list(ranker_for()(messages, query))


def test_a_turn_is_found_by_its_text_its_speaker_its_tool_and_its_arguments():
    call = {"tool_name": "book_flight", "arguments": {"city": "Lisbon"}}
    messages = [
        turn(0, "nothing of interest"),
        turn(1, "we leave on Monday"),
        turn(2, "yes indeed", metadata={"agent": "Amelia"}),
        turn(3, "", tool_invocations=[call]),
        turn(4, "", tool_invocations=[{"tool_name": "track", "arguments": '{"code":"zx81"}'}]),
    ]
    for query, place in (("Monday", 1), ("Amelia", 2), ("flight", 3), ("Lisbon", 3), ("zx81", 4)):
        ranks = rank(messages, query)
        assert max(ranks) == ranks[place] > 0
        assert ranks[0] == 0


def test_markers_and_erased_turns_have_nothing_to_do_with_any_query():
    marker = marker_turn(12, "{count} messages removed", turn(1, "beside"))
    erased = turn(2, None, timestamp="2022-07-01T00:00:00Z")
    assert rank([turn(0, "other"), marker, erased], "messages removed in July") == [0, 0, 0]


def test_a_turn_that_is_erased_is_not_found_by_what_it_said():
    ranker = ranker_for()
    before = turns("the secret is turquoise", "hello there")
    assert max(ranker(before, "turquoise")) > 0
    assert list(ranker([turn(0, None), before[1]], "turquoise")) == [0, 0]


def test_a_call_that_came_back_with_its_result_is_found():
    ranker = ranker_for()
    bare = turn(0, "one moment")
    assert list(ranker([bare], "Lisbon")) == [0]
    whole = turn(0, "one moment", tool_invocations=[{"tool_name": "find", "arguments": {"city": "Lisbon"}}])
    assert max(ranker([whole], "Lisbon")) > 0


def test_arguments_that_json_does_not_hold_are_passed_over():
    odd = turn(0, "odd", tool_invocations=[{"tool_name": "sum", "arguments": {"of": 1 << 80}}, {"tool_name": 7}])
    assert max(rank([odd], "sum")) > 0


@given(st.lists(st.lists(st.sampled_from(["tea train", "Paris", "дом", ""]), max_size=5), max_size=4))
def test_what_it_says_does_not_depend_on_what_it_saw_before(histories):
    ranker = ranker_for()
    for texts in histories:
        messages = turns(*texts)
        assert list(ranker(messages, "a train to Paris")) == rank(messages, "a train to Paris")


def test_by_meaning_too_a_turn_is_found_that_shares_no_word():
    messages = turns("running clears my mind", "the train is late")
    ranks = ranker_for(lambda *_: [0.8, 0.1])(messages, "What does she do to relax?")
    assert ranks[0] > ranks[1]
