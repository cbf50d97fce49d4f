"""One numbered module per step."""
