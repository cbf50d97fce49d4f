"""Times of frames in files: the rules for their columns, and signs of errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vidscore_evaluators.annotations import IMAGES, Annotations, SequenceKey, sequence_name
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, begin_runs, run_starts
from vidscore_evaluators.formats._table import RowChecks, RowTable
from vidscore_evaluators.names import counted
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.validation import EXPECTED_TIME, wrong_times

COLUMN = "time_s"
"""Seconds at which a frame was captured, in every format that can store them."""

ARRIVAL = "arrival_s"
"""Seconds at which the answer to a frame had arrived, likewise."""

TIMES_GO_BACK = "times_go_back"
"""Code of the warning about frames that were captured before an earlier one of their video."""

_ADVICE = "give seconds, on one clock for all frames of a sequence"


def check_times(checks: RowChecks, table: RowTable, *frame: IntArray) -> None:
    """Refuse numbers that are not times, and different times of one frame.

    Args:
        checks: Collects the faults.
        table: The rows; a row without a time has NaN, and takes the time of its frame.
        frame: (N,) arrays that together identify the frame of each row.
    """
    for column in (COLUMN, ARRIVAL):
        if column in table.numbers:
            _check_column(checks, column, table.numbers[column], frame)


def _check_column(
    checks: RowChecks, name: str, times_s: FloatArray, frame: Sequence[IntArray]
) -> None:
    checks.refuse(wrong_times(times_s), name, times_s, EXPECTED_TIME, _ADVICE)
    known = np.flatnonzero(~np.isnan(times_s))
    order = known[np.lexsort([column[known] for column in frame])]
    first = run_starts(*(column[order] for column in frame))
    counts = np.diff(np.append(first, len(order)))
    differs = np.zeros(len(times_s), dtype=np.bool_)
    differs[order] = times_s[order] != np.repeat(times_s[order[first]], counts)
    checks.refuse(differs, name, times_s, "one time in all rows of a frame")


def times_of_frames(times_s: FloatArray, first: IntArray) -> FloatArray:
    """(F,) the time of each frame from those of its rows, NaN if none has one.

    Args:
        times_s: (N,) times of rows, sorted by frame.
        first: (F,) first row of each frame.
    """
    if len(first) == 0:
        return times_s[:0]
    found: FloatArray = np.fmax.reduceat(times_s, first)
    return found


def time_warnings(annotations: Annotations, source: str) -> tuple[ReportWarning, ...]:
    """A warning if a frame was captured before an earlier one of its video.

    Args:
        annotations: Frames in ascending order of sequence and number.
        source: Name of the file, for messages.
    """
    rows = times_back(annotations)
    if not len(rows):
        return ()
    row = int(rows[0])
    key = annotations.sequences[annotations.frame_sequences[row]]
    return (times_back_warning(len(rows), key, int(annotations.frame_numbers[row]), source),)


def times_back(annotations: Annotations, cut_frames: int | None = None) -> IntArray:
    """Rows of the frames that were captured before an earlier one of their video.

    Args:
        annotations: Frames in ascending order of sequence and number.
        cut_frames: Number of frames of a part of a video; parts are not compared with each other.
            None to compare the frames of whole videos.
    """
    rows = _timed_rows(annotations)
    if annotations.frame_times_s is None or not len(rows):
        return rows
    known = annotations.frame_times_s[rows]
    back: IntArray = rows[1:][
        (known[1:] < known[:-1]) & ~_begins(annotations, rows, cut_frames)[1:]
    ]
    return back


def timed_parts(annotations: Annotations, cut_frames: int) -> tuple[IntArray, IntArray]:
    """Rows of the first and of the last frame with a time in each part of a video.

    Args:
        annotations: Frames in ascending order of sequence and number.
        cut_frames: Number of frames of a part.
    """
    rows = _timed_rows(annotations)
    firsts = np.flatnonzero(_begins(annotations, rows, cut_frames))
    lasts = np.append(firsts[1:], len(rows))[: len(firsts)] - 1
    return rows[firsts], rows[lasts]


def _timed_rows(annotations: Annotations) -> IntArray:
    """Rows of the frames of videos that have a time."""
    if annotations.frame_times_s is None:
        return np.zeros(0, dtype=np.int64)
    videos = np.array([key != SequenceKey("", IMAGES) for key in annotations.sequences], dtype=bool)
    known = ~np.isnan(annotations.frame_times_s) & videos[annotations.frame_sequences]
    return np.flatnonzero(known)


def _begins(annotations: Annotations, rows: IntArray, cut_frames: int | None) -> BoolArray:
    """(N,) whether each of these rows is the first of its video, or of its part of it."""
    sequences = annotations.frame_sequences[rows]
    if cut_frames is None:
        return begin_runs(sequences)
    return begin_runs(sequences, annotations.frame_numbers[rows] // cut_frames)


def times_back_warning(count: int, first: SequenceKey, frame: int, source: str) -> ReportWarning:
    """A warning about such frames, given their number and the first of them."""
    found = counted(count, "frame has", "frames have")
    message = (
        f"{source}: {found} a {COLUMN} before that of the frame before, "
        f"the first is frame {frame} of sequence {sequence_name(first)}; {_ADVICE}"
    )
    return ReportWarning(TIMES_GO_BACK, message, count)
