"""Graphs for people: trees, and what ``agent.recall.drawings`` draws for other programs."""
