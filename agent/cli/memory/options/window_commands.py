"""``context`` and ``stats``: what of a session fits a budget, and how full it is.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

import inspect
from typing import Annotated, Literal

import typer

from agent.cli.memory.options.shared_options import ConversationOption, JsonLinesOption, SessionOption, StoreOption
from agent.cli.options import DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format
from agent.core.window.strategies import KEEPS
from agent.formats import WRITES, WriteName
from agent.window_settings import MOST_MESSAGES, MOST_TOKENS

MaxTokensOption = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        min=0,
        max=MOST_TOKENS,
        help="One hard budget, system turns and markers included.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="The model: its limit where there is no --max-tokens, its counting."),
]
StrategyOption = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help=f"{', '.join(KEEPS)}. Default: CONVERSATION_CONTEXT_STRATEGY, else truncate.",
    ),
]

ScopeOption = Annotated[
    Literal["conversation", "session"] | None,
    typer.Option("--scope", help="The newest conversation alone, or all of the session as one."),
]
_QUERY = "The message that is to be answered, if it is not captured yet: relevant ranks by it."


def _printed(name: str) -> Format:
    """The value of ``--format``; who names a provider's format there means ``--as``."""
    if name in {each.value for each in Format}:
        return Format(name)
    hint = f"; a document of {name} is --as {name}" if name in WRITES else ""
    raise typer.BadParameter(f"{name!r} is not one of {', '.join(Format)}{hint}")


PrintedOption = Annotated[
    Format,
    typer.Option(
        "--format",
        parser=_printed,
        metavar=f"[{'|'.join(Format)}]",
        autocompletion=lambda: list(map(str, Format)),
        help="How to print the results.",
    ),
]


def context(
    context: typer.Context,
    *,
    session: SessionOption,
    conversation: ConversationOption = None,
    max_tokens: MaxTokensOption = None,
    strategy: StrategyOption = None,
    query: Annotated[str | None, typer.Option("--query", metavar="TEXT", help=_QUERY)] = None,
    model: ModelOption = None,
    target: Annotated[
        WriteName | None,
        typer.Option(
            "--as", "--to", metavar="FORMAT", help=f"The document that a provider takes: {', '.join(WRITES)}."
        ),
    ] = None,
    scope: ScopeOption = None,
    min_recent: Annotated[
        int | None,
        typer.Option(
            "--min-recent", metavar="N", min=0, max=MOST_MESSAGES, help="So many of the newest messages go first."
        ),
    ] = None,
    max_messages: Annotated[
        int | None,
        typer.Option(
            "--max-messages",
            metavar="N",
            min=1,
            max=MOST_MESSAGES,
            help="At most so many messages; not with --max-tokens.",
        ),
    ] = None,
    marker: Annotated[
        str | None,
        typer.Option("--marker", metavar="TEXT", help="Says what is missing; {count} in it is how many messages."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Each turn, kept or dropped, with tokens, score and reason, and a usage bar."),
    ] = False,
    output_format: PrintedOption = Format.TABLE,
    jsonl: JsonLinesOption = False,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Show what of a session a model is to be given: the best that fits.

    It is valid for any budget: no result without its call, no system prompt lost. Where turns are missing, a marker
    says how many. Nothing is written.
    """
    from agent.cli.memory.sessions.context import ContextCommand
    from agent.recall.context import ContextRequest

    asked = ContextRequest(
        max_tokens=max_tokens,
        strategy=strategy,
        query=query,
        model=model,
        format=target,
        scope=scope,
        min_recent=min_recent,
        max_messages=max_messages,
        marker=marker,
    )
    command = ContextCommand(session, conversation, asked, explain)
    invocation = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl)
    return invocation.run(command, interrupted=command.interrupted)


# What the strategies keep is said once, for the docs too.
context.__doc__ = "\n\n".join(
    [
        inspect.cleandoc(context.__doc__ or ""),
        *(f"{name}: {text}" for name, text in KEEPS.items()),
        "Example: memory-graph agent conversation-memory context --session-id chat-7 --max-tokens 4000 --explain",
    ]
)


def stats(
    context: typer.Context,
    *,
    session: SessionOption,
    conversation: ConversationOption = None,
    max_tokens: MaxTokensOption = None,
    strategy: StrategyOption = None,
    model: ModelOption = None,
    scope: ScopeOption = None,
    output_format: FormatOption = Format.TABLE,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> int:
    """Show how full a session's window is.

    How many messages and tokens there are, how many of them a model is given, the limit, the share that is used, the
    oldest message still in it, and when the session was pruned last. Nothing is written.

    Example: memory-graph agent conversation-memory stats --session-id chat-7 --model gpt-4o
    """
    from agent.cli.memory.sessions.window_stats import StatsCommand
    from agent.recall.context import ContextRequest

    asked = ContextRequest(max_tokens=max_tokens, strategy=strategy, model=model, scope=scope)
    command = StatsCommand(session, conversation, asked)
    invocation = make_invocation(context, output_format, store, debug=debug)
    return invocation.run(command, interrupted=command.interrupted)
