"""The server's RPCs over plain HTTP: JSON, server-sent events and newline-delimited JSON."""
