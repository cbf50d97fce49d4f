"""The spool file: bounded, in order, and intact after its process was killed."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from zlib import crc32

import pytest

from vidscore_cli.bridge.spool import Spool
from vidscore_evaluators.errors import InputError

NOW = 0.0


def opened(path: Path, maximum_bytes: int = 1 << 20, offset: int | None = None) -> Spool:
    spool = Spool(path, maximum_bytes)
    spool.open(offset)
    return spool


def test_messages_are_returned_once_and_in_order(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s")
    for data in (b"a", b"", b"ccc"):
        spool.append(data)
    first = spool.read(2, NOW)
    assert [data for data, _ in first] == [b"a", b""]
    assert [data for data, _ in spool.read(2, NOW)] == [b"ccc"]
    assert spool.read(2, NOW) == []
    spool.close()


def test_a_spool_continues_after_its_durable_messages(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s")
    for data in (b"a", b"b", b"c"):
        spool.append(data)
    [(_, end)] = spool.read(1, NOW)
    spool.close()
    again = opened(tmp_path / "s", offset=end)
    assert [data for data, _ in again.read(9, NOW)] == [b"b", b"c"]
    again.close()


@pytest.mark.parametrize("cut", range(1, 11))
def test_an_incomplete_message_is_left_out(tmp_path: Path, cut: int) -> None:
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


def test_messages_over_its_size_are_counted_as_lost(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s", 100)
    for _ in range(10):
        spool.append(b"0123456789")
    kept = spool.read(99, NOW)
    assert len(kept) + spool.gap == 10
    assert spool.gap > 0
    assert (tmp_path / "s").stat().st_size <= 100
    spool.close()


def test_released_messages_make_room_and_no_offset_is_used_twice(tmp_path: Path) -> None:
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


def test_a_new_file_continues_the_offsets_of_the_lost_one(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s", offset=1000)
    spool.append(b"a")
    assert spool.read(9, NOW) == [(b"a", 1009)]
    spool.close()


# --- files that are not a spool, or belong to another bridge -----------------------------------


@pytest.mark.parametrize("text", [b"hello\n", b"V", b"VSPOOL99" + bytes(8), bytes(20)])
def test_a_file_that_is_not_a_spool_is_refused_and_unchanged(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(text)
    with pytest.raises(InputError, match=r"notes\.txt: found a file that is not a spool,.*another"):
        opened(path)
    assert path.read_bytes() == text


def test_an_empty_file_becomes_a_spool(tmp_path: Path) -> None:
    (tmp_path / "s").touch()
    spool = opened(tmp_path / "s")
    spool.append(b"a")
    assert [data for data, _ in spool.read(9, NOW)] == [b"a"]
    spool.close()


def test_a_spool_of_an_older_version_is_read_and_extended(tmp_path: Path) -> None:
    record = struct.pack(">II", 3, crc32(b"old")) + b"old"
    (tmp_path / "s").write_bytes(struct.pack(">8sQ", b"VSPOOL01", 1000) + record)
    spool = opened(tmp_path / "s", offset=900)
    spool.append(b"new")
    spool.close()
    again = opened(tmp_path / "s", offset=900)
    assert again.read(9, NOW) == [(b"old", 1011), (b"new", 1022)]
    again.close()


def test_two_bridges_cannot_share_a_spool(tmp_path: Path) -> None:
    first = opened(tmp_path / "s")
    with pytest.raises(InputError, match="found a spool that a bridge is using"):
        opened(tmp_path / "s")
    first.append(b"a")
    first.close()
    opened(tmp_path / "s").close()


def test_a_restarted_spool_still_belongs_to_its_bridge(tmp_path: Path) -> None:
    first = opened(tmp_path / "s", 200)
    for number in range(50):
        first.append(b"%08d" % number)
        first.release(first.read(9, NOW)[0][1] - 16 if number else 0)
    with pytest.raises(InputError, match="found a spool that a bridge is using"):
        opened(tmp_path / "s")
    first.close()


# --- damage --------------------------------------------------------------------------------------


def damaged(path: Path, place: int) -> bytes:
    """Flip a byte; returns the resulting content."""
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)
    return bytes(data)


def spooled(path: Path) -> list[tuple[bytes, int]]:
    """Ten messages that a killed bridge has left."""
    spool = opened(path)
    for number in range(10):
        spool.append(b"message %d" % number)
    found = spool.read(10, NOW)
    spool.close()
    return found


@pytest.mark.parametrize("place", [4, 8, 10])
def test_only_a_damaged_message_is_skipped_and_counted_and_the_file_is_kept(
    tmp_path: Path, place: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Damage of the checksum, and of the message itself."""
    path = tmp_path / "s"
    whole = spooled(path)
    kept = damaged(path, 16 + whole[3][1] + place)
    spool = opened(path)
    assert spool.read(99, NOW) == whole[:4] + whole[5:]
    assert spool.gap == 1
    assert (tmp_path / "s.damaged-1").read_bytes() == kept
    found = capsys.readouterr().err
    assert "s: damaged at byte 84: 17 bytes" in found
    assert "is kept as" in found
    spool.append(b"next")
    spool.close()
    again = opened(path)
    assert [data for data, _ in again.read(99, NOW)][-1] == b"next"
    assert again.gap == 0  # It was reported and counted before.
    again.close()


def test_messages_unreadable_after_a_damaged_length_are_counted_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s"
    whole = spooled(path)
    kept = damaged(path, 16 + whole[3][1] + 3)
    spool = opened(path)
    assert spool.read(99, NOW) == whole[:4]
    assert spool.gap == 1
    assert "102 bytes of messages that were not durable" in capsys.readouterr().err
    assert (tmp_path / "s.damaged-1").read_bytes() == kept
    spool.close()


def test_damage_of_durable_messages_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s"
    whole = spooled(path)
    damaged(path, 16 + whole[3][1] + 3)
    spool = opened(path, offset=whole[6][1])
    assert spool.read(99, NOW) == whole[7:]
    assert spool.gap == 0
    spool.close()


@pytest.mark.parametrize("place", [4, 15])
def test_a_spool_with_a_damaged_header_is_refused_and_unchanged(tmp_path: Path, place: int) -> None:
    spooled(tmp_path / "s")
    kept = damaged(tmp_path / "s", place)
    with pytest.raises(InputError, match="whose first 16 bytes are damaged"):
        opened(tmp_path / "s")
    assert (tmp_path / "s").read_bytes() == kept


def test_an_offset_within_a_message_returns_all_messages_again(tmp_path: Path) -> None:
    whole = spooled(tmp_path / "s")
    spool = opened(tmp_path / "s", offset=whole[3][1] + 1)
    assert spool.read(99, NOW) == whole
    spool.close()


def test_damage_while_a_bridge_runs_is_an_error_that_says_so(tmp_path: Path) -> None:
    spool = opened(tmp_path / "s")
    spool.append(b"a")
    (tmp_path / "s").write_bytes(b"")
    with pytest.raises(InputError, match="damage at byte 16 since it was written"):
        spool.read(9, NOW)
    spool.close()


# --- a full disk ---------------------------------------------------------------------------------


def full_at(monkeypatch: pytest.MonkeyPatch, most_bytes: int) -> None:
    """Limit the size of files; a write across the limit is partial, as on a full disk."""
    write = os.pwrite

    def bounded(file: int, data: bytes, place: int) -> int:
        if place >= most_bytes:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: most_bytes - place], place)

    monkeypatch.setattr(os, "pwrite", bounded)


@pytest.mark.parametrize("most_bytes", [0, 10, 60, 65])
def test_messages_that_do_not_fit_on_a_full_disk_are_counted_as_lost(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    most_bytes: int,
) -> None:
    spool = opened(tmp_path / "s")
    with monkeypatch.context() as full:
        full_at(full, most_bytes)
        for _ in range(10):
            spool.append(b"message")
    kept = spool.read(99, NOW)
    assert len(kept) + spool.gap == 10
    assert len(kept) == max(0, most_bytes - 16) // 15
    found = capsys.readouterr().err
    assert found.count("No space left on device: messages are lost until there is room") == 1
    spool.append(b"there is room again")
    spool.close()
    again = opened(tmp_path / "s")
    assert [data for data, _ in again.read(99, NOW)][-1] == b"there is room again"
    assert again.gap == 0
    again.close()


def test_a_full_spool_on_a_full_disk_loses_new_messages_and_keeps_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file cannot restart, because it would have to be written a second time."""
    spool = opened(tmp_path / "s", 200)
    for _ in range(11):
        spool.append(b"12345678")
    given = spool.read(99, NOW)
    spool.release(given[8][1])
    with monkeypatch.context() as full:
        full_at(full, 16)
        spool.append(b"lost")
    assert spool.gap == 1
    assert not (tmp_path / "s.new").exists()
    spool.append(b"next")
    spool.close()
    again = opened(tmp_path / "s", 200, given[8][1])
    assert [data for data, _ in again.read(99, NOW)] == [b"12345678", b"12345678", b"next"]
    again.close()
