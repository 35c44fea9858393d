"""``store scrub``: rewrites the database's files, so that nothing that was erased is left in them (CONTRACT 10a)."""

from __future__ import annotations

from dataclasses import dataclass

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.store.database import opened, store_settings


@dataclass(frozen=True, slots=True)
class ScrubCommand:
    """One rewriting."""

    interrupted = "interrupted: the database is as it was; erased content may still lie in its files"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Rewrite and say so."""
        with opened(store_settings(invocation).url) as store:
            store.scrub()
        print_result(invocation, {"files": "rewritten"})
        return ExitCode.OK
