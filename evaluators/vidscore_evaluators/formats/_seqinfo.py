"""``seqinfo.ini`` of MOTChallenge: length and image size of a sequence, and frames without rows."""

from __future__ import annotations

import configparser
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey, frame_name
from vidscore_evaluators.arrays import IntArray, starts_from_counts
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import InputPath, is_file, read_bytes
from vidscore_evaluators.formats._format import WriteOptions
from vidscore_evaluators.formats._row_frames import RowColumns
from vidscore_evaluators.formats._table import parse_integer
from vidscore_evaluators.formats.source import ReadLimits, show_text
from vidscore_evaluators.names import counted
from vidscore_evaluators.specification import MAXIMUM_FRAMES, is_image_size

_NO_GAPS = f"frames up to {MAXIMUM_FRAMES}, as a sequence has no gaps"


class SequenceInfo(NamedTuple):
    """The contents of a seqinfo.ini: frames, and width and height of the images where given."""

    length: int
    image_size: tuple[int, int] | None


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
    names = ("imWidth", "imHeight")
    width, height = (
        parse_integer(parser.get("Sequence", name, fallback="")) or 0 for name in names
    )
    return SequenceInfo(length, (width, height) if is_image_size(width, height) else None)


def write_sequence_info(name: str, length: int, image_sizes: IntArray) -> bytes:
    """The content of a seqinfo.ini; with the size of images where it is known, and one for all."""
    lines = ["[Sequence]", f"name={name}", f"seqLength={length}"]
    (width, height), *others = np.unique(image_sizes, axis=0).tolist()
    if width and height and not others:
        lines += [f"imWidth={width}", f"imHeight={height}"]
    return "\n".join([*lines, ""]).encode()


def frames_without_rows(
    rows: RowColumns, lengths: Mapping[SequenceKey, int], first: int = 1
) -> tuple[IntArray, IntArray]:
    """Frames of sequences of known length that no row lists.

    Args:
        rows: The rows.
        lengths: Number of frames of sequences, where it is known.
        first: Number of a sequence's first frame.

    Returns:
        (K,) indices of their sequences, and (K,) their numbers.
    """
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
    """Remark how many frames become listed where all from 1 to the last of a sequence are.

    Args:
        annotations: What is written.
        options: Which don't-care frames were left out.

    Raises:
        InputError: If these are more than a reader takes.
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
    """Remark how many don't-care frames lie in gaps, given the last frame of each sequence."""
    if unmarked is None:
        return
    count = int((unmarked.frame_numbers <= last[unmarked.frame_sequences]).sum())
    if count:
        yield f"don't-care frames among these now count: {count}; convert detections with --truth"
