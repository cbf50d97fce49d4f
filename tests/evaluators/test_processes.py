"""Work for several processes: in order, with progress, and at least one."""

from __future__ import annotations

import pytest

from vidscore_evaluators.runtime import map_in_order


def test_results_come_in_the_order_of_the_items_with_progress() -> None:
    """Two processes; the largest item first, so that the last is done before it."""
    calls: list[tuple[int, int]] = []
    items = [10**6, 1000, 10]
    done = map_in_order(bin, items, workers=2, progress=lambda *at: calls.append(at))
    assert done == [bin(item) for item in items]
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_no_worker_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 worker is needed, not 0"):
        map_in_order(bin, [1], workers=0)
