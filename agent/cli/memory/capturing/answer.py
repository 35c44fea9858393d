"""The capture's answer (CONTRACT 7) as the command line and the demo read it: frozen, typed, open for what is added.

A typed reader, never a gate: the capture's own schema decides what is valid.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class _Answered(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Node(_Answered):
    """A node of the graph; ``turn_index`` is None on the session."""

    node_id: str
    node_type: str
    turn_index: int | None = None


class Edge(_Answered):
    """An edge, from the later thing to the earlier one."""

    edge_id: str
    edge_type: str
    from_node_id: str
    to_node_id: str


class Output(_Answered):
    """The outputs of the capture; ``total_tokens`` is None where no turn says."""

    session_id: str
    conversation_id: str
    nodes_created: tuple[Node, ...]
    edges_created: tuple[Edge, ...]
    capture_timestamp: str
    turn_count: int
    total_tokens: int | None = None


class DecisionEvent(_Answered):
    """What identifies the event."""

    execution_ref: str
    inputs_hash: str
    constraints_applied: tuple[str, ...]
    timestamp: str


class TurnCounts(_Answered):
    """How many of the turns the store met for the first time, knew, revised, or had erased."""

    new: int
    known: int
    revised: int
    erased: int


class Receipt(_Answered):
    """The store's acknowledgement; None is what the store does not say.

    ``kept_fuller`` counts the known turns that stay in a fuller body than this one.
    """

    duplicate: bool
    event_id: str | None = None
    position: int | None = None
    turns: TurnCounts | None = None
    kept_fuller: int = 0


class CaptureWarning(_Answered):
    """Something in the payload that was kept, and may be a typo."""

    path: str
    rule: str


class CaptureAnswer(_Answered):
    """A successful capture."""

    output: Output
    decision_event: DecisionEvent
    receipt: Receipt
    warnings: tuple[CaptureWarning, ...]
