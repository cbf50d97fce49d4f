"""Servers that the suite starts: our server, and one that only answers."""
