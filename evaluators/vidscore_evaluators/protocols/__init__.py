"""Evaluators of published benchmark protocols."""
