"""``import``: the command and its options.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from agent.cli.memory.options.shared_options import JsonLinesOption, StoreOption
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format
from agent.formats import READS, ReadName

Source = Literal["auto", "native", ReadName]
_FROM = f"The format of all files: auto finds out for each; else native, {', '.join(READS)}."


def import_(
    context: typer.Context,
    *,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|DIR|GLOB...",
            help="JSON and JSON Lines files, plain, gzip or in a .zip export; - is standard input.",
        ),
    ],
    source: Annotated[Source, typer.Option("--from", metavar="FORMAT|auto", help=_FROM)] = "auto",
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="KEY", help="Where in each document its messages are, as data.messages."),
    ] = None,
    source_name: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="NAME",
            help="Names sessions that have no id, in place of the file's name. Give it with one file: of several, what "
            "stands at the same place is then one session, which each of them revises.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and check everything, store nothing.")] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Skip what an interrupted run of the same command did, without reading it again. It is looked up in a "
            "small file below $XDG_STATE_HOME, which holds no content, and counts only while the files are unchanged "
            "and the store has the last event of that run: in doubt all is imported again, which changes nothing.",
        ),
    ] = False,
    output_format: FormatOption = Format.TABLE,
    jsonl: JsonLinesOption = False,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Import whole files of conversations: exports, transcripts, traces, data sets.

    Each conversation is captured, of its format's own ids where it has some. What is stored already is found again, so
    that an import may be interrupted and repeated, and a file that grew adds what grew. What cannot be read is named
    and does not stop the rest: exit 4, and 5 where nothing could be read.

    Example: memory-graph agent conversation-memory import conversations.json
    """
    # Late, as in every command: the parts of the product are loaded when one runs.
    from agent.ambient import new_id
    from agent.cli.memory.importing.import_files import ImportCommand

    command = ImportCommand(names, source, at, source_name, dry_run=dry_run, resume=resume, new_id=new_id)
    run = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl)
    return run.run(command, interrupted=command.interrupted)
