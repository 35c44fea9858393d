"""The documents that every edge answers with, HTTP and the command line alike (CONTRACT 7): health, and a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.core.agent_identity import AGENT_ID, AGENT_VERSION, CLASSIFICATION
from agent.errors import AgentError


def health_document(
    store: Mapping[str, Any], *, release: str, classification: str = CLASSIFICATION, content: str | None = None
) -> dict[str, Any]:
    """The health answer; ``store`` is ``{"status", "latency_ms", "kind"}``, and only ``ok`` counts as up.

    ``classification`` is what the answering side does: the capture's unless it says so. ``content`` is how much of it
    goes into the store (CONTRACT 8), None on a side that writes nothing, which says nothing of it.
    """
    said = {} if content is None else {"content": content}
    return {
        "status": "ok" if store["status"] == "ok" else "degraded",
        "agent_id": AGENT_ID,
        "agent_version": AGENT_VERSION,
        "classification": classification,
        "release": release,
        "store": store,
        **said,
    }


def failure_document(error: AgentError, *, execution_ref: str, timestamp: str) -> dict[str, Any]:
    """The answer to what was refused or failed, at ``timestamp`` (RFC 3339, UTC)."""
    described: dict[str, Any] = {"error_code": error.error_code, "message": error.message}
    if error.details:
        described["details"] = error.details
    described["execution_ref"] = execution_ref
    described["timestamp"] = timestamp
    return {"success": False, "error": described}
