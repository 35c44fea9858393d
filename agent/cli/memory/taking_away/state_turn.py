"""Turns that carry state and no message (CONTRACT 9), appended as captures of their own: one for each conversation.

The log keeps all that was; what is shown and folded changes from the new turn on. No parent is sent, so the store puts
the turn at the conversation's current leaf, and what is captured later without a parent after it. A client that names
parents, or sends its whole list again, goes on after the turn that it names: then its list is what the history shows.

A failure after the first append is no end: what was done is told with what was not, and the same command goes on with
the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from agent.capture.request import NATIVE, CaptureRequest
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.taking_away.confirmation import counted
from agent.cli.result import print_result
from agent.core.memory import state_turn
from agent.core.timestamps import utc_text
from agent.errors import AgentError
from agent.observability.tracing import NoSpans

if TYPE_CHECKING:
    from agent.capture.service import CaptureService

# Who states the turn, beside what an application captured itself.
_SOURCE: Final = "memory-graph"


def state_capture(
    session_id: str, conversation_id: str, memory: Mapping[str, Any], *, turn_id: str, timestamp: str
) -> bytes:
    """A native payload (CONTRACT 1) of one state-only turn with ``memory``; ``timestamp`` is RFC 3339."""
    return orjson.dumps(
        {
            "session_id": session_id,
            "conversation_id": conversation_id,
            "turns": [state_turn(memory, turn_id=turn_id, timestamp=timestamp)],
            "context": {"source_system": _SOURCE},
        }
    )


class Words(NamedTuple):
    """What the results say: that a conversation was ``done`` now or ``already``, and what the session ``keeps``."""

    done: str
    already: str
    keeps: str


@dataclass(frozen=True, slots=True)
class StateTurns:
    """One turn for each conversation ``to_do``, with the memory that it maps to; those ``left_alone`` need none.

    ``asked`` is what was asked for, as the answer repeats it. ``left_out`` says how many turns the history no longer
    shows once some conversations are done. ``kept`` says how many messages a conversation shows then, ``notes`` the
    same in words.
    """

    session_id: str
    asked: Mapping[str, Any]
    to_do: Mapping[str, Mapping[str, Any]]
    left_alone: Sequence[str]
    words: Words
    left_out: Callable[[Collection[str]], int]
    kept: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    def append(self, invocation: Invocation, service: CaptureService, new_id: Callable[[], str]) -> ExitCode:
        """Append them one by one, and print what became of each conversation, also where it ends early.

        The code is PARTLY where the store failed after the first. Raises its AgentError where nothing was done.
        """
        done: list[dict[str, Any]] = []
        try:
            for conversation_id, memory in self.to_do.items():
                done.append(self._append(conversation_id, memory, invocation, service, new_id))
        except AgentError as error:
            if not done:
                raise
            self._show(invocation, done)
            invocation.terminal.say(
                f"{error.message}: {len(done)} of {len(self.to_do)} conversations {self.words.done}; "
                "the same command goes on with the rest"
            )
            return ExitCode.PARTLY
        except KeyboardInterrupt:
            if done:
                self._show(invocation, done)
            raise
        self._show(invocation, done)
        return ExitCode.OK

    def _append(
        self,
        conversation_id: str,
        memory: Mapping[str, Any],
        invocation: Invocation,
        service: CaptureService,
        new_id: Callable[[], str],
    ) -> dict[str, Any]:
        turn_id, timestamp = new_id(), utc_text(invocation.clock())
        body = state_capture(self.session_id, conversation_id, memory, turn_id=turn_id, timestamp=timestamp)
        request = CaptureRequest(body=body, format=NATIVE, idempotency_key=None, execution_ref=new_id())
        answer = service.capture(request, NoSpans())
        return {
            **self._result(conversation_id, self.words.done),
            "turn_id": turn_id,
            "execution_ref": answer.execution_ref,
        }

    def _show(self, invocation: Invocation, done: Sequence[Mapping[str, Any]]) -> None:
        names = list(self.to_do)
        # Of the one that failed only the answer may be lost.
        results = ["not confirmed", *[f"not {self.words.done}"] * len(names)]
        rest = zip(names[len(done) :], results, strict=False)
        conversations = [
            *done,
            *({"conversation_id": each, "result": result} for each, result in rest),
            *(self._result(each, self.words.already) for each in self.left_alone),
        ]
        left_out = self.left_out(names[: len(done)])
        print_result(
            invocation,
            {
                "session_id": self.session_id,
                **self.asked,
                "turns_left_out": left_out,
                "conversations": conversations,
            },
            [
                ("session", self.session_id),
                ("keeps", self.words.keeps),
                ("left out", counted(left_out, "turn")),
                *map(self._fact, conversations),
            ],
        )

    def _result(self, conversation_id: str, result: str) -> dict[str, Any]:
        kept = {"kept": self.kept[conversation_id]} if conversation_id in self.kept else {}
        return {"conversation_id": conversation_id, "result": result, **kept}

    def _fact(self, result: Mapping[str, Any]) -> tuple[str, str]:
        named = result["conversation_id"]
        # Of one that failed nobody knows what it shows.
        note = self.notes.get(named) if "kept" in result else None
        return result["result"], named if note is None else f"{named}, {note}"
