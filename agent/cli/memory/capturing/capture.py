"""``capture``: one conversation from a file or standard input becomes one DecisionEvent, in process.

The answer is the one that HTTP gives. The table adds what the turns say, which only the sender's bytes hold.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.bootstrap import capture_service_on, store_client
from agent.capture.idempotency_key import checked_idempotency_key
from agent.capture.request import CaptureRequest
from agent.cli.embedded_path import check_embedded_path
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.capturing.capture_input import read_input
from agent.cli.output_format import Format
from agent.config import Settings
from agent.observability.tracing import NoSpans

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class CaptureCommand:
    """One capture: the input's name (``-`` for standard input), its format, the caller's Idempotency-Key."""

    input_name: str
    source: str
    idempotency_key: str | None

    interrupted = "interrupted: the capture may be stored; the same capture sent again is not stored twice"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Capture and print. Raises AgentError for what was refused or not acknowledged."""
        settings = Settings.from_env(invocation.settings())
        body = read_input(self.input_name, invocation.terminal.stdin)
        request = CaptureRequest(
            body=body,
            format=self.source,
            idempotency_key=checked_idempotency_key(self.idempotency_key),
            execution_ref=invocation.execution_ref,
        )
        check_embedded_path(settings.store)
        with closing(store_client(settings)) as client:
            answer = capture_service_on(lambda: client, settings.content).capture(request, NoSpans())
        if invocation.format is Format.TABLE:
            invocation.terminal.show(*self._report(answer.body, body, invocation))
        else:
            invocation.print_json(answer.body)
        return ExitCode.OK

    def _report(self, answer: bytes, body: bytes, invocation: Invocation) -> list[RenderableType]:
        # Late: pydantic and Rich are for people, and a script that asks for JSON does not wait for them.
        from agent.cli.memory.capturing.answer import CaptureAnswer
        from agent.cli.memory.capturing.capture_report import summary
        from agent.cli.memory.capturing.inputs_shown import inputs_shown
        from agent.cli.memory.drawings.graph_parts import GraphParts
        from agent.cli.memory.drawings.graph_tree import Canvas, graph_tree

        terminal = invocation.terminal
        captured = CaptureAnswer.model_validate_json(answer)
        inputs = inputs_shown(body, self.source, captured_at=captured.output.capture_timestamp)
        canvas = Canvas(terminal.width, terminal.encoding)
        tree = graph_tree(GraphParts.of(captured.output), inputs.turns, canvas)
        return [summary(captured, inputs, encoding=terminal.encoding), "", tree]
