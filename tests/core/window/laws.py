"""What every window keeps to, checked from the outside: everything is counted and looked up again, by loops.

Nothing here reads how a window was cut: only the conversation, the policy, the messages of the window and its manifest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.core.exchanges import whole_exchanges
from agent.core.pairs import Call, Place, named_invocations, paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.counting import Counting, counted
from agent.core.window.cut_message import is_plain
from agent.core.window.marker import is_marker, marker_turn, missing_at
from agent.core.window.policy import Policy
from agent.core.window.segments import error_links
from agent.core.window.window import Window

_CUT = re.compile(r"\.\.\. \[(\d+) characters removed\] \.\.\.")


def broken_laws(
    messages: Sequence[SessionTurn],
    pairs: Mapping[Place, Call] | None,
    policy: Policy,
    count: Counting,
    window: Window,
    *,
    is_maximal: bool = True,
    links: Sequence[tuple[int, int]] | None = None,
) -> list[str]:
    """The names of the laws that ``window`` breaks, with what was found. ``is_maximal`` False: not whether more fits.

    ``links`` are the places in ``messages`` of errors and their corrections; None: by ``error_links``.
    """
    found = _Case(messages, paired_calls(messages) if pairs is None else pairs, policy, count, window)
    laws = [
        *_sums(found), *_budget(found), *_validity(found), *_order(found), *_system(found), *_newest_user(found),
        *_markers(found), *_manifest(found),
    ]  # fmt: skip
    if is_maximal and not laws:
        linked = found.links if links is None else links
        laws += [*_before_the_strategy(found), *_more_would_fit(found, linked)]
    return laws


@dataclass(frozen=True)
class _Case:
    messages: Sequence[SessionTurn]
    pairs: Mapping[Place, Call]
    policy: Policy
    count: Counting
    window: Window

    @cached_property
    def place(self) -> dict[str, int]:
        return {turn.turn_id: place for place, turn in enumerate(self.messages)}

    @cached_property
    def may(self) -> dict[int, SessionTurn]:
        """By place, the turns that a window may hold, as it holds them."""
        system = {turn.turn_id for turn in self.messages if turn.role == "system"}
        pairs = {place: call for place, call in self.pairs.items() if call.place.turn_id not in system}
        there = [turn for turn in self.messages if not turn.erased]
        silent = [_silent(turn) if turn.role == "system" else turn for turn in there]
        return {self.place[turn.turn_id]: turn for turn in whole_exchanges(silent, pairs, open_end=True).turns}

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """The places of errors and of their corrections."""
        places = list(self.may)
        return [(places[one], places[other]) for one, other in error_links(list(self.may.values()), self.pairs)]

    @cached_property
    def spoken(self) -> list[int]:
        """The places of those that are no system turns."""
        return [place for place, turn in self.may.items() if turn.role != "system"]

    @cached_property
    def kept(self) -> set[int]:
        return {self.place[turn.turn_id] for turn in self.window.messages if turn.turn_id in self.place}

    @cached_property
    def atoms(self) -> list[list[int]]:
        """Places that stay together: calls, their results, and what stands between."""
        atoms = [[place] for place in self.spoken]
        for place in self.spoken:
            for named, _, _ in named_invocations(self.may[place]) if self.may[place].role == "tool" else ():
                call = self.pairs.get(named)
                caller = None if call is None else self.place.get(call.place.turn_id)
                if caller in self.spoken:
                    span = [atom for atom in atoms if caller <= atom[-1] and atom[0] <= place]
                    joined = [each for atom in span for each in atom]
                    atoms = sorted([*(atom for atom in atoms if atom not in span), joined])
        return atoms

    @cached_property
    def newest_user(self) -> int | None:
        return next((place for place in reversed(self.spoken) if self.may[place].role == "user"), None)

    @cached_property
    def open_atom(self) -> list[int] | None:
        """The atom with a call that has no result."""
        answered = {call.place for place, call in self.pairs.items() if self.place.get(place.turn_id) in self.spoken}
        for atom in self.atoms:
            for place in atom:
                calls = {} if self.may[place].role == "tool" else _calls(self.may[place])
                if set(calls.values()) - answered:
                    return atom
        return None

    @cached_property
    def recent(self) -> list[list[int]]:
        """The atoms of the newest ``min_recent`` messages."""
        newest = self.spoken[len(self.spoken) - self.policy.min_recent :] if self.policy.min_recent else []
        newest = self.spoken if self.policy.min_recent >= len(self.spoken) else newest
        return [atom for atom in self.atoms if set(atom) & set(newest)]

    def units(self, *, in_atoms: bool = False) -> list[list[int]]:
        """The units, oldest first."""
        current = 0 if self.newest_user is None or in_atoms else self.newest_user
        units: list[list[int]] = []
        for atom in self.atoms:
            opens = self.may[atom[0]].role == "user"
            first_alone = self.window.manifest.strategy == "truncate" and len(units) == 1 and units[0] == self.atoms[0]
            if not units or opens or first_alone or atom in self.recent or atom[0] >= current:
                units.append([*atom])
            else:
                units[-1] += atom
        return units

    def tokens_of(self, turn: SessionTurn) -> int:
        return counted(turn, self.count).tokens

    def spent(self, kept: set[int]) -> int:
        """The tokens of a window that holds the messages ``kept``, without system turns and the overhead."""
        return sum(self.tokens_of(turn) for turn in self.assembled(kept) if turn.role != "system" or is_marker(turn))

    def assembled(self, kept: set[int]) -> list[SessionTurn]:
        """The window that holds ``kept``."""
        made: list[SessionTurn] = []
        told: set[int] = set()
        has_spoken = False
        for atom in self.atoms:
            if not set(atom) <= kept:
                continue
            lost = self._lost(told, atom[-1], atom)
            opens = self.policy.user_first and not has_spoken and self.may[atom[0]].role != "user"
            if lost or opens:
                made.append(marker_turn(len(lost), self.policy.marker, self.messages[atom[0]]))
            made += [self.may[place] for place in atom]
            told |= lost | set(atom)
            has_spoken = True
        lost = self._lost(told, len(self.messages), [])
        if lost:
            made.append(marker_turn(len(lost), self.policy.marker, self.messages[-1]))
        return made

    def _lost(self, told: set[int], up_to: int, but: list[int]) -> set[int]:
        system = {place for place, turn in self.may.items() if turn.role == "system"}
        return set(range(up_to)) - told - system - set(but)

    @cached_property
    def fixed(self) -> int:
        """The overhead, and the tokens of all system turns."""
        return self.count.overhead + sum(self.tokens_of(turn) for turn in self.may.values() if turn.role == "system")

    @cached_property
    def room(self) -> tuple[float, float]:
        """The tokens, without what is fixed, and the messages that the window may have."""
        policy = self.policy
        marker = marker_turn(1, policy.marker, self.messages[0]) if self.messages else None
        seen = [*self.may.values(), *([marker] if marker else [])]
        is_exact = self.count.is_exact and not any(counted(turn, self.count).is_estimated for turn in seen)
        whole = self.fixed + sum(self.tokens_of(self.may[place]) for place in self.spoken)
        fixed = self.fixed
        messages: float = float("inf") if policy.max_messages is None else policy.max_messages
        if policy.max_tokens is not None:
            budget, messages = policy.max_tokens, float("inf")
        elif policy.model_limit is None:
            budget, fixed = policy.max_history_tokens, 0
        else:
            asked = 0
            if policy.query is not None:
                fields = {"role": "user", "content": policy.query}
                asked = self.tokens_of(SessionTurn("", 0, "", None, "user", policy.query, erased=False, fields=fields))
            shares, limit = policy.thresholds, policy.model_limit
            if whole + asked <= shares.high * limit:
                return float("inf"), messages
            share = shares.target if whole + asked > shares.critical * limit else shares.high
            budget, fixed = int(share * limit), fixed + asked
        return (budget if is_exact else budget * 95 // 100) - fixed, messages

    def fits(self, kept: set[int]) -> bool:
        tokens, messages = self.room
        return len(kept) <= messages and self.spent(kept) <= tokens


def _silent(turn: SessionTurn) -> SessionTurn:
    fields = {name: value for name, value in turn.fields.items() if name != "tool_invocations"}
    names = ("turn_id", "seq", "conversation_id", "parent_turn_id", "role", "content", "erased")
    return SessionTurn(**{name: getattr(turn, name) for name in names}, fields=fields)


def _calls(turn: SessionTurn) -> dict[str, Place]:
    calls: dict[str, Place] = {}
    for place, invocation_id, _ in named_invocations(turn):
        calls.setdefault(invocation_id, place)
    return calls


def _sums(case: _Case) -> Iterator[str]:
    """Kept turns and markers are all turns; the tokens are those of the messages."""
    missing = sum(missing_at(turn) or 0 for turn in case.window.messages)
    kept = sum(not is_marker(turn) for turn in case.window.messages)
    if kept + missing != len(case.messages):
        yield f"sum: {kept} kept, {missing} in markers, {len(case.messages)} turns"
    tokens = case.count.overhead + sum(map(case.tokens_of, case.window.messages))
    if tokens != case.window.manifest.tokens:
        yield f"tokens: {tokens} counted, {case.window.manifest.tokens} told"


def _budget(case: _Case) -> Iterator[str]:
    tokens, messages = case.room
    said = [turn for turn in case.window.messages if turn.role != "system" or is_marker(turn)]
    spent = sum(map(case.tokens_of, said))
    if spent > tokens:
        yield f"budget: {spent} of {tokens}"
    spoken = [case.place[turn.turn_id] for turn in said if not is_marker(turn)]
    # What is kept whatever it counts.
    base = {*(case.open_atom or ()), *(atom_of(case, case.newest_user) if case.newest_user is not None else ())}
    if len(spoken) > messages and not set(spoken) <= base and len(spoken) > 1:
        yield f"max_messages: {len(spoken)} of {messages}"
    may_hold = case.spoken
    if may_hold and not spoken:
        yield "empty"


def atom_of(case: _Case, place: int) -> list[int]:
    return next(atom for atom in case.atoms if place in atom)


def _validity(case: _Case) -> Iterator[str]:
    """Each result comes after its call, and each call is answered before the next message of a user, or at the end."""
    waiting: set[tuple[str, str]] = set()
    made: set[tuple[str, str]] = set()
    for turn in case.window.messages:
        named = list(named_invocations(turn))
        if turn.role == "tool":
            answered = [case.pairs.get(place) for place, _, _ in named]
            calls = {(call.place.turn_id, call.invocation_id) for call in answered if call is not None}
            if not named or None in answered or not calls <= made:
                yield f"valid: the result on turn {turn.seq} has no call before it"
            waiting -= calls
            continue
        if is_marker(turn) and waiting and any(later.role == "tool" for later in _following(case, turn)):
            yield f"valid: a marker stands before the results of {len(waiting)} calls"
        if turn.role == "user" and waiting:
            yield f"valid: {len(waiting)} calls are not answered before turn {turn.seq}"
        if turn.role == "user":
            made.clear()
        own = {(turn.turn_id, invocation_id) for _, invocation_id, _ in named}
        made |= own
        waiting |= own
    if waiting:
        callers = {turn_id for turn_id, _ in waiting}
        behind = [turn for turn in case.messages if not turn.erased and case.place[turn.turn_id] in case.spoken]
        last = max(case.place[turn_id] for turn_id in callers)
        if any(case.place[turn.turn_id] > last and turn.role != "tool" for turn in behind):
            yield "valid: a call is open, and not at the end"


def _following(case: _Case, marker: SessionTurn) -> list[SessionTurn]:
    at = next(place for place, turn in enumerate(case.window.messages) if turn is marker)
    following: list[SessionTurn] = []
    for turn in case.window.messages[at + 1 :]:
        if turn.role != "system":
            following.append(turn)
            break
    return following


def _order(case: _Case) -> Iterator[str]:
    places = [case.place[turn.turn_id] for turn in case.window.messages if not is_marker(turn)]
    if places != sorted(set(places)):
        yield "order"
    for turn in case.window.messages:
        place = case.place.get(turn.turn_id)
        if place is None:
            if not is_marker(turn):
                yield "a message that is not of the conversation"
        elif place not in case.may:
            yield f"turn {turn.seq} is erased, or half an exchange"
        elif turn != case.may[place] and not _is_cut_of(turn, case.may[place]):
            yield f"turn {turn.seq} was changed"


def _is_cut_of(turn: SessionTurn, whole: SessionTurn) -> bool:
    """Whether ``turn`` is ``whole`` with a head and a tail of its text, and the number of what is missing between."""
    if turn.content is None or whole.content is None or not is_plain(whole):
        return False
    for found in _CUT.finditer(turn.content):
        head, tail = turn.content[: found.start()], turn.content[found.end() :]
        is_part = whole.content.startswith(head) and whole.content.endswith(tail) and (head or tail)
        if is_part and len(head) + len(tail) + int(found[1]) == len(whole.content):
            return True
    return False


def _system(case: _Case) -> Iterator[str]:
    system = [turn for turn in case.may.values() if turn.role == "system"]
    if [turn for turn in case.window.messages if turn.role == "system" and not is_marker(turn)] != system:
        yield "system turns"


def _newest_user(case: _Case) -> Iterator[str]:
    place = case.newest_user
    if place is None or place in case.kept:
        return
    atom = atom_of(case, place)
    if len(atom) == 1 and is_plain(case.may[place]):
        yield "newest user: not there, and could have been cut"
    elif case.spent(set(atom)) <= case.room[0]:
        yield "newest user: not there, and fits"


def _markers(case: _Case) -> Iterator[str]:
    """One for each gap, right before the next message, and where the first message has to be a user's, before it."""
    before: SessionTurn | None = None
    spoken: list[SessionTurn] = []
    for turn in case.window.messages:
        if before is not None and is_marker(before) and turn.role == "system":
            yield "marker: not right before the next message"
        if is_marker(turn) or turn.role != "system":
            if spoken and is_marker(spoken[-1]) and is_marker(turn):
                yield "marker: two for one gap"
            spoken.append(turn)
        before = turn
    if case.policy.user_first and spoken and spoken[0].role != "user" and not is_marker(spoken[0]):
        yield "user first"
    if len({turn.turn_id for turn in case.window.messages}) != len(case.window.messages):
        yield "ids: two messages have one"
    # A window without a cut is what its messages make.
    if all(case.may[place] in case.window.messages for place in case.kept):
        kept = case.kept & set(case.spoken)
        said = [turn for turn in case.window.messages if turn.role != "system" or is_marker(turn)]
        if [missing_at(turn) for turn in said] != [missing_at(turn) for turn in case.assembled(kept)]:
            yield "marker: counts what is missing elsewhere"


def _manifest(case: _Case) -> Iterator[str]:
    manifest = case.window.manifest
    if [choice.turn_id for choice in manifest.choices] != [turn.turn_id for turn in case.messages]:
        yield "manifest: not every turn"
    kept = {case.place[choice.turn_id] for choice in manifest.choices if choice.kept}
    if kept != case.kept or manifest.kept != len(kept) or manifest.dropped != len(case.messages) - len(kept):
        yield "manifest: other turns than are there"
    markers = [turn for turn in case.window.messages if is_marker(turn)]
    of_markers = sum(map(case.tokens_of, markers))
    of_turns = sum(choice.tokens for choice in manifest.choices if choice.kept)
    if of_turns + of_markers + case.count.overhead != manifest.tokens or len(markers) != manifest.markers:
        yield "manifest: tokens of the turns"
    if sum(manifest.by_role.values()) + case.count.overhead != manifest.tokens:
        yield "manifest: tokens by role"


def _is_cut(case: _Case) -> bool:
    return any(choice.cut for choice in case.window.manifest.choices)


def _before_the_strategy(case: _Case) -> Iterator[str]:
    """Open calls, then the newest messages, as far as they fit beside the newest user's message."""
    base = set(case.spoken[-1:]) if case.newest_user is None else {case.newest_user}
    base = {place for each in base for place in atom_of(case, each)}
    if _is_cut(case) or not case.spoken or not base <= case.kept:
        return
    if case.spent(base) > case.room[0]:
        # It stands with what costs less than the marker for it.
        return
    limit = case.room[1]
    if case.open_atom is not None and case.spent(base | set(case.open_atom)) <= case.room[0]:
        if not set(case.open_atom) <= case.kept:
            yield "open calls: not there, and fit"
        base |= set(case.open_atom)
    for atom in reversed(case.recent):
        wider = base | set(atom)
        if case.spent(wider) > case.room[0] or (len(wider) > limit and wider != base):
            break
        if not set(atom) <= case.kept:
            yield f"recent: the messages at {atom} are not there, and fit"
        base = wider


def _more_would_fit(case: _Case, links: Sequence[tuple[int, int]]) -> Iterator[str]:
    if _is_cut(case) or not case.spoken:
        return
    reasons = {case.place[choice.turn_id]: choice.reason for choice in case.window.manifest.choices}
    barred = {place for place, reason in reasons.items() if reason == "task_complete"}
    kept = case.kept & set(case.spoken)
    is_user_there = case.newest_user is None or case.newest_user in kept
    units = case.units(in_atoms=not is_user_there)
    for more in _candidates(case, units, kept, links):
        if more and not set(more) & barred and case.fits(kept | set(more)):
            yield f"maximal: the messages at {more} would fit"


def _candidates(
    case: _Case, units: list[list[int]], kept: set[int], links: Sequence[tuple[int, int]]
) -> Iterator[list[int]]:
    is_kept = [set(unit) <= kept for unit in units]
    gap: list[int] = []
    for unit, there in zip([*units, []], [*is_kept, True], strict=True):
        if there:
            yield gap
        gap = [] if there else [*gap, *unit]
    if case.window.manifest.strategy in {"rolling_window", "truncate"}:
        for number, unit in enumerate(units):
            beside = is_kept[max(0, number - 1) : number + 2]
            if not is_kept[number] and (any(beside) or number == len(units) - 1):
                yield unit
        return
    for group in _groups(units, links):
        yield [place for number in group if not is_kept[number] for place in units[number]]


def _groups(units: list[list[int]], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    groups = [[number] for number in range(len(units))]
    for one, other in links:
        joined = [group for group in groups if any({one, other} & set(units[number]) for number in group)]
        together = [number for group in joined for number in group]
        groups = [*(group for group in groups if group not in joined), together]
    return groups
