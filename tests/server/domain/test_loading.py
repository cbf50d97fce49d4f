"""Data is loaded in parts of a bounded number of items and bytes."""

from __future__ import annotations

import pytest

from vidscore_server.domain import loading


def test_a_part_has_as_many_items_or_bytes_as_one_command_may_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three items, or ten bytes: a larger item ends its part."""
    monkeypatch.setattr(loading, "ITEMS_PER_PART", 3)
    monkeypatch.setattr(loading, "BYTES_PER_PART", 10)
    sizes = [4, 5, 0, 5, 5, 30, 4, 5, 0, 9]
    parts = loading.in_parts(map(bytes, sizes), len)
    assert [[*map(len, part)] for part in parts] == [[4, 5, 0], [5, 5], [30], [4, 5, 0], [9]]
