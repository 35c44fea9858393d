"""Each kind of attack on one server, with what came of it: for the tests to judge and for the table to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import httpx

from tests.hostile.bodies import BODIES, Hostile
from tests.hostile.crowd import MANY, allow_descriptors, connected, statuses
from tests.hostile.heads import hostile_requests, said
from tests.hostile.slow import Ended, Slow, attacking, slow_clients
from tests.hostile.targets import Target
from tests.hostile.watch import Beside, Held, calling, forget_peak, held, peak_mib, settled
from tests.live.payloads import encoded, own_session


class Outcome(NamedTuple):
    """One attack: how often what was answered, "typed" being false where an answer was no JSON of ours."""

    name: str
    answers: dict[str, int]
    is_typed: bool = True
    longest_s: float = 0.0
    peak_mib: float = 0.0


class Course(NamedTuple):
    """A course of attacks on one server: what came of each, the caller beside it, and what was left behind."""

    outcomes: list[Outcome]
    beside: Beside
    peak_mib: float
    before: Held
    after: Held
    most_threads: int

    def is_all_let_go(self) -> bool:
        """Whether as much is held as before, but for the threads that wait for more work."""
        return (
            self.after.callers <= self.before.callers
            and self.after.files <= self.before.files
            and self.after.threads <= self.most_threads
        )


def heads(target: Target) -> Course:
    """All wrong requests, one after the other."""
    with _course(target) as (outcomes, course):
        for name, request in hostile_requests(target.path).items():
            seen = said(target.port, request)
            outcomes.append(Outcome(name, {seen.text: 1}, seen.is_typed))
    return course[0]


def bodies(target: Target, names: Sequence[str] = ()) -> Course:
    """Hostile bodies, those of ``names`` or all, one after the other, each with its own peak."""
    with _course(target) as (outcomes, course):
        for hostile in [body for body in BODIES if not names or body.name in names]:
            forget_peak(target.worker)
            status = _sent(target, hostile)
            outcomes.append(Outcome(hostile.name, {str(status): 1}, peak_mib=peak_mib(target.worker)))
    return course[0]


def at_once(target: Target, name: str, count: int) -> Course:
    """The hostile body of this name, so many times at once."""
    [hostile] = [body for body in BODIES if body.name == name]
    with _course(target) as (outcomes, course), ThreadPoolExecutor(count) as pool:
        answers: dict[str, int] = {}
        for status in pool.map(lambda _: _sent(target, hostile), range(count)):
            answers[str(status)] = answers.get(str(status), 0) + 1
        outcomes.append(Outcome(f"{count} at once: {name}", answers))
    return course[0]


def slow(target: Target) -> Course:
    """All slow clients at the same time."""
    attacks = slow_clients(target.path)
    with _course(target) as (outcomes, course), ThreadPoolExecutor(len(attacks)) as pool:
        for attack, ended in zip(attacks, pool.map(lambda attack: _slow(target, attack), attacks), strict=True):
            outcomes.append(Outcome(f"{attack.count}: {attack.name}", ended.how, longest_s=ended.longest_s))
    return course[0]


def crowd(target: Target) -> Course:
    """A thousand that say nothing, and then a thousand requests in one go."""
    allow_descriptors(4 * MANY)
    request = _request(target)
    with _course(target) as (outcomes, course):
        with ExitStack() as stack:
            silent = connected(stack, target.port)
            outcomes.append(Outcome("1 000 connect and say nothing", statuses(silent)))
        with ExitStack() as stack:
            outcomes.append(Outcome("1 000 requests at once", statuses(connected(stack, target.port, sent=request))))
    return course[0]


@contextmanager
def _course(target: Target) -> Iterator[tuple[list[Outcome], list[Course]]]:
    """What the block adds to the first list, watched; the second holds the course when the block has ended."""
    outcomes: list[Outcome] = []
    course: list[Course] = []
    before = held(target.worker, target.port)
    forget_peak(target.worker)
    with calling(target.ask) as beside:
        yield outcomes, course
    peak = max([peak_mib(target.worker), *(outcome.peak_mib for outcome in outcomes)])
    after = settled(target.worker, target.port, before, threads=target.most_threads)
    course.append(Course(outcomes, beside, peak, before, after, target.most_threads))


def _sent(target: Target, hostile: Hostile) -> int:
    headers = {"Content-Encoding": hostile.encoding} if hostile.encoding else {}
    url = f"{target.url}{target.path}{hostile.query}"
    return httpx.post(url, content=hostile.make(), headers=headers, timeout=120).status_code


def _slow(target: Target, attack: Slow) -> Ended:
    with attacking(target.port, attack) as wait:
        return wait()


def _request(target: Target) -> bytes:
    body = encoded(own_session())
    head = f"POST {target.path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
