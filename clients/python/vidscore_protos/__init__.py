"""Protocol code of vidscore: messages, and what they are as dictionaries; see `vidscore_client`."""
