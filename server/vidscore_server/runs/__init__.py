"""Scoring runs: what happens between a configuration and a final report."""
