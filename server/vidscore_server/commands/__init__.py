"""Operators' commands of `vidscore`, which run a server or look into its store."""
