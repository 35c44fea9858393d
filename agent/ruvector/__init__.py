"""The client of the store that keeps decision events (CONTRACT 10): one pooled client, retries inside one deadline.

Nothing is imported here, so that a cold start pays only for the parts it uses.
"""
