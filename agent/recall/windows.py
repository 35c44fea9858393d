"""What was worked out of conversations for their windows, held as long as they are what they were.

Nothing here is a source: whatever is held can be thrown away and worked out again. A conversation that grew is counted
by what is new in it. Thread-safe: at worst a conversation is worked out twice.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from agent.core.exchanges import may_answer
from agent.core.session import SessionState
from agent.core.turn import SessionTurn
from agent.core.window.counting import Counting
from agent.core.window.cutting import Ranker
from agent.core.window.prepared import Prepared, prepare
from agent.recall.captures_said import RememberedCaptures
from agent.recall.tokens import counter_for
from agent.recall.tokens.models import ModelLimit, limit_of
from agent.recall.view import SeenSession
from agent.recall.window_prune import Pruned, pruned

# A turn counts one, and as many as its content has KiB where no session holds that beside. With an index of its words
# it takes some 2 KB.
MOST_TURNS: Final = 50_000
_KIB: Final = 1024


class Which(NamedTuple):
    """Turns of a session: of a conversation, of the branch that ends with a leaf, or all as one."""

    conversation_id: str | None = None
    leaf: str | None = None


class Shown:
    """A conversation that a window is cut from. ``turns`` are its history with their content."""

    def __init__(
        self,
        state: SessionState,
        which: Which,
        history: Sequence[SessionTurn],
        prepared: Prepared,
        ranker: Ranker | None,
    ) -> None:
        self.state = state
        self.which = which
        # As the session holds them, which may be without content.
        self.history = history
        self.prepared = prepared
        self.ranker = ranker

    @property
    def turns(self) -> Sequence[SessionTurn]:
        return self.prepared.messages

    @cached_property
    def pruned(self) -> Pruned:
        """What resets and cuts took out of it."""
        if not any(turn.memory for turn in self.state.turns):
            # The path need not be found.
            return Pruned()
        return pruned(self.state.paths().path(*self.which))

    @cached_property
    def by_role(self) -> Mapping[str, int]:
        """The tokens of its turns by role."""
        found: dict[str, int] = {}
        for turn, tokens in zip(self.prepared.turns, self.prepared.tokens, strict=True):
            found[turn.role] = found.get(turn.role, 0) + tokens
        return found


class _Key(NamedTuple):
    """``counter`` is the identity of the counter, since counters of one name may count differently.

    Whatever is held under it holds the counter too, so nobody else can come to have that identity.
    """

    session_id: str
    which: Which
    counter: int


class _Held(NamedTuple):
    shown: Shown
    weight: int


class SessionWindows:
    """One for the process, for any number of threads.

    ``counters``: the counter for a model, the same object whenever it counts the same. ``limits``: what a model takes.
    ``rankers``: who tells what messages of a session (None: of a list) have to do with a query; it is asked for once as
    long as the session is held, and may remember what it saw. Who was asked for longest ago goes first where more than
    ``most`` turns are held.
    """

    def __init__(
        self,
        *,
        counters: Callable[[str | None], Counting] = counter_for,
        limits: Callable[[str], ModelLimit] = limit_of,
        rankers: Callable[[str | None], Ranker] | None = None,
        most: int = MOST_TURNS,
    ) -> None:
        self.counters = counters
        self.limits = limits
        # What is read again of them with each window in a provider's format.
        self.captures = RememberedCaptures()
        self._rankers = rankers
        self._most = most
        self._held: OrderedDict[_Key, _Held] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def shown(self, seen: SeenSession, which: Which, model: str | None) -> Shown:
        """The turns of the session in its view. Raises NotFound as a view does, and as the store's reads do."""
        count = self.counters(model)
        if seen.state is not seen.held.state:
            # As it was: nobody asks for the same instant again.
            return self._made(seen, which, count, None)
        key = _Key(seen.held.session_id, which, id(count))
        with self._lock:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
        if held is not None and held.shown.state is seen.state:
            return held.shown
        shown = self._made(seen, which, count, None if held is None else held.shown)
        self._hold(key, shown, is_light=seen.held.content is not None)
        return shown

    def of_list(self, turns: Sequence[SessionTurn], model: str | None) -> Prepared:
        """Turns that no store has, ready to be cut; their results answer calls among them."""
        return prepare(turns, self.counters(model))

    def ranker(self, session_id: str | None) -> Ranker | None:
        """A ranker that has seen nothing yet; None where there is none."""
        return None if self._rankers is None else self._rankers(session_id)

    def _made(self, seen: SeenSession, which: Which, count: Counting, before: Shown | None) -> Shown:
        is_of_view = which == Which(seen.view.conversation_id, seen.view.leaf)
        history = seen.history if is_of_view else seen.state.history_of(*which)
        whole = _whole(seen, history, before)
        pairs = seen.walked.pairs if any(map(may_answer, whole)) else {}
        prepared = prepare(whole, _Known(count, before), pairs=pairs)
        # From here on nobody looks back.
        prepared.count = count
        if before is not None:
            prepared.remember(before.prepared)
        # What is erased shall be in no index, whether or not anybody asks it again.
        is_known = before is not None and _erased(before.turns) == _erased(whole)
        ranker = before.ranker if before is not None and is_known else self.ranker(seen.held.session_id)
        return Shown(seen.state, which, history, prepared, ranker)

    def _hold(self, key: _Key, shown: Shown, *, is_light: bool) -> None:
        content = sum(len(turn.content or "") for turn in shown.turns) // _KIB if is_light else 0
        weight = len(shown.turns) + content
        with self._lock:
            gone = self._held.pop(key, None)
            self._weight -= 0 if gone is None else gone.weight
            if weight > self._most:
                return
            self._held[key] = _Held(shown, weight)
            self._weight += weight
            while self._weight > self._most:
                _, oldest = self._held.popitem(last=False)
                self._weight -= oldest.weight


class _Known:
    """A counter that looks first at what it counted itself before the session changed."""

    def __init__(self, count: Counting, before: Shown | None) -> None:
        self._count = count
        self._tokens: dict[str, tuple[SessionTurn, int]] = {}
        if before is not None and before.prepared.count is count and not before.prepared.estimated:
            rows = zip(before.prepared.turns, before.prepared.tokens, strict=True)
            self._tokens = {turn.turn_id: (turn, tokens) for turn, tokens in rows}

    @property
    def name(self) -> str:
        return self._count.name

    @property
    def is_exact(self) -> bool:
        return self._count.is_exact

    @property
    def overhead(self) -> int:
        return self._count.overhead

    def __call__(self, turn: SessionTurn) -> int:
        known = self._tokens.get(turn.turn_id)
        return known[1] if known is not None and known[0] is turn else self._count(turn)


def _erased(turns: Sequence[SessionTurn]) -> int:
    return sum(turn.erased for turn in turns)


def _whole(seen: SeenSession, history: Sequence[SessionTurn], before: Shown | None) -> Sequence[SessionTurn]:
    """``history`` with its content, which is read of those turns alone that were not read before."""
    if seen.held.content is None or before is None:
        return seen.held.whole(history)
    rows = zip(before.history, before.turns, strict=True)
    known = {light.turn_id: (light, whole) for light, whole in rows}
    found = [known.get(turn.turn_id) for turn in history]
    new = [turn for turn, each in zip(history, found, strict=True) if each is None or each[0] is not turn]
    read = {turn.turn_id: turn for turn in seen.held.whole(new)}
    return [
        each[1] if each is not None and each[0] is turn else read[turn.turn_id]
        for turn, each in zip(history, found, strict=True)
    ]
