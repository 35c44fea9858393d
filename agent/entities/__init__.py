"""Identifiers and names in the content of turns, found by rules and lists alone: ``outputs.entities`` (CONTRACT 6)."""
