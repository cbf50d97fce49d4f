"""What a power cut can leave of files, computed from a log of their changes.

Synchronised data is on the disk. Of later writes to a file any part may be: each write, or any of
its sectors of 512 bytes, may have reached the disk or not, in any order. Changes of names in a
folder reach the disk in order, and are certain once the folder was synchronised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from tests.campaigns.shim import Change, Entry

SECTOR_BYTES = 512

Image = dict[str, bytes]
"""The content of a folder, by file name."""


@dataclass
class _File:
    """A file: its synchronised content, and the changes since, in order."""

    sure: bytearray = field(default_factory=bytearray)
    since: list[Entry] = field(default_factory=list)

    def synchronise(self) -> None:
        for entry in self.since:
            _apply(self.sure, entry)
        self.since.clear()

    def left(self, kept: list[Entry]) -> bytes:
        content = bytearray(self.sure)
        for entry in kept:
            _apply(content, entry)
        return bytes(content)


class Disk:
    """A folder with a full history of its changes.

    Attributes:
        acknowledged: What has been acknowledged, in order.
    """

    def __init__(self) -> None:
        """An empty folder."""
        self.acknowledged: list[str] = []
        self._names: dict[str, _File] = {}
        self._sure_names: dict[str, _File] = {}
        self._name_changes: list[dict[str, _File]] = []

    def take(self, entry: Entry) -> None:
        """Apply an entry of the log."""
        match entry.change:
            case Change.ACKNOWLEDGED:
                self.acknowledged.append(entry.name)
            case Change.MADE:
                self._renamed({**self._names, entry.name: _File()})
            case Change.UNLINKED:
                self._renamed(_without(self._names, entry.name))
            case Change.RENAMED:
                names = {**self._names, entry.data.decode(): self._names[entry.name]}
                self._renamed(_without(names, entry.name))
            case Change.SYNCED if entry.name == ".":
                self._sure_names = self._names
                self._name_changes.clear()
            case Change.SYNCED:
                self._names[entry.name].synchronise()
            case Change.WRITTEN | Change.TRUNCATED:
                self._names[entry.name].since.append(entry)

    @property
    def is_sure(self) -> bool:
        """Whether a power cut would leave all of it."""
        return not self._name_changes and not any(file.since for file in self._names.values())

    def killed(self) -> Image:
        """The files after the process is killed: everything."""
        return {name: file.left(file.since) for name, file in self._names.items()}

    def synchronised(self) -> Image:
        """The files if only synchronised data reached the disk."""
        return {name: bytes(file.sure) for name, file in self._sure_names.items()}

    def cut(self, chance: Random) -> Image:
        """The files after one random power cut."""
        names = chance.choice([self._sure_names, *self._name_changes])
        share, torn = chance.choice((0.1, 0.5, 0.9)), chance.random() < 0.5
        return {
            name: file.left(list(_survivors(file.since, share, chance, torn=torn)))
            for name, file in names.items()
        }

    def _renamed(self, names: dict[str, _File]) -> None:
        self._names = names
        self._name_changes.append(names)


def _survivors(
    entries: list[Entry], share: float, chance: Random, *, torn: bool
) -> Iterator[Entry]:
    for entry in entries:
        if entry.change is Change.TRUNCATED or not torn:
            if chance.random() < share:
                yield entry
            continue
        for start in range(0, len(entry.data), SECTOR_BYTES):
            if chance.random() < share:
                data = entry.data[start : start + SECTOR_BYTES]
                yield Entry(entry.change, entry.name, entry.offset + start, data)


def _apply(content: bytearray, entry: Entry) -> None:
    if entry.change is Change.TRUNCATED:
        size = entry.offset
        del content[size:]
        content.extend(bytes(size - len(content)))
        return
    end = entry.offset + len(entry.data)
    content.extend(bytes(max(0, entry.offset - len(content))))
    content[entry.offset : end] = entry.data


def _without(names: Mapping[str, _File], name: str) -> dict[str, _File]:
    return {other: file for other, file in names.items() if other != name}
