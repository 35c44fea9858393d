"""The insights of a session: who said how much, how long it took, and what sets it apart from the other sessions.

For the last the store is asked, for at most so many terms as ``agent.core.topics`` proposes, how many sessions have
each: of all, or of the 2,000 that were active last. So neither the session's length nor the store's size makes it more
requests or longer ones. A store that has no search, or no figures, leaves the topics to the session's own words. One
that refuses to look for a term leaves the topics to the others: how far that one sets the session apart is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from agent.core.summary import exchange
from agent.core.topics import Candidate, candidates, spoken, topics
from agent.errors import StoreNotFound, StoreWriteError, ValidationError
from agent.recall.held import HeldSession
from agent.recall.speakers import CaptureAgents, speakers

if TYPE_CHECKING:
    from agent.ruvector.reads import StoreReads

OTHERS: Final = 2000
# In place of a count.
_REFUSED: Final = object()


def insights(
    reads: StoreReads,
    session_id: str,
    held: HeldSession,
    remembered: CaptureAgents | None = None,
    *,
    others: int = OTHERS,
) -> dict[str, Any]:
    """The insights of the session that is ``held``, of what its history shows, as ``/insights`` answers them.

    ``session_id`` is its name in the answer; ``others`` is how many sessions it is set apart from at most. Raises as
    the store's reads do.
    """
    history = held.state.history
    said = exchange(history, speakers(reads, held.session_id, history, remembered))
    found = candidates(held.whole(spoken(history)))
    return {
        "session_id": session_id,
        "message_count": said.message_count,
        "duration": said.duration,
        "topics": list(_apart(reads, found, others)),
        "agents_used": list(said.agents_used),
        "user_messages": said.user_messages,
        "assistant_messages": said.assistant_messages,
    }


def _apart(reads: StoreReads, found: Sequence[Candidate], others: int) -> Sequence[str]:
    """The topics among ``found``."""
    if not found:
        return ()
    try:
        sessions, since = _others(reads, others)
        asked = [(each, _having(reads, each.term, since)) for each in found]
    except StoreNotFound:
        return topics(found, 1, {})
    known = [each for each, having in asked if having is not _REFUSED]
    return topics(known, sessions, {each.term: having for each, having in asked if isinstance(having, int)})


def _having(reads: StoreReads, term: str, since: str | None) -> int | object | None:
    """How many sessions have the term; None from a store that does not count."""
    try:
        return reads.sessions(q=term, since=since, limit=1, total=True).total
    except ValidationError:
        return _REFUSED
    except StoreWriteError as error:
        if error.upstream_status != HTTPStatus.BAD_REQUEST:
            raise
        return _REFUSED


def _others(reads: StoreReads, most: int) -> tuple[int, str | None]:
    """How many sessions one is set apart from, and since when these are active; None: all that there are."""
    sessions = reads.stats().sessions
    if sessions > most:
        oldest = reads.sessions(limit=1, offset=most - 1).sessions
        if oldest:
            return most, oldest[0].last_activity
    return sessions, None
