"""The `vidscore` command line."""
