"""Conversation memory: each posted conversation becomes exactly one immutable DecisionEvent."""

__version__ = "0.1.0"

__all__ = ["ConversationMemory", "InMemoryConversationMemory", "Message", "SessionHandle", "apply_context_window"]

# What type checkers take for true, without an import at run time: the capture function's cold start begins here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent.sdk import (
        ConversationMemory,
        InMemoryConversationMemory,
        Message,
        SessionHandle,
        apply_context_window,
    )


def __getattr__(name: str) -> object:
    if name in __all__:
        import agent.sdk  # the whole product behind it: only for who asks for it

        return getattr(agent.sdk, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
