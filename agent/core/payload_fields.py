"""The names of a payload's fields that several readers of it have to know alike (CONTRACT 1, 3).

What has one of these names is known; everything else in its place is a field that nobody knows: warned about, kept, and
content where content is narrowed.
"""

from __future__ import annotations

from typing import Final

OF_CONTEXT: Final = frozenset({"agent_id", "user_id", "source_system", "tags"})
OF_OPTIONS: Final = frozenset({"create_lineage", "extract_entities", "compute_embeddings", "derive_ids", "content"})
OF_USAGE: Final = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
# Ids as they came, beside those that they became: a payload with ``derive_ids`` may not use these names itself.
NATIVE_AT_ROOT: Final = ("native_session_id", "native_conversation_id")
NATIVE_ON_TURNS: Final = ("native_id", "native_parent_turn_id")
NATIVE_ON_INVOCATIONS: Final = ("native_id",)
