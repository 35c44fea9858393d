"""Sessions as their readers see them: ``sessions``, ``history``, ``export``."""
