"""Caches are bounded."""

from __future__ import annotations

from vidscore_server.runtime import Kept


def test_the_least_recently_used_entry_is_evicted() -> None:
    kept: Kept[str] = Kept(10)
    kept.put("one", "a", 4)
    kept.put("two", "b", 4)
    assert kept.get("one") == "a"
    kept.put("three", "c", 4)
    assert [kept.get(key) for key in ("one", "two", "three")] == ["a", None, "c"]


def test_an_entry_larger_than_the_cache_is_not_kept() -> None:
    kept: Kept[str] = Kept(10)
    kept.put("one", "a", 11)
    assert kept.get("one") is None


def test_a_key_has_one_value_and_may_be_dropped() -> None:
    kept: Kept[str] = Kept(10)
    kept.put("one", "a", 6)
    kept.put("one", "b", 6)
    assert kept.get("one") == "b"
    kept.drop("one")
    kept.drop("one")
    assert kept.get("one") is None
