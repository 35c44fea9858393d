"""Turns that carry state and no message (CONTRACT 9), appended as captures of their own: one for each conversation.

The log keeps all that was; what is shown and folded changes from the new turn on. No parent is sent, so the store puts
the turn at the conversation's current leaf. A failure after the first append is no end: what was done is told with
what was not, and the same command goes on with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from agent.bootstrap import capture_service_on
from agent.capture.service import NATIVE, CaptureRequest
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.core.timestamps import utc_text
from agent.errors import AgentError
from agent.observability.tracing import NoSpans

if TYPE_CHECKING:
    from agent.ruvector.client import RuvectorClient

# Who states the turn, beside what an application captured itself.
_SOURCE: Final = "memory-graph"


def state_capture(
    session_id: str, conversation_id: str, memory: Mapping[str, Any], *, turn_id: str, timestamp: str
) -> bytes:
    """A native payload (CONTRACT 1) of one state-only turn with ``memory``; ``timestamp`` is RFC 3339."""
    turn = {
        "turn_id": turn_id,
        "role": "system",
        "content": "",
        "timestamp": timestamp,
        "metadata": {"memory": {"state_only": True, **memory}},
    }
    return orjson.dumps(
        {
            "session_id": session_id,
            "conversation_id": conversation_id,
            "turns": [turn],
            "context": {"source_system": _SOURCE},
        }
    )


@dataclass(frozen=True, slots=True)
class Words:
    """What the results say: that a conversation was ``done`` now or ``already``, and what the session ``keeps``."""

    done: str
    already: str
    keeps: str


@dataclass(frozen=True, slots=True)
class StateTurns:
    """One turn with the same ``memory`` for each conversation ``to_do``; those ``left_alone`` have no need of one."""

    session_id: str
    memory: Mapping[str, Any]
    to_do: Sequence[str]
    left_alone: Sequence[str]
    words: Words

    def append(self, invocation: Invocation, client: RuvectorClient, new_id: Callable[[], str]) -> ExitCode:
        """Append them one by one, and print what became of each conversation, also where it ends early.

        The code is PARTLY where the store failed after the first. Raises its AgentError where nothing was done.
        """
        done: list[dict[str, Any]] = []
        try:
            for conversation_id in self.to_do:
                done.append(self._append(conversation_id, invocation, client, new_id))  # noqa: PERF401 - what was done before a failure counts
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
        self, conversation_id: str, invocation: Invocation, client: RuvectorClient, new_id: Callable[[], str]
    ) -> dict[str, Any]:
        turn_id, timestamp = new_id(), utc_text(invocation.clock())
        body = state_capture(self.session_id, conversation_id, self.memory, turn_id=turn_id, timestamp=timestamp)
        request = CaptureRequest(body=body, format=NATIVE, idempotency_key=None, execution_ref=new_id())
        answer = capture_service_on(lambda: client).capture(request, NoSpans())
        return {
            "conversation_id": conversation_id,
            "result": self.words.done,
            "turn_id": turn_id,
            "execution_ref": answer.execution_ref,
        }

    def _show(self, invocation: Invocation, done: Sequence[Mapping[str, Any]]) -> None:
        rest = self.to_do[len(done) :]
        # Of the one that failed only the answer may be lost.
        results = ["not confirmed", *[f"not {self.words.done}"] * len(rest)]
        conversations = [
            *done,
            *({"conversation_id": each, "result": result} for each, result in zip(rest, results, strict=False)),
            *({"conversation_id": each, "result": self.words.already} for each in self.left_alone),
        ]
        document = {"session_id": self.session_id, **self.memory, "conversations": conversations}
        facts = [("session", self.session_id), ("keeps", self.words.keeps)]
        facts += [(each["result"], each["conversation_id"]) for each in conversations]
        print_result(invocation, document, facts)
