"""Requests decoded, rules called, responses encoded: the only place with protobuf messages."""
