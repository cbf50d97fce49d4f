"""Paths of files that are not on a disk: packed or remote; they are listed once, at first."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar, Protocol

from msgspec import Struct, field

GZIP_HEAD = b"\x1f\x8b"
ZIP_HEADS = (b"PK\x03\x04", b"PK\x05\x06")

MOST_FOLDERS_DEEP = 64
"""Maximum depth of nested folders, in an archive and on a disk."""

AnyFile = io.RawIOBase | io.BufferedIOBase
"""An open binary file."""

Parts = tuple[str, ...]
"""A path below the root of a tree; empty for the root itself."""


class Content(Protocol):
    """Content of a file."""

    @property
    def byte_count(self) -> int:
        """Its size, unpacked."""
        ...

    @property
    def state(self) -> str:
        """A value that changes with the content; empty if only the content itself would tell."""
        ...

    def read(self, count: int = -1) -> bytes:
        """Read all of it, or its first bytes.

        Raises:
            InputError: If it cannot be read.
        """
        ...

    def opened(self) -> AnyFile | None:
        """Open it for random access; None if that means reading all of it.

        Raises:
            InputError: If it cannot be opened; its methods raise it too.
        """
        ...


class HeldContent(Struct, frozen=True):
    """Content that has been read."""

    data: bytes
    state: ClassVar[str] = ""

    @property
    def byte_count(self) -> int:
        """Its size."""
        return len(self.data)

    def read(self, count: int = -1) -> bytes:
        """Read all of it, or its first bytes."""
        return self.data if count < 0 else self.data[:count]

    def opened(self) -> AnyFile:
        """The content as an open file."""
        return io.BytesIO(self.data)


class FileTree(Struct, frozen=True, eq=False):
    """A file, or a folder with everything below it.

    Attributes:
        shown: Its name in messages.
        own_name: Name of the file or folder.
        place: The path on a disk of the file that it was packed in; None if there is none.
        files: Content by path; the path of a single file is empty.
        folders: Names in each folder by path.
        is_archive: Whether its only entry may be meant by it.
    """

    shown: str
    own_name: str
    place: Path | None
    files: Mapping[Parts, Content]
    folders: Mapping[Parts, Sequence[str]] = field(default_factory=dict)
    is_archive: bool = False


def folders_of(files: Iterable[Parts], named: Iterable[Parts] = ()) -> dict[Parts, list[str]]:
    """Names in each folder, in order.

    Args:
        files: Paths of the files.
        named: Folders that have entries of their own, and may be empty.
    """
    files = set(files)
    folders: dict[Parts, list[str]] = {(): []}
    for parts in (*files, *((*folder, "") for folder in named)):
        for end in range(len(parts)):
            folders.setdefault(parts[:end], [])
    for path in sorted(files | folders.keys() - {()}):
        folders[path[:-1]].append(path[-1])
    return folders


class TreePath(Struct, frozen=True):
    """A file or folder of a tree, with the used part of the interface of `Path`."""

    _tree: FileTree
    _parts: Parts = ()

    def __str__(self) -> str:
        """The name of the tree, and the path within it."""
        return "/".join((self._tree.shown, *self._parts))

    def __truediv__(self, key: str, /) -> TreePath:
        """A path below this one."""
        return TreePath(self._tree, (*self._parts, *PurePosixPath(key).parts))

    @property
    def name(self) -> str:
        """Last part; at the root, the tree's own name."""
        return self._parts[-1] if self._parts else self._tree.own_name

    @property
    def stem(self) -> str:
        """Last part without its suffix."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The suffix, with its dot."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> Path | TreePath:
        """Its folder; at the root, the folder on the disk."""
        if self._parts:
            return TreePath(self._tree, self._parts[:-1])
        return self if self._tree.place is None else self._tree.place.parent

    def absolute(self) -> TreePath:
        """Itself."""
        return self

    def exists(self) -> bool:
        """Whether something is there."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Whether a file is there."""
        return self._parts in self._tree.files

    def is_dir(self) -> bool:
        """Whether a folder is there."""
        return self._parts in self._tree.folders

    def iterdir(self) -> Iterator[TreePath]:
        """Entries of a folder."""
        return (self / name for name in self._tree.folders.get(self._parts, ()))

    @property
    def is_in_archive(self) -> bool:
        """Whether it belongs to an archive, whose only entry may be meant."""
        return self._tree.is_archive

    def byte_count(self) -> int:
        """Size of a file, unpacked."""
        return self._tree.files[self._parts].byte_count

    def state(self) -> str:
        """A value that changes with the content of a file; empty if only the content would tell."""
        return self._tree.files[self._parts].state

    def read_bytes(self, count: int = -1) -> bytes:
        """Read the content of a file, or its first bytes.

        Raises:
            InputError: If it cannot be read.
        """
        return self._tree.files[self._parts].read(count)

    def opened(self) -> AnyFile | None:
        """Open it for random access; None if that means reading all of it.

        Raises:
            InputError: If it cannot be opened.
        """
        return self._tree.files[self._parts].opened()
