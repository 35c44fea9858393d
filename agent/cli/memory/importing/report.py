"""What an import prints: for people a row for each file and what was skipped, for scripts a document a result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory.importing.account import Account, Told, refusal_kind
from agent.cli.memory.importing.file_walk import UNKNOWN, Step
from agent.cli.memory.importing.sources import Source
from agent.cli.memory.kept_fuller import stay_fuller
from agent.cli.output_format import Format
from agent.cli.terminal_text import escape
from agent.errors import MAX_PROBLEMS, ValidationError

# So many conversations that were not taken are named for people; documents name all.
_NAMED: Final = 10


class FileTold(NamedTuple):
    """What came of a file: its sums; ``nothing`` says what it is where none of it was read."""

    source: Source
    account: Account
    nothing: str | None

    @property
    def is_unknown(self) -> bool:
        """Whether nothing was read of it because no format knows what is in it."""
        return self.nothing is not None and bool(self.account.skipped[UNKNOWN])


class Report:
    """The results, while they come. Used as a context: what was done is told however it ends."""

    def __init__(self, invocation: Invocation, *, dry_run: bool, is_located: bool) -> None:
        self._invocation = invocation
        self._dry_run = dry_run
        self._is_located = is_located
        # Of each file that changed what was said before, the first session that only its name stands for.
        self._revised: dict[str, str] = {}
        self._files: list[FileTold] = []
        self._refused: list[tuple[Source, str]] = []
        self._total = Account()
        self._opened = ExitStack()
        self._listing = None if invocation.format is Format.TABLE else Listing(invocation, "conversations", ())

    def __enter__(self) -> Self:
        if self._listing is not None:
            self._opened.enter_context(self._listing)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listing is None:
            self._show()
            self._hint()
            return
        self._listing.members = {
            "files": [self._file(told) for told in self._files],
            "total": self._total.as_dict(),
            "dry_run": self._dry_run,
        }
        self._opened.__exit__(kind, error, trace)
        self._hint()

    def conversation(self, source: Source, told: Told) -> None:
        """Tell what came of one conversation."""
        if told.error is not None:
            self._refuse(source, told.place, told.error.message)
        if told.is_placed and told.counts is not None and told.counts.revised:
            self._revised.setdefault(source.shown, told.native_session_id or told.session_id)
        if self._listing is not None:
            self._add(_conversation(source, told, stored=not self._dry_run))

    def skipped(self, source: Source, step: Step) -> None:
        """Tell of a document that is none that can be read."""
        kind = step.skipped or ""
        self._refuse(source, step.place, kind if step.error is None else f"{kind}: {step.error.message}")
        if self._listing is not None:
            self._add(_failed(source, step.place, 0, kind, step.error))

    def unreadable(self, source: Source, kind: str, reason: str) -> None:
        """Tell of a file that cannot be read, or not to its end."""
        self._refuse(source, None, reason)
        if self._listing is not None:
            said = {"kind": kind} if reason == kind else {"kind": kind, "message": reason}
            self._add({"file": source.shown, "place": None, "error": said})

    def file(self, told: FileTold) -> None:
        """Tell what came of a file, after its conversations."""
        self._files.append(told)
        if told.nothing is not None:
            self._refused = [each for each in self._refused if each[0] is not told.source]
        self._total.include(told.account)

    def _refuse(self, source: Source, place: int | None, why: str) -> None:
        # Of a file that nothing is read of, one line says it all, and that is known at its end.
        if self._listing is None and len(self._refused) <= _NAMED:
            self._refused.append((source, f"{source.shown}{'' if place is None else f'#{place}'}: {why}"))

    def _add(self, document: dict[str, Any]) -> None:
        assert self._listing is not None  # noqa: S101 - by the caller
        # Half a surrogate pair, of a file's name that is no text, is written as the escape that JSON has for it.
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        self._listing.add(text.encode(errors="backslashreplace").decode(), tuple)

    def _file(self, told: FileTold) -> dict[str, Any]:
        left_out = {"left_out": told.source.left_out} if told.source.left_out else {}
        nothing = {} if told.nothing is None else {"nothing_read": told.nothing}
        return {"file": told.source.shown, **told.account.as_dict(), **left_out, **nothing}

    def _show(self) -> None:
        terminal = self._invocation.terminal
        if any(told.nothing is None for told in self._files):
            # Late: a script that asks for JSON does not wait for Rich.
            from agent.cli.memory.importing.report_table import common_folder, table

            folder = common_folder(self._files)
            if folder:
                terminal.plain(f"in {escape(folder, terminal.encoding)}\n")
            rows = table(self._files, self._total, folder=folder, encoding=terminal.encoding)
            terminal.show(rows)
        for line in self._summary():
            terminal.plain(f"{line}\n")
        if self._dry_run:
            terminal.plain("dry run: nothing was stored\n")
        lines = [f"{told.source.shown}: {told.nothing}" for told in self._files if told.nothing is not None]
        refused = [line for _, line in self._refused]
        lines += [*refused[:_NAMED], *(["... and more: --jsonl names all"] if len(refused) > _NAMED else [])]
        unknown = any(told.is_unknown for told in self._files)
        if unknown and not self._is_located and not self._total.conversations:
            lines.append("--at KEY says where in a document its messages are, as --at data.messages")
        if lines:
            terminal.explain(*lines)

    def _hint(self) -> None:
        """Say what may have been meant otherwise."""
        for shown, session in self._revised.items():
            self._invocation.terminal.explain(
                f"{shown}: turns of {session} were revised: if that was another file of this name, --source NAME keeps "
                "the two apart"
            )
        if self._total.kept_fuller:
            self._invocation.terminal.explain(stay_fuller(self._total.kept_fuller))

    def _summary(self) -> Iterator[str]:
        encoding = self._invocation.terminal.encoding
        left_out = sum(told.source.left_out for told in self._files)
        ignored = self._total.ignored + Counter({"other files of the archive": left_out})
        for title, kinds in (("left out", +ignored), ("skipped", +self._total.skipped)):
            for kind, count in kinds.most_common():
                yield f"{title}  {count}  {escape(kind, encoding)}"


def _conversation(source: Source, told: Told, *, stored: bool) -> dict[str, Any]:
    if told.error is not None:
        return _failed(source, told.place, told.number, refusal_kind(told.error), told.error, form=told.form)
    ids = {
        "session_id": told.session_id,
        "native_session_id": told.native_session_id,
        "conversation_id": told.conversation_id,
        "native_conversation_id": told.native_conversation_id,
    }
    counts = told.counts.as_dict() if stored and told.counts is not None else {}
    return {
        "file": source.shown,
        "place": told.place,
        "number": told.number,
        "format": told.form,
        **{name: each for name, each in ids.items() if each},
        "turns": told.turns,
        **counts,
        **({"kept_fuller": told.kept_fuller} if told.kept_fuller else {}),
        "calls": told.calls,
        "captures": told.captures,
        **({"duplicate": bool(told.captures) and told.duplicates == told.captures} if stored else {}),
        "ignored": dict(told.ignored),
    }


def _failed(
    source: Source, place: int | None, number: int, kind: str, error: ValidationError | None, *, form: str = ""
) -> dict[str, Any]:
    problems = [] if error is None else [problem.as_dict() for problem in error.problems[:MAX_PROBLEMS]]
    return {
        "file": source.shown,
        "place": place,
        **({"number": number, "format": form} if form else {}),
        "error": {"kind": kind, **({} if error is None else {"message": error.message, "errors": problems})},
    }
