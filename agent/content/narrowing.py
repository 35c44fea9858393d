"""A payload as it may be stored (CONTRACT 8): the one door through which every capture goes that may not stay whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from agent.content.gathered import Gathering
from agent.content.omitted import Omitting
from agent.content.param_values import ParamValues
from agent.content.places import rewritten
from agent.content.policy import ContentPolicy
from agent.content.redacted import MOST_EFFORT, Detect, Redacting


class Narrowed(NamedTuple):
    """``redactions`` says how many of which kind were replaced, in the order of their names; None in other modes."""

    payload: dict[str, Any]
    redactions: dict[str, int] | None


def narrowed(
    payload: Mapping[str, Any], mode: str, policy: ContentPolicy, detect: Detect, *, ids_derived: bool = False
) -> Narrowed:
    """``payload``, a validated native payload with UUIDs, as ``mode`` lets it be stored: ``redacted`` or ``none``.

    It is left as it is. Ids, roles, order and shape are the same, so its graph is, too. ``mode`` is that which holds,
    not the one of ``policy``; ``ids_derived``: native ids in it are ours (CONTRACT 3). Raises ValueError for any other
    mode: what is stored ``full`` does not come here.
    """
    if mode == "none":
        return Narrowed(rewritten(payload, Omitting(policy.hash_key), ids_derived=ids_derived), None)
    if mode != "redacted":
        raise ValueError("there is nothing to narrow by in this mode")
    rule = _redacting(payload, policy.params, detect)
    held = rewritten(payload, rule, ids_derived=ids_derived)
    return Narrowed(held, {kind: rule.counts[kind] for kind in sorted(rule.counts)})


def _redacting(payload: Mapping[str, Any], params: frozenset[str], detect: Detect) -> Redacting:
    """The rule of the mode ``redacted`` for ``payload``, which knows what the ``params`` hold in it."""
    if not params:
        return Redacting(detect, params)
    gathering = Gathering(params, most_effort=MOST_EFFORT)
    rewritten(payload, gathering)
    values = ParamValues(gathering.values)
    return Redacting(detect, params, values or None, spent=gathering.effort + values.effort)
