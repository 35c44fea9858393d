"""Windows: what of a conversation fits a token budget, always valid for a model, and always explained.

Pure: counters, scorers and rankers are passed in. Nothing is lost in silence: every message is in the window or counted
by a marker in it, and the manifest says why. The one failure is BudgetTooSmall.
"""
