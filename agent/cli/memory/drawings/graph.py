"""``graph``: the graph of a session, for people as a tree, for programs as nodes and edges, and drawn by two tools.

The documents hold ids, names and numbers and no content; tree and drawings show the start of what each turn says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.drawings.form import Form
from agent.cli.memory.sessions.stored_session import read_session
from agent.cli.output_format import Format
from agent.cli.terminal_text import preview
from agent.core.history import shown
from agent.core.session_graph import SessionGraph, session_graph
from agent.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class GraphCommand:
    """One graph: the session and the conversation as people name them; ``form`` None is the format's own."""

    session: str
    conversation: str | None = None
    form: Form | None = None

    interrupted = "interrupted: nothing was changed"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Read the session's turns and print their graph. Raises AgentError, StoreNotFound for what is not there."""
        self._check_form(invocation.format)
        session = read_session(invocation, self.session, self.conversation)
        graph = session_graph(session.session_id, session.turns, conversation_id=session.conversation_id)
        if invocation.format is not Format.TABLE:
            invocation.print_json(json.dumps(graph.document(), ensure_ascii=False).encode())
            return ExitCode.OK
        current = frozenset(turn.turn_id for turn in shown(session.paths.path(session.conversation_id)))
        if self.form in (Form.MERMAID, Form.DOT):
            self._draw(graph, current, invocation)
        else:
            _show_tree(graph, current, invocation)
        return ExitCode.OK

    def _check_form(self, output_format: Format) -> None:
        if self.form not in (None, Form.JSON) and output_format is not Format.TABLE:
            raise ConfigurationError("--as", f"{self.form} is text for itself: leave --format {output_format} out")

    def _draw(self, graph: SessionGraph, current: frozenset[str], invocation: Invocation) -> None:
        from agent.recall.drawings.dot import dot
        from agent.recall.drawings.drawing import drawing
        from agent.recall.drawings.mermaid import mermaid

        write = mermaid if self.form is Form.MERMAID else dot
        label = partial(preview, encoding=invocation.terminal.encoding)
        invocation.terminal.plain(write(drawing(graph, current, label)))


def _show_tree(graph: SessionGraph, current: frozenset[str], invocation: Invocation) -> None:
    # Late: a script that asks for JSON does not wait for Rich.
    from agent.cli.memory.drawings.session_tree import Canvas, session_tree

    terminal = invocation.terminal
    terminal.show(session_tree(graph, current, Canvas(terminal.width, terminal.encoding)))
