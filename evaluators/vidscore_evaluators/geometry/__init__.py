"""Distances and overlaps of pairs of objects; who is matched with whom is another matter."""
