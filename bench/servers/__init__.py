"""Servers that the suite starts: ours, and one that only answers."""
