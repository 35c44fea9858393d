"""One run of one command: how its failures end, whatever they are.

Every failure becomes one clear line, or one document where the results would be one, on standard error, and an exit
code. A traceback is printed only where ``--debug`` asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agent.cli.exit_codes import ExitCode, exit_code_of
from agent.cli.output_format import Format
from agent.cli.terminal import OutputError, Terminal
from agent.core.timestamps import utc_text
from agent.edge.answers import failure_document
from agent.errors import AgentError, ConfigurationError, InternalError, ValidationError

STORE_VARIABLE: Final = "RUVECTOR_SERVICE_URL"


@dataclass(frozen=True, slots=True)
class Invocation:
    """What every command is run with. ``execution_ref`` is made once, before the first write attempt (CONTRACT 6).

    ``jsonl``: a list is printed as JSON Lines; the format is then JSON.
    """

    terminal: Terminal
    format: Format
    debug: bool
    store: str | None
    execution_ref: str
    clock: Callable[[], datetime]
    jsonl: bool = False

    def settings(self) -> dict[str, str]:
        """The environment, with the store that the command line names. Raises ConfigurationError for an empty one."""
        environ = dict(self.terminal.environ)
        if self.store is not None:
            environ[STORE_VARIABLE] = _store_url(self.store)
        return environ

    def print_json(self, document: bytes) -> None:
        """Print a JSON document: as it is, or the same as YAML."""
        self.terminal.document(self._document(document.decode()))

    def _document(self, text: str) -> str:
        if self.format is Format.JSON:
            return f"{text}\n"
        # Late: only YAML needs the library.
        from agent.cli.yaml_text import yaml_text

        return yaml_text(json.loads(text), allow_unicode=self.terminal.is_unicode)

    def run(self, command: Callable[[Invocation], ExitCode], *, interrupted: str) -> ExitCode:
        """Run ``command`` and return how it ended; never raises. ``interrupted`` is what Ctrl-C leaves behind."""
        try:
            return command(self)
        except KeyboardInterrupt:
            self.terminal.say(interrupted)
            return ExitCode.INTERRUPTED
        except OutputError as error:
            return self.terminal.give_up(error)
        except AgentError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - the last line of defence: no traceback reaches a user
            failure = InternalError("the command failed for a reason of ours; --debug shows where")
            failure.__cause__ = error
        if self.debug:
            self.terminal.trace(failure)
        self._report(failure)
        return exit_code_of(failure)

    def refuse(self, message: str) -> None:
        """Say what is wrong with the command line itself, in the format that it asks for."""
        self._report(ValidationError(message))

    def _report(self, failure: AgentError) -> None:
        if self.format is not Format.TABLE:
            described = failure_document(failure, execution_ref=self.execution_ref, timestamp=utc_text(self.clock()))
            if exit_code_of(failure) is ExitCode.USAGE:
                # A wrong setting is the operator's fault over HTTP, and here that of whoever typed it.
                described["error"]["error_code"] = ValidationError.error_code
            self.terminal.failure_document(self._document(json.dumps(described, ensure_ascii=False)))
            return
        problems = failure.problems if isinstance(failure, ValidationError) else ()
        self.terminal.say(self._message(failure), *(f"  {problem.path}  {problem.rule}" for problem in problems))

    def _message(self, failure: AgentError) -> str:
        if isinstance(failure, ConfigurationError) and failure.variable == STORE_VARIABLE and self.store is not None:
            return f"--store, in place of {failure.message}"
        return failure.message


def _store_url(given: str) -> str:
    """A store as the command line names it: an address, ``embedded:PATH``, or a path alone."""
    if not given.strip():
        raise ConfigurationError(STORE_VARIABLE, "is empty")
    if "://" in given or given.startswith("embedded:"):
        return given
    return f"embedded:{given}"
