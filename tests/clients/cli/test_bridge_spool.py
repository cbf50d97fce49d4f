"""The spool file: bounded, in order, and whole after its process was killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from vidscore_cli.bridge.spool import Spool

NOW = 0.0


def opened(path: Path, maximum_bytes: int = 1 << 20, offset: int | None = None) -> Spool:
    spool = Spool(path, maximum_bytes)
    spool.open(offset)
    return spool


def test_messages_come_in_order_each_once(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s")
    for data in (b"a", b"", b"ccc"):
        spool.append(data)
    first = spool.read(2, NOW)
    assert [data for data, _ in first] == [b"a", b""]
    assert [data for data, _ in spool.read(2, NOW)] == [b"ccc"]
    assert spool.read(2, NOW) == []
    spool.close()


def test_a_spool_goes_on_behind_what_is_durable(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s")
    for data in (b"a", b"b", b"c"):
        spool.append(data)
    [(_, end)] = spool.read(1, NOW)
    spool.close()
    again = opened(tmp_path / "s", offset=end)
    assert [data for data, _ in again.read(9, NOW)] == [b"b", b"c"]
    again.close()


@pytest.mark.parametrize("cut", range(1, 11))
def test_a_message_that_is_not_whole_is_left_out(tmp_path: Path, cut: int) -> None:
    spool = opened(tmp_path / "s")
    spool.append(b"whole")
    spool.append(b"abc")
    spool.close()
    data = (tmp_path / "s").read_bytes()
    (tmp_path / "s").write_bytes(data[:-cut])
    again = opened(tmp_path / "s")
    again.append(b"next")
    assert [data for data, _ in again.read(9, NOW)] == [b"whole", b"next"]
    again.close()


def test_beyond_its_size_messages_are_counted_as_lost(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s", 100)
    for _ in range(10):
        spool.append(b"0123456789")
    kept = spool.read(99, NOW)
    assert len(kept) + spool.gap == 10
    assert spool.gap > 0
    assert (tmp_path / "s").stat().st_size <= 100
    spool.close()


def test_what_is_released_makes_room_and_no_offset_comes_twice(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s", 200)
    ends: list[int] = []
    for number in range(50):
        spool.append(b"%08d" % number)
        [(data, end)] = spool.read(1, NOW)
        assert data == b"%08d" % number
        ends.append(end)
        if number >= 3:
            spool.release(ends[number - 3])
    assert spool.gap == 0
    assert ends == sorted(set(ends))
    spool.close()
    again = opened(tmp_path / "s", 200, offset=ends[-3])
    assert [data for data, _ in again.read(9, NOW)] == [b"00000048", b"00000049"]
    again.close()


def test_a_new_file_goes_on_with_the_offsets_of_the_one_that_was_lost(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s", offset=1000)
    spool.append(b"a")
    assert spool.read(9, NOW) == [(b"a", 1009)]
    spool.close()
