"""``memory-graph agent conversation-memory``: the commands that capture, show, compare and erase.

They know the product's parts and the store's client; the store itself only ``agent.cli.store`` knows.
"""
