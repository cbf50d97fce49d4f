"""The store over SQL databases."""
