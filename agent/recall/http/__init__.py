"""The HTTP surface of the read side: the function target ``recall``."""
