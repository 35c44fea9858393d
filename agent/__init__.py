"""Conversation memory: each posted conversation becomes exactly one immutable DecisionEvent."""

__version__ = "0.1.0"
