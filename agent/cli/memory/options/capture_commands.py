"""``capture``: the command and its options.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from agent.cli.memory.options.shared_options import StoreOption
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format
from agent.formats import READS, ReadName

# The list of names is the formats' own: here stands only what a capture may be in beside them.
Source = Literal["native", ReadName]
_FROM = f"The format that the input is in: native, {', '.join(READS)}."


def capture(
    context: typer.Context,
    *,
    source_file: Annotated[
        str, typer.Option("--input", metavar="FILE|-", help="The capture; - is standard input. May be gzip.")
    ],
    source: Annotated[Source, typer.Option("--from", metavar="FORMAT", help=_FROM)] = "native",
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", metavar="KEY", help="Refuse another payload under the same key."),
    ] = None,
    debug: DebugOption = False,
) -> int:
    """Capture one conversation as one DecisionEvent.

    Sent again it is a duplicate: nothing is stored twice.

    Example: memory-graph agent conversation-memory capture --input examples/native.json
    """
    # Late, as in every command: the parts of the product are loaded when one runs.
    from agent.cli.memory.capturing.capture import CaptureCommand

    command = CaptureCommand(source_file, source, idempotency_key)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)
