"""``store migrate``: brings the database to this release's schema, or makes it."""

from __future__ import annotations

from dataclasses import dataclass

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.store.database import name_of, opened, store_settings
from store.engines.schema import SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class MigrateCommand:
    """One migration. A database of a newer release is refused."""

    interrupted = "interrupted: the database is as it was"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Migrate and say so."""
        url = store_settings(invocation).url
        with opened(url, may_be_new=True) as store:
            store.migrate()
            kind = store.kind
        print_result(invocation, {"database": name_of(url), "kind": kind, "schema_version": SCHEMA_VERSION})
        return ExitCode.OK
