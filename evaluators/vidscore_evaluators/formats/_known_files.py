"""What this process has learnt of files of columns: their columns, and whose rows they hold.

An archive is read a shard at a time, and of its files a shard wants a few. Whether it wants one is
known only once the file was opened: so each process opens a file once, and not once for each shard.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.formats._column_files import DataFile, FileKind
from vidscore_evaluators.formats._tree_paths import TreePath

MOST_NAMES = 1 << 18
"""Names of files and sequences that are kept, some 60 MB; past it, all is learnt again."""


class KnownFile(Struct, frozen=True):
    """What a file says of itself.

    Attributes:
        name: Its name in messages.
        schema: Its `pyarrow.Schema`.
        keys: Sequences that it has rows of.
    """

    name: str
    schema: Any
    keys: frozenset[SequenceKey]


_lock = threading.Lock()
_known: dict[Hashable, KnownFile] = {}
_names = 0


def learn(place: Hashable, found: KnownFile) -> None:
    """Keep what a file says of itself, until it changes.

    Args:
        place: Its `place_of`, from before it was read: what changes meanwhile is not kept.
        found: What it says.
    """
    global _names  # noqa: PLW0603 - of the process, as `_known` is
    count = 1 + len(found.keys)
    if place is None or count > MOST_NAMES:
        return
    with _lock:
        if _names + count > MOST_NAMES:
            _known.clear()
            _names = 0
        # Files of one archive have one schema, which is then held once.
        last = next(reversed(_known.values())).schema if _known else None
        if last is not None and found.schema.equals(last):
            found = replace(found, schema=last)
        if place not in _known:
            _names += count
        _known[place] = found


def recall(place: Hashable) -> KnownFile | None:
    """What is known of the file of a `place_of`; None where it has to be opened."""
    return _known.get(place)


def place_of(file: DataFile, kind: FileKind) -> Hashable:
    """Where a file is, in which folders of columns, and what changes with its content.

    None where nothing tells that but the content.
    """
    path = file.path
    state: Hashable
    if isinstance(path, TreePath):
        state = path.state()
    else:
        try:
            found = path.stat()
        except OSError:
            return None  # its reader will say why
        state = (found.st_ino, found.st_size, found.st_mtime_ns)
    if not state:
        return None
    return kind.format_name, str(path.absolute()), tuple(file.partition.items()), state
