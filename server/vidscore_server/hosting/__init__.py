"""Hosted benchmarks: their rules, free of transport and of SQL."""
