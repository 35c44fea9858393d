"""The edge: bytes to a validated payload, one capture, one answer (CONTRACT 1, 2, 6, 7)."""
