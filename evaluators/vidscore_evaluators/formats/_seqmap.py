"""``evaluate_tracking.seqmap`` of KITTI: how many frames each sequence has.

Source: the development kit of the KITTI tracking benchmark. A row has, between blanks, the name of
a sequence, a word, its first frame and the number after its last: ``0001 empty 000000 000447``.
There is such a file for each split (``evaluate_tracking.seqmap.training``, ``.val``); all that are
there are read, because only the lengths of sequences are taken from them. KITTI MOTS has
``evaluate_mots.seqmap``, whose fourth column is the number of the last frame itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    InputPath,
    is_file,
    is_folder,
    read_bytes,
    visible_entries,
)
from vidscore_evaluators.formats._sequence_files import SequenceFiles
from vidscore_evaluators.formats._table import parse_integer
from vidscore_evaluators.formats.source import ReadLimits, show_text
from vidscore_evaluators.names import counted
from vidscore_evaluators.specification import MAXIMUM_FRAMES

PREFIX = "evaluate_tracking.seqmap"
MOTS_PREFIX = "evaluate_mots.seqmap"
_COLUMNS = 4
_EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        PREFIX: f"a sequence, a word, 0 and a number of frames from 1 to {MAXIMUM_FRAMES}",
        MOTS_PREFIX: f"a sequence, a word, 0 and a last frame from 0 to {MAXIMUM_FRAMES - 1}",
    }
)


def read_sequence_lengths(
    path: InputPath, files: SequenceFiles, limits: ReadLimits, prefix: str = PREFIX
) -> Mapping[SequenceKey, int]:
    """Frames of each sequence that a seqmap names, beside a truth or above it.

    Args:
        path: File or folder of the truth.
        files: The files of its sequences.
        limits: How large a seqmap may be.
        prefix: What the name of a seqmap begins with.

    Raises:
        InputError: If a seqmap has a row of another kind, or two disagree; with every fault.
    """
    lengths: dict[SequenceKey, int] = {}
    faults: list[Fault] = []
    for seqmap in _seqmaps(path, prefix):
        text = read_bytes(seqmap, "a seqmap of KITTI", limits).decode("utf-8", "replace")
        for line, row in enumerate(text.splitlines(), start=1):
            fields = row.split()
            if not fields:
                continue
            length = _length(fields, prefix)
            key = SequenceKey("", fields[0])
            if length is None:
                found, expected = show_text(row), _EXPECTED[prefix]
            elif lengths.setdefault(key, length) != length:
                found = counted(length, "frame")
                expected = f"{lengths[key]}, as another seqmap has it"
            else:
                continue
            faults.append(Fault(found, expected, source=str(seqmap), line=line))
    if faults:
        raise InputError(faults)
    return {key: length for key, length in lengths.items() if key in files}


def _seqmaps(path: InputPath, prefix: str) -> list[InputPath]:
    """Seqmaps in a folder of labels and in the folder above, or beside a file."""
    folders = [path, path.absolute().parent] if is_folder(path) else [path.absolute().parent]
    return [
        entry
        for folder in folders
        if is_folder(folder)
        for entry in visible_entries(folder)
        if entry.name.startswith(prefix) and is_file(entry)
    ]


def _length(fields: list[str], prefix: str) -> int | None:
    if len(fields) != _COLUMNS or parse_integer(fields[2]) != 0:
        return None
    length = parse_integer(fields[3])
    if length is not None and prefix == MOTS_PREFIX:
        length += 1
    return length if length is not None and 1 <= length <= MAXIMUM_FRAMES else None
