"""What a store's answer comes to that is not the one that was asked for, and that is not asked for again (CONTRACT 7).

The status decides, and of a 500 the rule in its ``details``: a store of ours says with it that it cannot read what it
keeps. Its message is not looked at.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

import jiter

from agent.errors import StoreDamaged, StoreWriteError
from agent.ruvector.exchange import Answer
from agent.ruvector.store_key import Role, key_refused

_RULES: Final = frozenset({"damaged_event", "lost_position", "damaged_database"})
_LARGEST_POSITION: Final = 2**63 - 1
_LONGEST_CURSOR: Final = 4096


def refused(answer: Answer, role: Role, *, attempts: int) -> StoreWriteError:
    """The error for ``answer``; ``role`` is what it takes to be asked."""
    details = _details(answer.body) if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR else {}
    rule = details.get("rule")
    if isinstance(rule, str) and rule in _RULES:
        return StoreDamaged(
            rule,
            upstream_status=answer.status,
            position=_position(details.get("position")),
            through=_position(details.get("through")),
            next_cursor=_cursor(details.get("next_cursor")),
            details={"attempts": attempts},
        )
    return StoreWriteError(
        key_refused(answer.status, role)
        or f"the store answered {answer.status} with something that is not the answer that was asked for",
        upstream_status=answer.status,
        details={"attempts": attempts},
    )


def _details(body: bytes) -> dict[str, Any]:
    try:
        document = jiter.from_json(body, allow_inf_nan=False)
    except ValueError:
        return {}
    details = document.get("details") if isinstance(document, dict) else None
    return details if isinstance(details, dict) else {}


def _position(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _LARGEST_POSITION else None


def _cursor(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST_CURSOR else None
