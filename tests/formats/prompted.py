"""Windows for the tests of prompts: conversations without a store, cut or whole, as a format's provider gets them.

``wrong_with`` also looks for all that a window says: a list that keeps every rule by saying nothing is no pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from agent.core.exchanges import whole_exchanges
from agent.core.history import history
from agent.core.ids import conversation_uuid
from agent.core.native import derive_ids
from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.marker import marker_turn
from agent.formats.prompt import Prompt, shaped
from agent.formats.writers import writer
from agent.formats.writing import Capture, Session
from tests.formats.providers.rules import problems
from tests.formats.small_sessions import payload


def conversation(turns: Sequence[dict[str, Any]]) -> Session:
    """``turns`` as they are sent to us, ids derived: nothing of a message is kept that its fields do not say."""
    return session_of_captures([derive_ids(payload(list(turns)))], is_translated=False)


def session_of_captures(captures: Iterable[dict[str, Any]], *, is_translated: bool = True) -> Session:
    """The session that the payloads become, captured in this order; a turn that comes again is its latest revision."""
    found: dict[str, SessionTurn] = {}
    kept: dict[str, Capture] = {}
    session_id = ""
    for number, sent in enumerate(captures):
        session_id = sent["session_id"]
        named = conversation_uuid(sent["conversation_id"])
        beside = {name: sent[name] for name in sent.keys() - {"session_id", "conversation_id", "turns"}}
        kept[str(number)] = Capture(named, beside, is_translated=is_translated)
        before = None
        for turn in sent["turns"]:
            fields = {"parent_turn_id": before, **turn, "conversation_id": named, "execution_ref": str(number)}
            old = found.get(turn["turn_id"])
            seq = len(found) + 1 if old is None else old.seq
            role, content = turn["role"], turn["content"]
            parent = fields["parent_turn_id"]
            found[turn["turn_id"]] = SessionTurn(turn["turn_id"], seq, named, parent, role, content, False, fields)
            before = turn["turn_id"]
    turns = tuple(found.values())
    return Session(session_id, None, history(turns), turns, kept, {}, set())


def whole_window(session: Session) -> tuple[SessionTurn, ...]:
    """All of the history, without what is half an exchange: the window where everything fits."""
    there = [turn for turn in session.shown if not turn.erased]
    return whole_exchanges(there, paired_calls(session.all), open_end=True).turns


def marker(missing: int, beside: SessionTurn) -> SessionTurn:
    """The marker of so many turns, the last of which is ``beside``."""
    return marker_turn(missing, "... [{count} messages removed] ...", beside)


def listed(session: Session, form: str, window: Sequence[SessionTurn] | None = None) -> tuple[dict[str, Any], Prompt]:
    """The document that the provider of ``form`` gets of ``window`` (else all of the history), and its prompt."""
    found = shaped(session.shown if window is None else window, form, pairs=paired_calls(session.all))
    (text,) = writer(form)(replace(session, shown=tuple(found.turns))).documents
    return json.loads(text), found


def wrong_with(session: Session, form: str, window: Sequence[SessionTurn] | None = None) -> list[str]:
    """What the provider refuses of the document, and what of the window is not in it."""
    there = session.shown if window is None else window
    document, found = listed(session, form, there)
    return [*problems(form, document), *_unsaid(document, there, found)]


def _unsaid(document: dict[str, Any], window: Sequence[SessionTurn], found: Prompt) -> Iterator[str]:
    """What ``window`` says and ``document`` does not, but for turns that are left out by name."""
    texts = list(_texts(document))
    everything = "\n".join([*texts, *map(_unpacked, texts)])
    for turn in window:
        if turn.turn_id in found.left_out:
            continue
        if any(line not in everything for line in _lines(turn.content or "")):
            yield f"{turn.role}: a text that is not there"
        if turn.role == "assistant":
            for entry in turn.invocations:
                name = entry.get("tool_name")
                if isinstance(name, str) and name.isidentifier() and name not in everything:
                    yield "a call that is not there"


def _lines(content: str) -> Iterator[str]:
    """What has to be found of a text. JSON of a result is an object in some formats, a picture is no text."""
    unpacked = _unpacked(content)
    for line in (unpacked or content).split("\n"):
        if line.strip(" {}") and not line.startswith("["):
            yield line.rstrip()


def _unpacked(text: str) -> str:
    """The strings of JSON in a string, as some formats have calls."""
    if not text.startswith(("{", "[")):
        return ""
    try:
        return "\n".join(_texts(json.loads(text)))
    except ValueError:
        return ""


def _texts(value: Any) -> Iterator[str]:
    level = [value]
    while level:
        item = level.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            level.extend(reversed(list(item.values()) if isinstance(item, dict) else item))
