"""``erase``: the content of a session, a turn or a user leaves the store's files, with a receipt (CONTRACT 10a).

Erasing again is no fault: the receipt counts what was left to erase.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.names import both, session_id, turn_id, user_id
from agent.cli.memory.taking_away.confirmation import Confirmation, counted
from agent.cli.output_format import Format
from agent.cli.result import print_result
from agent.config import Settings
from agent.errors import StoreNotFound, ValidationError

if TYPE_CHECKING:
    from agent.ruvector.client import RuvectorClient
    from agent.ruvector.models import ErasureReceipt


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is to be erased: a ``session``, a ``turn`` or a ``user``, as it was ``given`` and by its ``name`` there."""

    kind: str
    given: str
    name: str

    @property
    def missing(self) -> str:
        """That it is not there. A person's name is no id: messages do not repeat it."""
        name = "of this name" if self.kind == "user" else both(self.given, self.name)
        return f"there is no {self.kind} {name} in this store"

    def question(self, client: RuvectorClient) -> str:
        """What would be done, with a count where the store has one before."""
        if self.kind == "session":
            return f"erase {counted(client.reads.session(self.name).turn_count, 'turn')} of session {self.name}?"
        if self.kind == "turn":
            return f"erase turn {self.name} in every session that has it?"
        return f"erase everything that came from user {self.name}? How much it is cannot be counted before."

    def erase(self, client: RuvectorClient) -> ErasureReceipt:
        """Erase it. Raises StoreNotFound for what the store never had."""
        erasure = client.erasure
        return {"session": erasure.session, "turn": erasure.turn, "user": erasure.user}[self.kind](self.name)


@dataclass(frozen=True, slots=True)
class EraseCommand:
    """One erasure of exactly one of ``session``, ``turn`` and ``user``, as people name them."""

    session: str | None
    turn: str | None
    user: str | None
    yes: bool

    interrupted = "interrupted: the erasure may be done; the same command again is safe, and its receipt says what is"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Ask, erase, and print the receipt."""
        subject = self._subject()
        confirmation = Confirmation.at(invocation.terminal, command="erase", yes=self.yes)
        settings = Settings.from_env(invocation.settings())
        check_embedded_store(settings.store)
        with closing(store_client(settings)) as client:
            try:
                # Not asked, the question need not be made: the count takes a read.
                refused = None if self.yes else confirmation.ask(subject.question(client))
                if refused is not None:
                    return refused
                receipt = subject.erase(client)
            except StoreNotFound as error:
                raise StoreNotFound(subject.missing) from error
        _show(invocation, subject, receipt)
        return ExitCode.OK

    def _subject(self) -> _Subject:
        given = [
            _Subject(kind, name, read(name))
            for kind, name, read in (
                ("session", self.session, session_id),
                ("turn", self.turn, turn_id),
                ("user", self.user, user_id),
            )
            if name is not None
        ]
        if len(given) != 1:
            raise ValidationError("erase needs exactly one of --session-id, --turn-id and --user-id")
        return given[0]


def _show(invocation: Invocation, subject: _Subject, receipt: ErasureReceipt) -> None:
    document: dict[str, Any] = {f"{subject.kind}_id": subject.name, **receipt.model_dump()}
    if invocation.format is Format.TABLE:
        print_result(invocation, document, _facts(subject, receipt))
    else:
        # What the store counts may have any number of digits.
        invocation.print_json(json.dumps(document, ensure_ascii=False).encode())
    if receipt.files == "pending":
        invocation.terminal.say(
            "the erased content may still lie in the database's files: whoever runs the store rewrites them with "
            "memory-graph store scrub"
        )


def _facts(subject: _Subject, receipt: ErasureReceipt) -> list[tuple[str, str]]:
    return [
        ("erased", f"{subject.kind} {subject.name}"),
        ("sessions", str(receipt.sessions)),
        ("turns", str(receipt.turns)),
        ("events", str(receipt.events)),
        ("at", receipt.at),
        ("by key", receipt.key_name),
        ("position", str(receipt.position)),
        ("files", receipt.files),
    ]
