"""The rules of providers that no type tells: the order of messages, and which call each result answers."""
