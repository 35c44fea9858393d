"""The embedded store: a ruvector server of CONTRACT 10 over SQLite, spoken to as a WSGI application."""
