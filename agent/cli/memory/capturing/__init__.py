"""``capture``: a file or standard input becomes one DecisionEvent, and the answer is shown."""
