"""Erasure, access and retention (CONTRACT 10a), and who did what."""
