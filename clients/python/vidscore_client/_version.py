"""The one version of both distributions: `vidscore` reads it too, and pins this one to it."""

__version__ = "0.2.0"
