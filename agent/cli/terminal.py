"""The process's edge: its streams and its environment. Results go to standard output, all else to standard error.

Nothing printed fails on the encoding of a stream: what it cannot write is escaped. Results that cannot be written at
all raise OutputError.
"""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

from agent.cli.exit_codes import ExitCode
from agent.cli.terminal_text import escape, escape_document

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# A pipe has no width: one that holds an id and its label without folding.
_PLAIN_WIDTH: Final = 110
# Rich fills a table to its width.
_PADDING: Final = re.compile(" +$", re.MULTILINE)
_NAME: Final = "memory-graph"


class OutputError(Exception):
    """Standard output took the results not at all, or not to their end; ``reason`` is what the system said."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


class _Page(io.StringIO):
    """Text on its way to ``stream``, which looks like it to whoever writes."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a property there too, of the C class
        return self._stream.encoding or "utf-8"

    def isatty(self) -> bool:
        return self._stream.isatty()


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where a command reads from and prints to; ``stdin`` is None where the process has none."""

    environ: Mapping[str, str]
    stdin: BinaryIO | None
    stdout: TextIO
    stderr: TextIO

    @classmethod
    def of_process(cls) -> Terminal:
        """The streams and the environment of this process."""
        nowhere = Path(os.devnull)
        return cls(
            os.environ,
            None if sys.stdin is None else sys.stdin.buffer,
            # Open for reading: results that have nowhere to go are a failure.
            sys.stdout or nowhere.open(encoding="utf-8"),
            # Without a standard error there is nobody to talk to, and the results still count.
            sys.stderr or nowhere.open("w", encoding="utf-8"),
        )

    @property
    def encoding(self) -> str:
        """What standard output is encoded with."""
        return self.stdout.encoding or "utf-8"

    @property
    def is_unicode(self) -> bool:
        """Whether standard output can hold every character."""
        return _is_unicode(self.encoding)

    def document(self, text: str, *, flush: bool = True) -> None:
        """Print a JSON or YAML document: as it is into a pipe or file, safe to look at on a terminal."""
        exact = self.is_unicode and not self.stdout.isatty()
        self._to_stdout(text if exact else escape_document(text, _of_documents(self.encoding)), flush=flush)

    def exact(self, text: str) -> None:
        """Print a file's text: in UTF-8 into a pipe or file, whatever the encoding; safe to look at on a terminal."""
        if self.stdout.isatty():
            self._to_stdout(escape_document(text, self.encoding))
            return
        try:
            self.stdout.flush()
            self.stdout.buffer.write(text.encode())
            self.stdout.flush()
        except OSError as error:
            raise OutputError(error) from error

    def plain(self, text: str, *, flush: bool = True) -> None:
        """Print lines for people that are safe to look at already."""
        self._to_stdout(_encodable(text, self.encoding), flush=flush)

    def flush(self) -> None:
        """Hand what was printed to the system."""
        self._to_stdout("")

    @property
    def width(self) -> int:
        """The cells of a line: of the terminal, else what ``COLUMNS`` says, else enough for an id and its label."""
        return self._console(_Page(self.stdout)).width

    def show(self, *renderables: RenderableType) -> None:
        """Print for people: coloured on a terminal, plain elsewhere. A string is a line, however long."""
        # Onto a page first: Rich ends the process itself when a pipe closes.
        page = _Page(self.stdout)
        console = self._console(page)
        for renderable in renderables:
            console.print(renderable, soft_wrap=isinstance(renderable, str))
        text = page.getvalue()
        if not page.isatty():
            text = _PADDING.sub("", text)
        self._to_stdout(_encodable(text, self.encoding))

    def _console(self, page: _Page) -> Console:
        """A console that takes no text for markup, and no number for an occasion to decorate."""
        # Late: Rich is not needed to say --help, nor for JSON.
        from rich.console import Console

        width = None if page.isatty() else _columns(self.environ)
        return Console(file=page, width=width, highlight=False, markup=False, emoji=False, _environ=self.environ)

    def say(self, *lines: str) -> None:
        """Tell the person something, on standard error: the first line behind the program's name."""
        self.explain(f"{_NAME}: {lines[0]}", *lines[1:])

    def explain(self, *lines: str) -> None:
        """Print lines on standard error as they are, safe to look at."""
        self._to_stderr("".join(f"{escape(line)}\n" for line in lines))

    def failure_document(self, text: str) -> None:
        """Print a JSON or YAML document that tells of a failure, on standard error."""
        self._to_stderr(escape_document(text, _of_documents(self.stderr.encoding or "utf-8")))

    def trace(self, error: BaseException) -> None:
        """Print the traceback of ``error`` and its causes, which may hold content: for ``--debug`` alone."""
        self._to_stderr("".join(traceback.format_exception(error)))

    def give_up(self, error: OutputError) -> ExitCode:
        """Say in one line why the results were not written; what is still buffered for them is dropped."""
        # Python flushes standard output once more when it ends, and would print a traceback of its own.
        with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self.stdout.fileno())
        if isinstance(error.reason, BrokenPipeError):
            self.say("the reader of the results closed the pipe")
            return ExitCode.CLOSED_PIPE
        self.say(f"cannot write the results: {error.reason.strerror or error.reason}")
        return ExitCode.NOT_WRITTEN

    def _to_stdout(self, text: str, *, flush: bool = True) -> None:
        try:
            self.stdout.write(text)
            if flush:
                self.stdout.flush()
        except OSError as error:
            raise OutputError(error) from error

    def _to_stderr(self, text: str) -> None:
        # A closed standard error leaves the exit code to tell.
        with suppress(OSError):
            self.stderr.write(_encodable(text, self.stderr.encoding or "utf-8"))
            self.stderr.flush()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the block has ended. The block must not wait for anybody itself."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_unicode(encoding: str) -> bool:
    return encoding.lower().replace("-", "").startswith("utf")


def _of_documents(encoding: str) -> str:
    """What a document is written in: its readers take it for UTF-8 (RFC 8259 8.1), and ASCII is that too."""
    return encoding if _is_unicode(encoding) else "ascii"


def _encodable(text: str, encoding: str) -> str:
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _columns(environ: Mapping[str, str]) -> int:
    asked = environ.get("COLUMNS", "")
    return int(asked) if asked.isascii() and asked.isdigit() and int(asked) > 0 else _PLAIN_WIDTH
