"""The question before something is taken away: asked once, at a terminal; elsewhere ``--yes`` has to stand for it.

Whoever cannot be asked is refused before the store is read. The question goes to standard error: results stay clean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from agent.cli.exit_codes import ExitCode
from agent.cli.terminal import Terminal
from agent.cli.terminal_text import escape
from agent.errors import ValidationError

# An answer is a letter or a word; whatever is longer is not one.
_LONGEST_ANSWER: Final = 64
_AGREED: Final = frozenset({"y", "yes"})


@dataclass(frozen=True, slots=True)
class Confirmation:
    """``agreed``: the command line said so already."""

    terminal: Terminal
    agreed: bool

    @classmethod
    def at(cls, terminal: Terminal, *, command: str, yes: bool) -> Self:
        """Raises ValidationError where ``command`` has no ``yes`` and nobody can be asked."""
        if not yes and not _is_interactive(terminal):
            raise ValidationError(f"{command} needs --yes: there is no terminal to ask at")
        return cls(terminal, yes)

    def ask(self, question: str) -> ExitCode | None:
        """None: go on. Else the code to end with; that nothing was done has been said."""
        if self.agreed:
            return None
        try:
            answer = self._answer(f"{question} [y/N] ")
        except KeyboardInterrupt:
            # Behind the ^C that the terminal shows.
            self.terminal.explain("")
            self.terminal.say("interrupted: nothing was done")
            return ExitCode.INTERRUPTED
        if answer in _AGREED:
            return None
        self.terminal.say("nothing was done")
        return ExitCode.USAGE

    def _answer(self, question: str) -> str:
        """What was typed; nothing at the end of the input."""
        stream, stdin = self.terminal.stderr, self.terminal.stdin
        stream.write(escape(question, stream.encoding or "utf-8"))
        stream.flush()
        typed = b"" if stdin is None else stdin.readline(_LONGEST_ANSWER)
        if not typed.endswith(b"\n"):
            # The end of the input moved the cursor nowhere.
            self.terminal.explain("")
        return typed.decode("utf-8", "replace").strip().lower()


def counted(number: int, thing: str) -> str:
    """``1 turn``, ``2 turns``: what a question says of its subject."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _is_interactive(terminal: Terminal) -> bool:
    return terminal.stdin is not None and terminal.stdin.isatty() and terminal.stderr.isatty()
