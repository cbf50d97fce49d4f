"""Lengths of sequences: ``seqinfo.ini`` of MOTChallenge, and seqmaps of KITTI."""

from __future__ import annotations

import configparser
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey, frame_name
from vidscore_evaluators.arrays import IntArray, starts_from_counts
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    InputPath,
    is_file,
    is_folder,
    read_bytes,
    visible_entries,
)
from vidscore_evaluators.formats._format import WriteOptions
from vidscore_evaluators.formats._row_frames import RowColumns, with_listed_frames
from vidscore_evaluators.formats._sequence_files import SequenceFiles
from vidscore_evaluators.formats._table import RowTable, parse_integer
from vidscore_evaluators.formats.source import Reading, ReadLimits, show_text
from vidscore_evaluators.names import counted
from vidscore_evaluators.specification import MAXIMUM_FRAMES, image_size_of

T = TypeVar("T")

_NO_GAPS = f"frames up to {MAXIMUM_FRAMES}, as a sequence has no gaps"


class SequenceInfo(NamedTuple):
    """The contents of a seqinfo.ini: number of frames, and width and height of images if given."""

    length: int
    image_size: tuple[int, int] | None


def read_beside(read: Callable[[], T], nothing: T) -> tuple[T, list[Fault]]:
    """Read the data beside the rows of a truth; its faults are reported later, with theirs.

    Args:
        read: Reads the data.
        nothing: Takes the place of data that cannot be read.
    """
    try:
        return read(), []
    except InputError as error:
        return nothing, list(error.faults)


def check_beside(faults: Sequence[Fault], reading: Reading) -> Reading:
    """The reading of the rows, if the data beside them has no fault.

    Raises:
        InputError: With the faults of both, if that data has any.
    """
    if faults:
        raise InputError([*faults, *reading.faults.listed()])
    return reading


def read_sequence_info(file: InputPath, limits: ReadLimits) -> SequenceInfo | None:
    """The contents of the seqinfo.ini beside a truth, if there is one.

    Raises:
        InputError: If it has no valid length.
    """
    path = file.parent.parent / "seqinfo.ini"
    if file.name != "gt.txt" or not is_file(path):
        return None
    parser = configparser.ConfigParser(interpolation=None)
    expected = f"seqLength = an integer from 1 to {MAXIMUM_FRAMES} under [Sequence]"
    try:
        parser.read_string(read_bytes(path, "a seqinfo.ini", limits).decode("utf-8-sig"))
        text = parser.get("Sequence", "seqLength")
    except (configparser.Error, UnicodeDecodeError):
        raise InputError([Fault("nothing of the kind", expected, source=str(path))]) from None
    length = parse_integer(text)
    if length is None or not 1 <= length <= MAXIMUM_FRAMES:
        raise InputError([Fault(show_text(text), expected, source=str(path), field="seqLength")])
    sides = (parser.get("Sequence", name, fallback="") for name in ("imWidth", "imHeight"))
    return SequenceInfo(length, image_size_of(*map(parse_integer, sides)))


def write_sequence_info(name: str, length: int, image_sizes: IntArray) -> bytes:
    """The content of a seqinfo.ini; with the size of images if known and equal for all."""
    lines = ["[Sequence]", f"name={name}", f"seqLength={length}"]
    (width, height), *others = np.unique(image_sizes, axis=0).tolist()
    if width and height and not others:
        lines += [f"imWidth={width}", f"imHeight={height}"]
    return "\n".join([*lines, ""]).encode()


def with_frames_without_rows(
    rows: RowColumns,
    table: RowTable,
    lengths: Mapping[SequenceKey, int],
    first: int = 1,
    *,
    files: IntArray | None = None,
    position: int = 1,
) -> tuple[RowColumns, RowTable]:
    """List the frames of sequences of known length that no row lists.

    Args:
        rows: The rows.
        table: The rows' places in the files.
        lengths: Number of frames of sequences, if known.
        first: Number of a sequence's first frame.
        files: (S,) file of each sequence to which its frames without rows are attributed; by
            default, each has its own.
        position: Position in that file: its first line.
    """
    missing = _frames_without_rows(rows, lengths, first)
    places = missing[0] if files is None else files[missing[0]]
    return with_listed_frames(rows, table, missing, (places, np.full_like(places, position)))


def _frames_without_rows(
    rows: RowColumns, lengths: Mapping[SequenceKey, int], first: int
) -> tuple[IntArray, IntArray]:
    """(K,) indices of the sequences of such frames, and (K,) their numbers."""
    counts = np.array([lengths.get(key, 0) for key in rows.sequences], dtype=np.int64)
    starts = starts_from_counts(counts)
    is_missing = np.ones(int(starts[-1]), dtype=np.bool_)
    is_listed = counts[rows.sequence_of_row] > 0
    of_rows = starts[rows.sequence_of_row] + rows.frame_numbers - first
    is_missing[of_rows[is_listed]] = False
    missing = np.flatnonzero(is_missing)
    sequences = np.repeat(np.arange(len(counts)), counts)[missing]
    return sequences, missing - starts[sequences] + first


def gap_remarks(annotations: Annotations, options: WriteOptions) -> tuple[str, ...]:
    """Remark on the number of frames that become listed because sequences have no gaps.

    Args:
        annotations: The annotations to write.
        options: Lists the don't-care frames that were left out.

    Raises:
        InputError: If there are more frames than a reader accepts.
    """
    last = np.zeros(len(annotations.sequences), dtype=np.int64)
    np.maximum.at(last, annotations.frame_sequences, annotations.frame_numbers)
    faults = [
        Fault(frame_name(annotations.sequences[row], int(last[row])), _NO_GAPS)
        for row in np.flatnonzero(last > MAXIMUM_FRAMES).tolist()
    ]
    if faults:
        raise InputError(faults)
    gaps = int(last.sum()) - annotations.frame_count
    if gaps <= 0:
        return ()
    said = counted(gaps, "frame that was not listed is", "frames that were not listed are")
    return (f"{said}, as a sequence has no gaps", *_unmarked_remarks(last, options.unmarked))


def _unmarked_remarks(last: IntArray, unmarked: Annotations | None) -> Iterator[str]:
    """Remark on the number of don't-care frames in gaps, given the last frame of each sequence."""
    if unmarked is None:
        return
    count = int((unmarked.frame_numbers <= last[unmarked.frame_sequences]).sum())
    if count:
        yield f"don't-care frames among these now count: {count}; convert detections with --truth"


# --- seqmaps of KITTI ------------------------------------------------------------------------
#
# Source: the development kit of the KITTI tracking benchmark. A row has, separated by blanks, the
# name of a sequence, a word, its first frame and the number after its last: ``0001 empty 000000
# 000447``. There is one such file per split (``evaluate_tracking.seqmap.training``, ``.val``); all
# of them are read, because only the lengths of sequences are used. KITTI MOTS has
# ``evaluate_mots.seqmap``, whose fourth column is the number of the last frame itself.


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
) -> dict[SequenceKey, int]:
    """Number of frames of each sequence that a seqmap names, beside a truth or above it.

    Args:
        path: File or folder of the truth.
        files: The files of its sequences.
        limits: Limits of a seqmap's size.
        prefix: Prefix of a seqmap's name.

    Raises:
        InputError: If a seqmap has an invalid row, or two seqmaps disagree; with every fault.
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
