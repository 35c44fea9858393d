"""``store verify``: what of the database is not as it was acknowledged, each finding by its kind and subject."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.store.database import opened, store_settings
from store.upkeep.verify import Checked, Finding, verify


@dataclass(frozen=True, slots=True)
class VerifyCommand:
    """One check of the whole database. ``limit`` findings are shown, and all counted."""

    limit: int

    interrupted = "interrupted: nothing was changed, and not everything was checked"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Check and print. The code is DIFFERS where something is wrong."""
        shown: list[Finding] = []

        def report(finding: Finding) -> None:
            if len(shown) < self.limit:
                shown.append(finding)

        with opened(store_settings(invocation).url) as store:
            checked = verify(store, report)
        document = {"ok": checked.findings == 0, "checked": asdict(checked), "findings": [asdict(f) for f in shown]}
        print_result(invocation, document, _facts(checked, shown))
        return ExitCode.OK if checked.findings == 0 else ExitCode.DIFFERS


def _facts(checked: Checked, shown: list[Finding]) -> list[tuple[str, str]]:
    facts = [
        ("store", "clean" if checked.findings == 0 else f"{checked.findings} findings"),
        ("events", f"{checked.events}, {checked.erased} of them erased, {checked.without_hash} without a hash"),
        ("turns", str(checked.turns)),
        ("sessions", str(checked.sessions)),
    ]
    facts += [(finding.kind, f"{finding.subject}  {finding.detail}") for finding in shown]
    if checked.findings > len(shown):
        facts.append(("", f"and {checked.findings - len(shown)} more (--limit)"))
    return facts
