"""The lists of CONTRACT 10 on the store in memory: events, the feed, sessions, counts."""

from datetime import UTC, datetime, timedelta
from typing import Any

from agent.core.timestamps import instant
from tests.store.model import ModelEvent, ModelSession, ModelStore, ModelTurn, context_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PREVIEW = 1000
NAMES = {"user_id": "users", "agent_id": "agents", "tag": "tags"}


def events(model: ModelStore, **query: Any) -> list[dict[str, Any]]:
    found = [event.given_back() for event in model.events if _is_wanted(event, query)]
    return found[::-1] if query.get("order") == "desc" else found


def feed(model: ModelStore, types: str | None = None) -> list[dict[str, Any]]:
    wanted = None if types is None else types.split(",")
    return [event.given_back() for event in model.events if wanted is None or event.envelope["type"] in wanted]


def session_row(model: ModelStore, session: ModelSession) -> dict[str, Any]:
    captures = [event for event in model.events if event.session is session and event.makes_turns]
    captured = [at(event) for event in captures]
    there = [turn for turn in session.turns if not turn.erased]
    times = [instant(turn.fields["timestamp"]) // 1000 for turn in there]
    contexts = [context_of(event.envelope["payload"]) for event in captures]
    row = {
        "session_id": session.session_id,
        "first_user_content": next((turn.fields["content"][:PREVIEW] for turn in there if is_user(turn)), None),
        "created_at": text(min(captured)),
        "last_activity": text(max(captured)),
        "first_turn_at": text(min(times)) if times else None,
        "last_turn_at": text(max(times)) if times else None,
        "turn_count": len(session.turns),
        "agents": sorted({*_named(contexts, "agent_id"), *_speakers(captures)}),
        "users": sorted(_named(contexts, "user_id")),
        "tags": sorted({tag for context in contexts for tag in context.get("tags", [])}),
        "version": session.version,
    }
    counted = [turn.fields["token_usage"]["total_tokens"] for turn in there if "token_usage" in turn.fields]
    native = [event.envelope["payload"]["inputs"].get("native_session_id") for event in captures]
    return {
        **row,
        **({"total_tokens": sum(counted)} if counted else {}),
        **({"native_session_id": name} if (name := next(filter(None, native), None)) else {}),
    }


def sessions(model: ModelStore, **query: Any) -> list[dict[str, Any]]:
    """Newest activity first; of equal instants the session that was named last."""
    listed = [session for session in model.sessions.values() if session.turns]
    rows = [(session.key, session, session_row(model, session)) for session in listed]
    rows.sort(key=lambda row: (row[2]["last_activity"], row[0]), reverse=True)
    return [row for _, session, row in rows if _is_listed(session, row, query)]


def with_words(model: ModelStore, words: list[str]) -> tuple[set[str], set[str]]:
    """The sessions whose turns hold all the words now, and those whose turns held them in any revision that is kept."""
    now = {
        s.session_id: " ".join(t.fields["content"] for t in s.turns if not t.erased) for s in model.sessions.values()
    }
    ever = dict(now)
    for event in model.events:
        if event.session is not None and event.makes_turns:
            contents = [sent.get("content", "") for sent in event.envelope["payload"]["inputs"]["turns"]]
            ever[event.session.session_id] += " " + " ".join(contents)
    return _holding(now, words), _holding(ever, words)


def counts(model: ModelStore) -> dict[str, int]:
    """Of ``GET /v1/stats``, but for the bytes."""
    listed = [session for session in model.sessions.values() if session.turns]
    return {
        "sessions": len(listed),
        "turns": sum(len(session.turns) for session in listed),
        "events": len(model.events),
    }


def at(event: ModelEvent) -> int:
    """The instant of capture in microseconds."""
    return instant(event.envelope["timestamp"]) // 1000


def text(microseconds: int) -> str:
    return (EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def is_user(turn: ModelTurn) -> bool:
    return bool(turn.fields["role"] == "user")


def _is_wanted(event: ModelEvent, query: dict[str, Any]) -> bool:
    payload = event.envelope["payload"]
    session = None if event.session is None else event.session.session_id
    return (
        query.get("session_id", session or "").lower() == (session or "")
        and query.get("conversation_id", event.conversation or "").lower() == (event.conversation or "")
        and query.get("agent_id", payload.get("agent_id")) == payload.get("agent_id")
        and query.get("decision_type", payload.get("decision_type")) == payload.get("decision_type")
        and _within(at(event), query)
    )


def _is_listed(session: ModelSession, row: dict[str, Any], query: dict[str, Any]) -> bool:
    conversations = {turn.conversation for turn in session.turns}
    return (
        all(query[name] in row[column] for name, column in NAMES.items() if name in query)
        and ("conversation_id" not in query or query["conversation_id"].lower() in conversations)
        and _within(instant(row["last_activity"]) // 1000, query)
    )


def _holding(texts: dict[str, str], words: list[str]) -> set[str]:
    return {name for name, text in texts.items() if all(word in text for word in words)}


def _within(microseconds: int, query: dict[str, Any]) -> bool:
    """Within ``from`` (inclusive) and ``to`` (exclusive)."""
    after = "from" not in query or instant(query["from"]) // 1000 <= microseconds
    return after and ("to" not in query or microseconds < instant(query["to"]) // 1000)


def _named(contexts: list[dict[str, Any]], name: str) -> set[str]:
    return {context[name] for context in contexts if name in context}


def _speakers(captures: list[ModelEvent]) -> set[str]:
    turns = [turn for event in captures for turn in event.envelope["payload"]["inputs"]["turns"]]
    return {turn["metadata"]["agent"] for turn in turns if "agent" in turn.get("metadata", {})}
