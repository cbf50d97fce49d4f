"""Write MOTChallenge and KITTI tracking text: a file for each sequence, a row for each object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vidscore_evaluators.annotations import BOX, Annotations, ObjectFlag, Side
from vidscore_evaluators.arrays import AnyArray, FloatArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.mot_classes import CLASSES, DISTRACTORS
from vidscore_evaluators.formats.writing import Capacity, Files, Numbers, Writer, file_name

_NOT_KNOWN = -1


def _write_motchallenge(annotations: Annotations, side: Side, numbers: Numbers) -> Files:
    """Rows in ``<sequence>/gt/gt.txt`` beside a seqinfo.ini, or in ``<sequence>.txt``."""
    _refuse(annotations.frame_numbers < 1, annotations.frame_numbers, "frame", "1 or more")
    x1, y1, x2, y2 = annotations.coordinates.T
    box = [x1, y1, x2 - x1, y2 - y1]
    if side is Side.DETECTIONS:
        none = np.full(annotations.object_count, _NOT_KNOWN)
        rows = _rows(annotations, ",", *box, annotations.confidences, none, none, none)
        return {f"{name}.txt": text for name, _, text in _by_sequence(annotations, rows)}
    considered = (annotations.flags & ObjectFlag.IGNORE) == 0
    visibility = annotations.columns.get("visibility", np.ones(annotations.object_count))
    visibility = np.where(np.isnan(visibility), 1.0, visibility)
    rows = _rows(annotations, ",", *box, considered, _class_numbers(annotations), visibility)
    files = {}
    for name, frames, text in _by_sequence(annotations, rows):
        files[f"{name}/gt/gt.txt"] = text
        files[f"{name}/seqinfo.ini"] = _sequence_info(name, int(frames.max()), numbers)
    return files


def _class_numbers(annotations: Annotations) -> AnyArray:
    """(N,) number of each object's class.

    Raises:
        InputError: If a class has no number.
    """
    place = {name: number for number, name in enumerate(CLASSES, start=1)}
    used = np.unique(annotations.label_indices).tolist()
    table = np.array([place.get(label, 0) for label in annotations.labels], dtype=np.int64)
    unknown = [annotations.labels[index] for index in used if table[index] == 0]
    if unknown:
        expected = "a class of MOTChallenge: " + ", ".join(CLASSES)
        raise InputError([Fault(repr(label), expected, field="class") for label in unknown])
    distracts = np.array([label in DISTRACTORS for label in annotations.labels], dtype=np.bool_)
    flagged = (annotations.flags & ObjectFlag.DISTRACTOR) != 0
    numbers = table[annotations.label_indices]
    # Which classes distract is fixed there: what else is flagged takes the class that always does.
    return np.where(flagged & ~distracts[annotations.label_indices], place["distractor"], numbers)


def _gaps(annotations: Annotations, side: Side) -> tuple[str, ...]:
    """Say how many frames a seqinfo.ini lists that were not listed before."""
    if side is Side.DETECTIONS or annotations.frame_count == 0:
        return ()
    last = np.zeros(len(annotations.sequences), dtype=np.int64)
    np.maximum.at(last, annotations.frame_sequences, annotations.frame_numbers)
    gaps = int(last.sum()) - annotations.frame_count
    return (f"{gaps} frames that were not listed are, as a sequence has no gaps",) if gaps else ()


def _sequence_info(name: str, length: int, numbers: Numbers) -> bytes:
    lines = ["[Sequence]", f"name={name}", f"seqLength={length}"]
    if numbers.image_size is not None:
        lines += [f"imWidth={numbers.image_size[0]}", f"imHeight={numbers.image_size[1]}"]
    return "\n".join([*lines, ""]).encode()


def _write_kitti(annotations: Annotations, side: Side, numbers: Numbers) -> Files:
    """Rows in ``<sequence>.txt``."""
    del numbers
    region = (annotations.flags & ObjectFlag.REGION) != 0
    labels = np.array(annotations.labels or ("",), dtype=object)[annotations.label_indices]
    labels = np.where(region, "DontCare", labels)
    blank = np.array([not label or any(map(str.isspace, label)) for label in labels], dtype=bool)
    _refuse(blank, labels, "class", "a class of one word")
    angles = _constant(annotations, -10)
    unknown_size, unknown_place = _constant(annotations, -1), _constant(annotations, -1000)
    columns = [
        *(labels, _known(annotations, "truncation"), _known(annotations, "occlusion"), angles),
        *annotations.coordinates.T,
        *(unknown_size, unknown_size, unknown_size),
        *(unknown_place, unknown_place, unknown_place, angles),
    ]
    if side is Side.DETECTIONS:
        columns.append(annotations.confidences)
    rows = _rows(annotations, " ", *columns)
    return {f"{name}.txt": text for name, _, text in _by_sequence(annotations, rows)}


def _known(annotations: Annotations, name: str) -> FloatArray:
    """(N,) values of a named column, -1 where they are not known."""
    column = annotations.columns.get(name)
    if column is None:
        return _constant(annotations, _NOT_KNOWN)
    return np.where(np.isnan(column), _NOT_KNOWN, column)


def _constant(annotations: Annotations, value: float) -> FloatArray:
    return np.full(annotations.object_count, value, dtype=np.float64)


def _rows(annotations: Annotations, separator: str, *columns: AnyArray) -> list[str]:
    """The row of each object: frame, track, and columns."""
    frames = annotations.frame_numbers[annotations.object_frames]
    texts = [_texts(column) for column in (frames, annotations.track_ids, *columns)]
    return [separator.join(fields) + "\n" for fields in zip(*texts, strict=True)]


def _texts(column: AnyArray) -> list[str]:
    """Numbers in full, whole ones without a point."""
    if column.dtype.kind == "b":
        column = column.astype(np.int64)
    return [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in column.tolist()
    ]


def _by_sequence(
    annotations: Annotations, rows: Sequence[str]
) -> Iterator[tuple[str, AnyArray, bytes]]:
    """Name, frame numbers and content of the file of each sequence that has frames."""
    sequences = annotations.frame_sequences
    starts = annotations.frame_starts
    for index in np.unique(sequences).tolist():
        frames = np.flatnonzero(sequences == index)
        # Frames are in order, so that those of a sequence are neighbours.
        text = "".join(rows[starts[frames[0]] : starts[frames[-1] + 1]])
        name = file_name(annotations.sequences[index].sequence, "sequence")
        yield name, annotations.frame_numbers[frames], text.encode()


def _refuse(wrong: AnyArray, values: AnyArray, field: str, expected: str) -> None:
    found = dict.fromkeys(str(value) for value in values[wrong].tolist())
    if found:
        raise InputError([Fault(text or "nothing", expected, field=field) for text in found])


MOTCHALLENGE_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(
            arities=(BOX,),
            confidences=False,
            tracks=True,
            flags=ObjectFlag.IGNORE | ObjectFlag.DISTRACTOR,
            columns=frozenset({"visibility"}),
        ),
        Side.DETECTIONS: Capacity(empty_frames=False, classes=False, tracks=True),
    },
    write=_write_motchallenge,
    remarks=_gaps,
)

KITTI_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(
            empty_frames=False,
            confidences=False,
            tracks=True,
            flags=ObjectFlag.REGION,
            columns=frozenset({"truncation", "occlusion"}),
        ),
        Side.DETECTIONS: Capacity(
            empty_frames=False, tracks=True, columns=frozenset({"truncation", "occlusion"})
        ),
    },
    write=_write_kitti,
)
