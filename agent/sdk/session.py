"""One session in the hands of whoever writes an agent: its messages, its state, and the questions that it asks.

Every write is one capture, one DecisionEvent: what is said goes behind what is there, whoever wrote that. Every read is
of the session as it is in the store now. A session that nobody wrote to is empty. Errors come out as they are
(``agent.errors``): a read that failed is never an empty answer.

Writes of a handle go into one conversation: the one that was named for it, or else the one that has the session's
newest turn when the handle first writes, so that whoever takes a session up goes on where it is.

Any thread and any task may use a handle. A batch is of the context that opened it (``agent.sdk.batch``), and of this
handle alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Self

from agent.core.cut import Cuts
from agent.core.memory import EMPTY, state_turn
from agent.core.pairs import paired_calls
from agent.core.timestamps import utc_text
from agent.once import Once
from agent.sdk.arguments import check_count, checked_name, checked_params
from agent.sdk.asking import answered, asked_in, question
from agent.sdk.batch import open_batch, opened
from agent.sdk.captures import Turns, capture, payload_of
from agent.sdk.given import Giver, each_once
from agent.sdk.json_value import json_copy, unshared
from agent.sdk.kept_views import KeptView
from agent.sdk.message import Message
from agent.sdk.opened_store import OpenedStore
from agent.sdk.session_name import SessionName
from agent.sdk.session_window import SessionWindow
from agent.sdk.tool_said import answering, open_call, tool_said
from agent.sdk.view import NO_SESSION, View, view_of

if TYPE_CHECKING:
    from agent.core.waiting import Resolution


class SessionHandle(SessionWindow):
    """One session, or one conversation of it, as ``name`` says. ``context`` goes with every capture (CONTRACT 1)."""

    def __init__(self, store: OpenedStore, name: SessionName, context: Mapping[str, str]) -> None:
        self._store = store
        self._name = name
        # Whether the name says by now which conversation is written to.
        self._is_placed = name.only
        self._context = context

    def __repr__(self) -> str:
        # Not by the caller's name for it: that may be a person's.
        return f"<{type(self).__name__} {self._name.session}, {self._store.kind} store>"

    @property
    def session_id(self) -> str:
        """The session as the caller named it."""
        return self._name.given

    @property
    def session_uuid(self) -> str:
        """The session as the store has it (CONTRACT 3)."""
        return self._name.session

    @property
    def conversation_uuid(self) -> str:
        """The conversation that this handle writes to. Where none was named the store is asked, until it is known."""
        return self._placed().conversation

    def history(self, limit: int | None = None) -> list[Message]:
        """The newest ``limit`` messages in their order (None: all), after branches, resets and cuts.

        An erased message is there as a gap: its text is empty, and it says that it is ``erased``.
        """
        if limit is not None:
            check_count("limit", limit, least=1)
        view = self._view()
        batch = None if view.is_stored else open_batch(self)
        return (self._kept() if batch is None else batch).messages.of(view, limit)

    def append(self, message: object) -> None:
        """Keep one message: a ``Message``, a dictionary, or a message object of another library."""
        self.extend([message])

    def extend(self, messages: Iterable[object]) -> None:
        """Keep ``messages`` in their order, in one event; what was read from this session is there already."""
        self._write(self._given(messages))

    def params(self) -> dict[str, Any]:
        """The parameters that the session knows."""
        params: dict[str, Any] = unshared(dict(self._view().memory.params))
        return params

    def merge(self, params: Mapping[str, Any]) -> None:
        """Merge ``params`` by name, the later in place of the earlier; None takes one away."""
        if checked := checked_params(params):
            self._remember({"params": checked})

    def waiting(self) -> str | None:
        """The parameter that is waited for; None where none is."""
        return self._view().memory.waiting_for_param

    def set_waiting(self, name: str | None) -> None:
        """Wait for the parameter ``name``, or (None) for none any longer."""
        self._remember({"waiting_for_param": None if name is None else checked_name(name, "name")})

    def clear(self, all: bool = False) -> None:  # noqa: A002, FBT001, FBT002 - the word that people say for it
        """Begin anew: from here on the history shows the system messages (``all``: not even these), and no state.

        Nothing is known and waited for, and there is no plan. The log keeps what was. Where there is nothing to clear,
        nothing is written. A session of several conversations is cleared as it is shown without naming one; by its
        name each still shows what it did, but for the one that this is written to.
        """
        view = self._view()
        if view.memory != EMPTY or any(all or turn.role != "system" for turn in view.history):
            self._remember({"reset": "all" if all else True})

    def prune(self, max_messages: int = 10) -> int:
        """Show the system messages and the newest ``max_messages`` from here on; return how many others are left out.

        A few more stay where a tool's result would lose its call. The log keeps all of them. Of several conversations
        it is what ``clear`` says.
        """
        check_count("max_messages", max_messages, least=0)
        view = self._view()
        merged = not self._name.only and len(view.state.leaves) > 1
        cuts = Cuts.of(view.history, paired_calls(view.state.turns), merged=merged)
        kept = cuts.smallest(max_messages)
        if kept >= cuts.messages:
            return 0
        self._remember({"keep_last": kept})
        return cuts.messages - kept

    def update(
        self,
        *,
        last_intent_id: str | EllipsisType | None = ...,
        last_result: Any = ...,
        plan_execution: Any = ...,
    ) -> None:
        """Replace what is given; None clears it."""
        if last_intent_id is not None and last_intent_id is not ...:
            checked_name(last_intent_id, "last_intent_id")
        given = {"last_intent_id": last_intent_id, "last_result": last_result, "plan_execution": plan_execution}
        said = {name: json_copy(value, f"$.{name}") for name, value in given.items() if value is not ...}
        if said:
            self._remember(said)

    def state(self) -> dict[str, Any]:
        """All that the session knows, and the ``version`` at which it does: 0 where the store has no such session."""
        view = self._view()
        state: dict[str, Any] = unshared(view.memory.document())
        return {**state, "version": view.version}

    def summary(self) -> dict[str, Any]:
        """``message_count``, ``last_activity`` and ``session_started`` of the session."""
        # The figures are loaded when somebody asks for one.
        from agent.core.summary import summary

        return summary(self._view().state).document()

    @contextmanager
    def batch(self) -> Iterator[Self]:
        """Make one event, at the end of the block, of all that is written inside; reads inside see it already.

        Where the block ends in an exception, nothing of it is written. A batch inside a batch is part of it. An empty
        one writes nothing. Other tasks and threads write as if there were none, but for those that are started inside
        with its context: these are part of it until it ends.
        """
        with opened(self) as batch:
            yield self
        turns = batch.close()
        self._write(turns._replace(turns=tuple(each_once(self._name.session, turns.turns))))

    def ask(self, param: str, prompt: str | None = None) -> None:
        """Say ``prompt`` as the agent, and wait for ``param``.

        Without one, in the words that the intents have for it, or else in plain ones.
        """
        self.append(question(param, prompt, self._store.intents.hints))

    def answer(self, text: str) -> Resolution:
        """Keep what the user says, and read it as the answer to what is waited for, by the hints of the intents.

        What it comes to is merged, and nothing is waited for any longer; or it says what to ask again, for the caller
        to say. Never a guess. A handle without a name keeps it in the conversation that asked; in a batch, where the
        rest goes.
        """
        view = self._view()
        message, found = answered(view, text, self._store.intents.hints)
        self._write(self._given([message]), None if self._name.only else asked_in(view))
        return found

    def record_tool(
        self,
        name: str,
        summary: str,
        params: Mapping[str, Any] | None = None,
        result: Any = None,
        *,
        arguments: Any = None,
        success: bool | None = None,
    ) -> None:
        """Keep what a tool came back with: a short ``summary`` as its message, ``params`` merged, ``last_result``.

        It answers the call of this tool that the newest messages make and nobody answered; where there is none, the
        call, with its ``arguments``, is kept before it.
        """
        call, answer = tool_said(
            name,
            summary,
            arguments=arguments,
            params=params,
            result=result,
            success=success,
            invocation_id=self._store.new_id(),
        )
        conversation = None if self._name.only else self._placed().conversation
        made = open_call(self._view(), conversation, call.tool_calls[0])
        self.extend([call, answer] if made is None else [answering(answer, made)])

    def resume(self) -> Any:
        """The plan to go on with; None where there is none, and as long as a parameter is waited for."""
        memory = self._view().memory
        return None if memory.waiting_for_param is not None else unshared(memory.plan_execution)

    def _given(self, messages: Iterable[object]) -> Turns:
        # Read only where a message comes from a session, and then once for all of them.
        shown = Once(lambda: {message.turn_id or "": message for message in self.history()})
        giver = Giver(
            name=self._name,
            agent_id=self._context.get("agent_id"),
            timestamp=self._now(),
            new_id=self._store.new_id,
            conversation=lambda: self._placed().conversation,
            shown=shown,
        )
        return giver.turns(messages)

    def _remember(self, memory: Mapping[str, Any]) -> None:
        self._write(Turns((state_turn(memory, turn_id=self._store.new_id(), timestamp=self._now()),)))

    def _write(self, turns: Turns, conversation: str | None = None) -> None:
        """Keep ``turns``: in an open batch, else in ``conversation``, else in the one that the handle writes to."""
        if not turns.turns:
            return
        while (batch := open_batch(self)) is not None:
            # Another thread may have ended it just now.
            if batch.add(turns):
                return
        name = self._placed() if conversation is None else self._name.going_on_in(conversation)
        if turns.may_part and (held := self._store.session(self._name.session)) is not None:
            turns = turns.new_first(self._name.session, held.state)
        capture(self._store.service, payload_of(name, turns, self._context), execution_ref=self._store.new_id())
        self._is_placed = self._is_placed or conversation is None

    def _placed(self) -> SessionName:
        """The session with the conversation to write to; asked of the store until that has turns, and then kept."""
        if not self._is_placed:
            newest = self._store.newest_conversation(self._name.session)
            if newest is not None:
                self._name = self._name.going_on_in(newest)
                self._is_placed = True
        return self._name

    def _view(self) -> View:
        held = self._store.session(self._name.session)
        pending = None
        if (batch := open_batch(self)) is not None:
            state = NO_SESSION if held is None else held.state
            name = self._name
            if not self._is_placed and state.turns:
                name = name.going_on_in(state.turns[-1].conversation_id)
            pending = batch.pending(state, name)
        view = view_of(self._name.session, held, self._name.conversation if self._name.only else None, pending)
        if view.memory.ignored:
            self._kept().warn(self._name.session, view.memory.ignored)
        return view

    def _kept(self) -> KeptView:
        return self._store.views.view(self._name.session, self._name.conversation if self._name.only else None)

    def _now(self) -> str:
        return utc_text(self._store.clock())
