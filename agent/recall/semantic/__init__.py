"""Relevance by meaning, the extra ``[semantic]``: vectors of turns from a model that was made at build time.

Vectors are computed where somebody reads, or by ``embed`` which follows the feed, and never by a capture; nothing is
downloaded at run time. They are derived from content, so they are kept apart from events, can be thrown away at any
time, and are erased with it.
"""
