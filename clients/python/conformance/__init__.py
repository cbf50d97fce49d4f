"""The conformance runner of the Python SDK; `docs/conformance.md` has its contract."""
