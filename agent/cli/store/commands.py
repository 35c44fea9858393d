"""The commands of ``memory-graph store`` and their options. What a command does stands in a module of its own.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.options import TYPER, DebugOption, FormatOption, make_invocation
from agent.cli.output_format import Format

store_group = typer.Typer(**TYPER)

DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The database: a path, sqlite:///PATH or postgresql+psycopg://... Default: RUVECTOR_STORE, else the "
        "embedded store.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the database that is there.")]


@store_group.command()
def serve(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one and prints it.")] = 8081,
    threads: Annotated[int, typer.Option("--threads", min=1, max=256, help="Requests at a time, a worker.")] = 8,
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help="Processes; each counts by itself.")] = 1,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """Run the store's HTTP server until SIGTERM, which lets requests in flight finish.

    RUVECTOR_KEYS says who may call it; without keys it listens on this host alone.

    Example: RUVECTOR_KEYS=default:a-long-secret-of-mine memory-graph store serve --host 0.0.0.0
    """
    # Late, as in every command: the parts of the product are loaded when one runs.
    from agent.cli.store.serve import ServeCommand

    command = ServeCommand(host, port, threads=threads, workers=workers)
    return make_invocation(context, Format.TABLE, store, debug=debug).run(command, interrupted=command.interrupted)


@store_group.command()
def verify(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Show so many findings; all are counted.")] = 100,
    output_format: FormatOption = Format.TABLE,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """Recompute every hash and check that nothing is missing; exit code 3 if something is wrong.

    Example: memory-graph store verify --store ./memory-graph.db
    """
    from agent.cli.store.verify import VerifyCommand

    command = VerifyCommand(limit)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


@store_group.command()
def expire(
    context: typer.Context,
    *,
    older_than: Annotated[str, typer.Option("--older-than", metavar="AGE", help="As in 30d, 12h or 8w.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be erased, and erase nothing.")] = False,
    batch: Annotated[int, typer.Option("--batch", min=1, max=10000, help="Rewrite the files after so many.")] = 100,
    output_format: FormatOption = Format.TABLE,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """Erase the sessions that had no activity for so long. What is interrupted goes on when it runs again.

    Example: memory-graph store expire --older-than 30d --dry-run
    """
    from agent.cli.store.expire import ExpireCommand

    command = ExpireCommand(older_than, dry_run=dry_run, batch=batch)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


@store_group.command()
def backup(
    context: typer.Context,
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The copy; must not exist.")],
    output_format: FormatOption = Format.TABLE,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """Copy the database to FILE while it is in use. For PostgreSQL: says how pg_dump does it, exit code 5.

    Example: memory-graph store backup /backups/memory-graph-2026-11-28.db
    """
    from agent.cli.store.backup import BackupCommand

    command = BackupCommand(file)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


@store_group.command()
def restore(
    context: typer.Context,
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What store backup wrote.")],
    erasures: Annotated[
        str | None,
        typer.Option("--erasures", metavar="LEDGER", help="What store erasures wrote: what was erased since."),
    ] = None,
    force: ForceOption = False,
    output_format: FormatOption = Format.TABLE,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """Put a backup in the database's place and apply the erasures made since, before anybody reads it.

    Example: memory-graph store restore /backups/memory-graph-2026-11-28.db --erasures ledger.jsonl
    """
    from agent.cli.store.restore import RestoreCommand

    command = RestoreCommand(file, erasures, force=force)
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


@store_group.command()
def erasures(
    context: typer.Context,
    *,
    output: Annotated[str, typer.Option("-o", "--output", metavar="LEDGER|-", help="- is standard output.")] = "-",
    apply: Annotated[
        str | None,
        typer.Option("--apply", metavar="LEDGER", help="Erase here what it says, instead: after a pg_restore."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the LEDGER that is there.")] = False,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """Write the ledger of erasures, a JSON line each: ids and times, no content. Keep it away from the backups.

    Example: memory-graph store erasures -o ledger.jsonl
    """
    from agent.cli.store.erasures import ApplyCommand, ErasuresCommand

    command = ErasuresCommand(output, force) if apply is None else ApplyCommand(apply)
    return make_invocation(context, Format.TABLE, store, debug=debug).run(command, interrupted=command.interrupted)


@store_group.command()
def audit(
    context: typer.Context,
    *,
    user_id: Annotated[
        str | None,
        typer.Option("--user-id", metavar="ID", help="Only what was done with this user, found by the name's digest."),
    ] = None,
    output_format: FormatOption = Format.TABLE,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="JSON Lines: one JSON document a line.")] = False,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """List who erased, exported or administered what and when, of all tenants. A user's name is there as a digest.

    Example: memory-graph store audit --user-id ann@example.com
    """
    from agent.cli.store.audit import AuditCommand

    command = AuditCommand(user_id)
    run = make_invocation(context, output_format, store, debug=debug, jsonl=jsonl).run
    return run(command, interrupted=command.interrupted)


@store_group.command()
def scrub(
    context: typer.Context,
    *,
    output_format: FormatOption = Format.TABLE,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """Rewrite the database's files, so that nothing erased is left in them (receipts with files "pending").

    Example: memory-graph store scrub
    """
    from agent.cli.store.scrub import ScrubCommand

    command = ScrubCommand()
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


@store_group.command()
def migrate(
    context: typer.Context,
    *,
    output_format: FormatOption = Format.TABLE,
    store: DatabaseOption = None,
    debug: DebugOption = False,
) -> int:
    """Bring the database to this release's schema, or make it. The server does it by itself when it starts.

    Example: memory-graph store migrate --store postgresql+psycopg://ruvector@db/ruvector
    """
    from agent.cli.store.migrate import MigrateCommand

    command = MigrateCommand()
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)


@store_group.command()
def keys(context: typer.Context, *, output_format: FormatOption = Format.TABLE, debug: DebugOption = False) -> int:
    """List the names of the configured keys, what each may do, and its quotas. Never a key, and makes none.

    Those of who calls the functions too, as logs name them: CAPTURE_API_KEYS, RECALL_API_KEYS, or their files.

    Example: memory-graph store keys
    """
    from agent.cli.store.keys import show_keys

    return make_invocation(context, output_format, None, debug=debug).run(show_keys, interrupted="interrupted")


@store_group.command()
def pull(
    context: typer.Context,
    *,
    source: Annotated[str, typer.Option("--from", metavar="URL", help="The other store, as --store names one.")],
    key_variable: Annotated[
        str, typer.Option("--from-key-env", metavar="NAME", help="The variable that holds the other store's key.")
    ] = "PULL_API_KEY",
    source_tenant: Annotated[
        str | None, typer.Option("--from-tenant", metavar="NAME", help="Whose, of a database. Default: default.")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="NAME", help="For whom, in a database. Default: default.")
    ] = None,
    types: Annotated[str, typer.Option("--types", metavar="T,T", help="Only events of these types.")] = "",
    after: Annotated[str | None, typer.Option("--after", metavar="CURSOR", help="Go on behind this cursor.")] = None,
    page: Annotated[int, typer.Option("--page", min=1, max=1000, help="Events a page.")] = 100,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and count, and write nothing.")] = False,
    output_format: FormatOption = Format.TABLE,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="URL",
            help="Where to: https://..., a path, sqlite:///PATH or postgresql+psycopg://... Default: RUVECTOR_STORE, "
            "else RUVECTOR_SERVICE_URL, else the embedded store.",
        ),
    ] = None,
    debug: DebugOption = False,
) -> int:
    """Copy another store's events into this one, each as it came. Again: nothing is stored twice.

    Exit code 4 if some events were refused, or the other store's pages do not advance.

    Example: PULL_API_KEY=... memory-graph store pull --from https://ruvector.example --dry-run
    """
    from agent.cli.store.pull import PullCommand

    command = PullCommand(
        source,
        key_variable=key_variable,
        types=types,
        after=after,
        page=page,
        dry_run=dry_run,
        source_tenant=source_tenant,
        tenant=tenant,
    )
    return make_invocation(context, output_format, store, debug=debug).run(command, interrupted=command.interrupted)
