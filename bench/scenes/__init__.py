"""Data of the suite, made from fixed seeds."""
