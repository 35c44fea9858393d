"""The loop of a fuzzer: make an input, look at it, keep what behaved as nothing before it did, report what failed.

An input is bytes, whatever it stands for, so that a failing one is a file: it is saved under ``build/fuzz`` and
printed, made as short as it gets while it fails alike. What was seen (``Target.look`` gives it a name, or a set of
names) takes the place of coverage: an input with a new name is mutated further. Tracing lines would cost a multiple.
"""

from __future__ import annotations

import hashlib
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple

BUILD = Path(__file__).parents[2] / "build" / "fuzz"
# Far above the slowest input of a second or so, even on a loaded machine: of this process's own time, and on the wall.
CPU_BOUND_S = 10.0
WALL_BOUND_FACTOR = 12
_KEPT_NEW = 2_000
# A longer one is looked at, and not mutated further: it would take the time of many.
_KEPT_BYTES = 32_000
_SHORTENING_S = 20.0
_PRINTED = 400
_MOST_FINDINGS = 20


class TookTooLong(BaseException):
    """An input was looked at for longer than the bound. No edge that catches every Exception may swallow it."""


def _nothing() -> None:
    """Most targets open nothing."""


class Target(NamedTuple):
    """What is fuzzed.

    ``made`` gives a new input from the pool, ``look`` meets the product with an input and names what it saw; it raises
    for what must not be. ``seeds`` are the pool at the beginning. ``share`` is its part of the time. ``close`` lets go
    of what looking opened.
    """

    name: str
    seeds: Sequence[bytes]
    made: Callable[[Sequence[bytes], random.Random], bytes]
    look: Callable[[bytes], Hashable]
    share: int = 1
    close: Callable[[], None] = _nothing


class Finding(NamedTuple):
    """An input that failed: what it raised and where, the input as short as it got, the file that holds it."""

    what: str
    number: int
    shortest: bytes
    file: Path

    def told(self, target: str, seed: int) -> str:
        shown = self.shortest[:_PRINTED]
        more = f" and {len(self.shortest) - _PRINTED} bytes more" if len(self.shortest) > _PRINTED else ""
        return f"{target}, seed {seed}, input {self.number}: {self.what}\n  {shown!r}{more}\n  {self.file}"


@dataclass
class Run:
    """What came of a target: inputs looked at, kinds of outcome, findings by their kind, the slowest input."""

    target: str
    seed: int
    executions: int = 0
    seconds: float = 0.0
    outcomes: int = 0
    slowest_s: float = 0.0
    slowest_bytes: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)

    def __str__(self) -> str:
        told = [finding.told(self.target, self.seed) for finding in self.findings.values()]
        head = f"{self.target}: {self.executions} inputs in {self.seconds:.0f} s, seed {self.seed}, "
        head += f"{self.outcomes} outcomes, slowest {self.slowest_s:.2f} s ({self.slowest_bytes} bytes)"
        return "\n".join([head, *told])


def fuzzed(target: Target, *, seed: int, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> Run:
    """Fuzz ``target`` for ``seconds``, each seed of its corpus first. The same ``seed`` makes the same inputs."""
    run = Run(target.name, seed)
    try:
        _fuzz(target, run, seconds, monotonic)
    finally:
        target.close()
    return run


def _fuzz(target: Target, run: Run, seconds: float, monotonic: Callable[[], float]) -> None:
    rng = random.Random(f"{target.name} {run.seed}")
    pool = list(target.seeds)
    seen: set[Hashable] = set()
    began = monotonic()
    pending = list(target.seeds)
    pending.reverse()
    while monotonic() - began < seconds and len(run.findings) < _MOST_FINDINGS:
        is_seed = bool(pending)
        case = pending.pop() if is_seed else target.made(pool, rng)
        run.executions += 1
        started = time.process_time()
        outcome, failure = _looked(target, case)
        took = time.process_time() - started
        if took > run.slowest_s:
            run.slowest_s, run.slowest_bytes = took, len(case)
        if failure is not None:
            if failure not in run.findings:
                run.findings[failure] = _finding(target, case, failure, run, monotonic)
        elif not seen.issuperset(names := outcome if isinstance(outcome, frozenset) else {outcome}):
            seen |= names
            if not is_seed and len(case) <= _KEPT_BYTES and len(pool) < len(target.seeds) + _KEPT_NEW:
                pool.append(case)
    run.seconds, run.outcomes = monotonic() - began, len(seen)


def _looked(target: Target, case: bytes) -> tuple[Hashable, str | None]:
    """The outcome, or what failed: the exception's type and the innermost frames of ours."""
    try:
        with _bounded(CPU_BOUND_S):
            return target.look(case), None
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a look raises is a finding, the alarm included
        return None, _named(error)


def _named(error: BaseException) -> str:
    if isinstance(error, TookTooLong):
        # Where the alarm met it is chance.
        return "TookTooLong"
    frames = [
        f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
        for frame in _frames(error.__traceback__)
        if frame.filename != __file__
    ]
    said = str(error)[:120] if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__}{': ' + said if said else ''} at {' < '.join(reversed(frames[-2:]))}"


def _frames(found: TracebackType | None) -> Sequence[traceback.FrameSummary]:
    return traceback.extract_tb(found)


@contextmanager
def _bounded(bound_s: float) -> Iterator[None]:
    """Raise TookTooLong beyond ``bound_s`` of this process's own time, or beyond twelve times that on the wall."""
    before = [(number, signal.signal(number, _rang)) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, bound_s)
    signal.setitimer(signal.ITIMER_REAL, bound_s * WALL_BOUND_FACTOR)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before:
            signal.signal(number, handler)


def _rang(_number: int, _frame: FrameType | None) -> None:
    raise TookTooLong


def _finding(target: Target, case: bytes, what: str, run: Run, monotonic: Callable[[], float]) -> Finding:
    shortest = _shortened(target, case, what, monotonic)
    BUILD.mkdir(parents=True, exist_ok=True)
    file = BUILD / f"{target.name}-{run.seed}-{hashlib.sha256(shortest).hexdigest()[:12]}"
    file.write_bytes(shortest)
    file.with_suffix(".as-found").write_bytes(case)
    found = Finding(what, run.executions, shortest, file)
    print(found.told(target.name, run.seed), file=sys.stderr, flush=True)
    return found


def _shortened(target: Target, case: bytes, what: str, monotonic: Callable[[], float]) -> bytes:
    """``case`` without whatever it fails alike without: pieces are left out, large ones first."""
    ends = monotonic() + _SHORTENING_S
    size = len(case) // 2
    while size:
        at = 0
        while at < len(case):
            if monotonic() > ends:
                return case
            shorter = case[:at] + case[at + size :]
            if _looked(target, shorter)[1] == what:
                case = shorter
            else:
                at += size
        size //= 2
    return case
