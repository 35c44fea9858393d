"""``export``: a session, or a conversation of it, in a format that others read.

The document goes to standard output or, whole or not at all, to a file. What the format cannot say is counted on
standard error, or in what is printed of the file: nothing is left out in silence.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.sessions.exported_session import exported_session
from agent.cli.memory.sessions.output_file import OutputFile
from agent.cli.result import print_result
from agent.cli.terminal_text import escape
from agent.config import Settings
from agent.errors import StoreNotFound, ValidationError
from agent.formats import MARKDOWN, TEXT
from agent.formats.writers import writer
from agent.formats.writing import Session, Written

STDOUT: Final = "-"


@dataclass(frozen=True, slots=True)
class ExportCommand:
    """One export of a session, or of one ``conversation`` of it, as people name them.

    ``target`` is the format; ``output`` the file, ``-`` for standard output, which ``force`` lets be replaced.
    """

    session: str
    conversation: str | None
    target: str
    output: str
    force: bool

    interrupted = "interrupted: nothing was written to a file"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Read, write, and say what is missing: PARTLY where turns are erased, NOT_WRITTEN for a file that failed."""
        if invocation.jsonl and self.target in (MARKDOWN, TEXT):
            raise ValidationError(f"--jsonl prints JSON documents, and {self.target} is none")
        file = None if self.output == STDOUT else OutputFile.checked(self.output, replace=self.force)
        settings = Settings.from_env(invocation.settings())
        check_embedded_store(settings.store)
        with closing(store_client(settings)) as client:
            session = exported_session(client.reads, self.session, self.conversation)
        written = writer(self.target)(session)
        self._check(session, written, jsonl=invocation.jsonl)
        code = self._print(invocation, session, written, file)
        if code is not ExitCode.OK:
            return code
        if written.lost and file is None:
            lines = (f"  {kind}  {count}" for kind, count in _by_words(written.lost))
            invocation.terminal.say(f"{self.target} does not say all of it, and leaves out:", *lines)
        if written.erased:
            invocation.terminal.say(f"{written.erased} of {written.turns} turns are erased: {self._of_erased()}")
            return ExitCode.PARTLY
        return ExitCode.OK

    def _check(self, session: Session, written: Written, *, jsonl: bool) -> None:
        if written.erased == written.turns:
            named = f"session {session.session_id}"
            if session.conversation_id is not None:
                named = f"conversation {session.conversation_id} of {named}"
            if written.turns:
                raise StoreNotFound(f"there is nothing to export: every turn of {named} is erased")
            raise StoreNotFound(f"there is nothing to export: the history of {named} is empty (--to native has all)")
        if len(written.documents) > 1 and not jsonl:
            raise ValidationError(
                f"it takes {len(written.documents)} captures to say this session exactly: "
                "--jsonl prints them, one JSON document a line"
            )

    def _print(self, invocation: Invocation, session: Session, written: Written, file: OutputFile | None) -> ExitCode:
        text = "".join(written.documents)
        if file is None:
            invocation.terminal.exact(text)
            return ExitCode.OK
        data = text.encode()
        try:
            file.write(data, token=invocation.execution_ref)
        except OSError as error:
            invocation.terminal.say(f"cannot write {file.name}: {os.strerror(error.errno or 0)}")
            return ExitCode.NOT_WRITTEN
        document = {
            # A name that is no text in this system's encoding is shown as far as it is.
            "file": escape(file.name),
            "format": self.target,
            "session_id": session.session_id,
            "turns": written.turns,
            "erased": written.erased,
            "documents": len(written.documents),
            "bytes": len(data),
            "left_out": dict(written.lost),
        }
        print_result(invocation, document, _facts(document))
        return ExitCode.OK

    def _of_erased(self) -> str:
        return "they are not in the export" if self.target not in (MARKDOWN, TEXT) else "the export says where"


def _facts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        counts = _by_words(value) if isinstance(value, dict) else ()
        told = ", ".join(f"{kind} {count}" for kind, count in counts) or "nothing"
        yield name.replace("_", " "), told if isinstance(value, dict) else str(value)


def _by_words(lost: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    return ((kind.replace("_", " "), count) for kind, count in sorted(lost.items()))
