"""Generated protocol code of vidscore; `vidscore_client` is the SDK on top of it."""
