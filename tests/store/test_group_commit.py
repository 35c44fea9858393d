"""Appends that come together share a transaction; what one of them suffers, the others do not."""

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from agent.core.receipt import TurnCounts
from store.errors import Conflict, DatabaseLocked, DatabaseUnreachable, DiskFull, StoreAnswerError
from store.log.append import Prepared
from store.log.capture import read_capture
from store.log.envelope import read_envelope
from store.log.group_commit import GroupCommit
from store.port import Appended, Submission
from tests.store.surface import envelope, payload, ref_of, turn

Answers = list[Appended | StoreAnswerError]
# How long is waited for what comes, on a machine that does much else.
GENEROUS_S = 60.0


def prepared(number: int, session: int | None = None) -> Prepared:
    import json

    of = ref_of(f"session {number if session is None else session}")
    read = read_envelope(json.dumps(envelope(payload(turn(number), session=of))).encode())
    submission = Submission(read, read_capture(read), None, f"event {number}", datetime(2026, 3, 2, tzinfo=UTC))
    return Prepared.of("default", submission)


def appended(one: Prepared) -> Appended:
    return Appended(False, one.submission.event_id, "ref", "time", 1, TurnCounts(1, 0, 0, 0))


class Commits:
    """A commit that waits for ``gate`` the first time, and answers by ``answer``."""

    def __init__(self, answer: Callable[[Sequence[Prepared]], Answers]) -> None:
        self.batches: list[list[str]] = []
        self.bounds: list[float | None] = []
        self.gate = threading.Event()
        self.begun = threading.Event()
        self._answer = answer

    def __call__(self, tenant: str, batch: Sequence[Prepared], timeout_s: float | None) -> Answers:
        self.batches.append([one.submission.event_id for one in batch])
        self.bounds.append(timeout_s)
        self.begun.set()
        assert self.gate.wait(GENEROUS_S)
        return self._answer(batch)


class Clock:
    """Monotonic seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def until_queued(group: GroupCommit, count: int) -> None:
    """Wait until so many wait for the commit that is going on."""
    end = time.monotonic() + GENEROUS_S
    while len(group._waiting) < count:
        assert time.monotonic() < end
        threading.Event().wait(0.001)


def together(
    commits: Commits, submissions: list[Prepared], clock: Clock | None = None, **timeouts: float
) -> list[Appended | BaseException]:
    """Append the first, and the others while it is committed; what each was answered."""
    group = GroupCommit(commits, clock=clock or time.monotonic)

    def one(submission: Prepared) -> Appended | BaseException:
        try:
            return group.append("default", submission, timeouts.get(submission.submission.event_id.replace(" ", "_")))
        except StoreAnswerError as error:
            return error

    with ThreadPoolExecutor(len(submissions)) as threads:
        first = threads.submit(one, submissions[0])
        assert commits.begun.wait(GENEROUS_S)
        others = [threads.submit(one, submission) for submission in submissions[1:]]
        until_queued(group, len(submissions) - 1)
        commits.gate.set()
        return [answer.result(GENEROUS_S) for answer in (first, *others)]


def test_who_comes_alone_is_appended_alone() -> None:
    commits = Commits(lambda batch: [appended(one) for one in batch])
    commits.gate.set()
    assert GroupCommit(commits).append("default", prepared(1), None).event_id == "event 1"
    assert commits.batches == [["event 1"]]


def test_who_comes_during_a_commit_goes_into_the_next_one_together() -> None:
    commits = Commits(lambda batch: [appended(one) for one in batch])
    answers = together(commits, [prepared(number) for number in range(6)])
    assert [answer.event_id for answer in answers if isinstance(answer, Appended)] == [f"event {n}" for n in range(6)]
    assert [len(batch) for batch in commits.batches] == [1, 5]


def test_two_of_one_session_never_share_a_transaction_and_keep_their_order() -> None:
    commits = Commits(lambda batch: [appended(one) for one in batch])
    together(commits, [prepared(0), *(prepared(number, session=9) for number in range(1, 4))])
    assert [len(batch) for batch in commits.batches] == [1, 1, 1, 1]
    assert sorted(itertools.chain(*commits.batches)) == [f"event {number}" for number in range(4)]


def test_one_that_is_refused_is_answered_alone() -> None:
    def answer(batch: Sequence[Prepared]) -> Answers:
        return [Conflict("it") if one.submission.event_id == "event 2" else appended(one) for one in batch]

    answers = together(Commits(answer), [prepared(number) for number in range(4)])
    assert [type(one) for one in answers] == [Appended, Appended, Conflict, Appended]


def test_one_that_fails_in_a_way_nobody_foresaw_does_not_take_the_others_along() -> None:
    def answer(batch: Sequence[Prepared]) -> Answers:
        if any(one.submission.event_id == "event 2" for one in batch):
            raise StoreAnswerError("unforeseen")
        return [appended(one) for one in batch]

    commits = Commits(answer)
    answers = together(commits, [prepared(number) for number in range(4)])
    assert [type(one) for one in answers] == [Appended, Appended, StoreAnswerError, Appended]


def test_a_database_that_fails_fails_all_of_them_once() -> None:
    def answer(batch: Sequence[Prepared]) -> Answers:
        raise DiskFull("full")

    commits = Commits(answer)
    answers = together(commits, [prepared(number) for number in range(4)])
    assert {type(one) for one in answers} == {DiskFull}
    assert len(commits.batches) == 2


def test_who_has_no_time_left_gives_up_and_the_others_wait_on() -> None:
    calls, clock = itertools.count(), Clock()

    def answer(batch: Sequence[Prepared]) -> Answers:
        if next(calls) == 1:
            # The lock was waited for as long as the most impatient has time.
            clock.now += GENEROUS_S
            raise DatabaseLocked("held")
        return [appended(one) for one in batch]

    commits = Commits(answer)
    # By this clock alone, so that nobody leaves the queue before the others have come.
    answers = together(
        commits, [prepared(number) for number in range(3)], clock, event_1=GENEROUS_S, event_2=2 * GENEROUS_S
    )
    assert [type(one) for one in answers] == [Appended, DatabaseLocked, Appended]


def test_who_waits_in_vain_behind_others_leaves_the_queue() -> None:
    commits = Commits(lambda batch: [appended(one) for one in batch])
    group = GroupCommit(commits)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(group.append, "default", prepared(1), None)
        assert commits.begun.wait(GENEROUS_S)
        with pytest.raises(DatabaseLocked):
            group.append("default", prepared(2), 0.05)
        commits.gate.set()
        assert first.result(GENEROUS_S).event_id == "event 1"
    assert group.append("default", prepared(3), None).event_id == "event 3"
    assert commits.batches == [["event 1"], ["event 3"]]


def test_who_says_no_time_waits_in_the_queue_no_longer_than_the_longest() -> None:
    commits = Commits(lambda batch: [appended(one) for one in batch])
    group = GroupCommit(commits, longest_s=0.05)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(group.append, "default", prepared(1), None)
        assert commits.begun.wait(GENEROUS_S)
        with pytest.raises(DatabaseLocked):
            group.append("default", prepared(2), None)
        commits.gate.set()
        assert first.result(GENEROUS_S).event_id == "event 1"
    assert commits.batches == [["event 1"]]


def test_who_is_part_of_a_transaction_that_does_not_end_is_told_and_the_next_go_on() -> None:
    second = threading.Event()

    def answer(batch: Sequence[Prepared]) -> Answers:
        if len(commits.batches) == 2:
            assert second.wait(GENEROUS_S)
        return [appended(one) for one in batch]

    commits = Commits(answer)
    # Longer than it takes to come into the transaction: who waits in vain before it is another test's.
    group = GroupCommit(commits, longest_s=2.0)
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(group.append, "default", prepared(1), None)
        assert commits.begun.wait(GENEROUS_S)
        leads = threads.submit(group.append, "default", prepared(2), 60.0)
        until_queued(group, 1)
        follows = threads.submit(group.append, "default", prepared(3), None)
        until_queued(group, 2)
        commits.gate.set()
        assert first.result(GENEROUS_S).event_id == "event 1"
        with pytest.raises(DatabaseUnreachable):
            follows.result(GENEROUS_S)
        second.set()
        assert leads.result(GENEROUS_S).event_id == "event 2"
    assert group.append("default", prepared(4), None).event_id == "event 4"
    assert commits.batches == [["event 1"], ["event 2", "event 3"], ["event 4"]]
