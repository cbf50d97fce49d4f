"""Backups of a store."""
