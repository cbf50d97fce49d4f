"""Protocol code of vidscore: messages, and their dictionary form; see `vidscore_client`."""
