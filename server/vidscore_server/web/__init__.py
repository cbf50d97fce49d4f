"""Pages: templates, components and styles, and `vidscore view`, which shows them on this machine.

Nothing here loads gRPC or SQL.
"""
