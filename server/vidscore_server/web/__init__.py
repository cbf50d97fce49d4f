"""Pages: templates, components and styles, and `vidscore view`, which serves them locally.

Nothing here loads gRPC or SQL.
"""
