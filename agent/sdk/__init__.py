"""Conversation memory for a program in Python: ``ConversationMemory`` and what it hands out (docs/python.md)."""

from agent.sdk.context import ContextWindow
from agent.sdk.context_messages import ContextDocument, ContextMessages
from agent.sdk.list_context import apply_context_window
from agent.sdk.memory import ConversationMemory, InMemoryConversationMemory
from agent.sdk.message import Message, ToolCall, ToolResult
from agent.sdk.other_names import generate_session_id, is_valid_session_id, references_earlier
from agent.sdk.session import SessionHandle
from agent.sdk.session_name import session_key

__all__ = [
    "ContextDocument",
    "ContextMessages",
    "ContextWindow",
    "ConversationMemory",
    "InMemoryConversationMemory",
    "Message",
    "SessionHandle",
    "ToolCall",
    "ToolResult",
    "apply_context_window",
    "generate_session_id",
    "is_valid_session_id",
    "references_earlier",
    "session_key",
]
