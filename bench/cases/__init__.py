"""The cases: a module for each group of peers."""
