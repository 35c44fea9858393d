"""The store's HTTP surface (CONTRACT 10): routes, callers, answers."""
