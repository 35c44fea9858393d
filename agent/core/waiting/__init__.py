"""Reads the message after a question as its answer, or says to ask again. It never guesses.

``resolve(memory, text, hints)`` reads ``text`` for ``memory.waiting_for_param`` by that parameter's ``Hint``. Two
values, a negated one, a doubt, or a question back are no answer: the words to ask again come back instead, and the
caller may still let its model read the message. The languages: ``agent.core.waiting.words``.
"""

from agent.core.waiting.hint import TYPES, Hint, Hints
from agent.core.waiting.resolution import Resolution, resolve

__all__ = ["TYPES", "Hint", "Hints", "Resolution", "resolve"]
