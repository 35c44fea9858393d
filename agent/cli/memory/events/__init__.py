"""Single DecisionEvents and lists of them, as they are stored: ``inspect``, ``retrieve``, ``tail``."""
