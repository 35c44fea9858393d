"""The command of the extra ``[semantic]``."""
