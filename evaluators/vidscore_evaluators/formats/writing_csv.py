"""Write generic CSV, Neovision2 CSV and spotGEO JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

import numpy as np
import orjson

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    POINT,
    QUADRILATERAL,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import neovision2_csv, spotgeo_text
from vidscore_evaluators.formats.column_names import COORDINATES
from vidscore_evaluators.formats.generic_csv import FRAME_FLAG
from vidscore_evaluators.formats.texts import read_whole
from vidscore_evaluators.formats.writing import (
    EVERY_FLAG,
    Capacity,
    Files,
    Numbers,
    Writer,
    file_name,
)
from vidscore_evaluators.formats.writing_numbers import frame_keys
from vidscore_evaluators.names import is_formula

_NO_FORMULA = "a name that no spreadsheet takes for a formula, as one that begins with =, +, - or @"


def _write_generic(annotations: Annotations, side: Side, numbers: Numbers) -> Files:
    del numbers
    _refuse_formulas(annotations)
    names = COORDINATES[annotations.arity]
    extra = sorted(annotations.columns)
    header = ["domain", "sequence", "frame", "class", *names, "confidence", "track_id", "flags"]
    if side is Side.TRUTH:
        header.remove("confidence")
    objects = _generic_objects(annotations, side, extra)
    rows: list[Sequence[object]] = []
    starts = annotations.frame_starts.tolist()
    frame_flags = ((annotations.frame_flags & FrameFlag.DONT_CARE) != 0).tolist()
    for row, number in enumerate(annotations.frame_numbers.tolist()):
        key = annotations.sequences[annotations.frame_sequences[row]]
        _require_name(key.sequence)
        marked, own = frame_flags[row], objects[starts[row] : starts[row + 1]]
        if marked or not own:
            blank = [""] * (len(header) - 4 + len(extra))
            rows.append(
                [*key, number, *blank[: len(header) - 4], FRAME_FLAG if marked else ""]
                + [""] * len(extra)
            )
        rows.extend([*key, number, *fields] for fields in own)
    return {"": _csv([*header, *extra], rows)}


def _generic_objects(
    annotations: Annotations, side: Side, extra: Sequence[str]
) -> list[list[object]]:
    """What stands in the row of each object after its frame."""
    sure = side is Side.TRUTH
    rows: list[list[object]] = []
    others = [annotations.columns[name].tolist() for name in extra]
    words = {bits: _flag_words(bits) for bits in np.unique(annotations.flags).tolist()}
    for label, coordinates, confidence, track, flags, *values in zip(
        annotations.label_indices.tolist(),
        annotations.coordinates.tolist(),
        annotations.confidences.tolist(),
        annotations.track_ids.tolist(),
        annotations.flags.tolist(),
        *others,
        strict=True,
    ):
        rows.append(
            [
                annotations.labels[label],
                *map(_number, coordinates),
                *([] if sure else [_number(confidence)]),
                "" if track == NO_TRACK else track,
                words[flags],
                *("" if math.isnan(value) else _number(value) for value in values),
            ]
        )
    return rows


def _flag_words(bits: int) -> str:
    return "|".join(str(flag.name).lower() for flag in ObjectFlag if bits & flag)


def _write_neovision2(annotations: Annotations, side: Side, numbers: Numbers) -> Files:
    del numbers
    _refuse_formulas(annotations)
    rows: dict[int, list[Sequence[object]]] = {}
    objects = _neovision2_objects(annotations, side)
    starts = annotations.frame_starts.tolist()
    marked = ((annotations.frame_flags & FrameFlag.DONT_CARE) != 0).tolist()
    blank = [""] * len(neovision2_csv.HEADER)
    for row, number in enumerate(annotations.frame_numbers.tolist()):
        own = rows.setdefault(int(annotations.frame_sequences[row]), [])
        found = objects[starts[row] : starts[row + 1]]
        if marked[row]:
            own.append([number, *blank[1:9], "DCF", *blank[10:]])
        elif not found:
            own.append([number, *blank[1:]])
        own.extend([number, *fields] for fields in found)
    files = {}
    for sequence, lines in rows.items():
        domain, name = annotations.sequences[sequence]
        path = f"{file_name(domain, 'domain')}/{file_name(name, 'sequence')}.csv"
        files[path] = _csv(neovision2_csv.HEADER, lines)
    return files


def _neovision2_objects(annotations: Annotations, side: Side) -> list[list[object]]:
    """What stands in the row of each object after its frame."""
    occlusion = annotations.columns.get("occlusion", np.full(annotations.object_count, np.nan))
    rows: list[list[object]] = []
    for label, corners, confidence, flags, occluded in zip(
        annotations.label_indices.tolist(),
        _corners(annotations).tolist(),
        annotations.confidences.tolist(),
        annotations.flags.tolist(),
        occlusion.tolist(),
        strict=True,
    ):
        name = "DCR" if flags & ObjectFlag.REGION else annotations.labels[label]
        _require_class(name)
        rows.append(
            [
                *map(_number, corners),
                name,
                "" if math.isnan(occluded) else str(occluded != 0).upper(),
                str(bool(flags & ObjectFlag.IGNORE)).upper(),
                1.0 if side is Side.TRUTH else _number(confidence),
                *("", ""),
            ]
        )
    return rows


def _corners(annotations: Annotations) -> FloatArray:
    """(N, 8) corners in order along the outline."""
    if annotations.arity == QUADRILATERAL:
        return annotations.coordinates
    return annotations.coordinates[:, [0, 1, 2, 1, 2, 3, 0, 3]]


def _write_spotgeo(annotations: Annotations, side: Side, numbers: Numbers) -> Files:
    del side
    starts, points = annotations.frame_starts.tolist(), annotations.coordinates.tolist()
    # Detections have an entry for each frame of the truth.
    frames = [] if numbers.truth is None else frame_keys(numbers.truth)
    found: dict[tuple[SequenceKey, int], list[list[float]]] = {key: [] for key in frames}
    for row, key in enumerate(frame_keys(annotations)):
        found[key] = points[starts[row] : starts[row + 1]]
    entries = sorted(
        (_sequence_id(key.sequence), number, own) for (key, number), own in found.items()
    )
    document = [
        dict(zip(spotgeo_text.KEYS, (sequence, number, len(own), own), strict=True))
        for sequence, number, own in entries
    ]
    return {"": orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)}


def _sequence_id(name: str) -> int:
    number = read_whole(name)
    if number is None or str(number) != name:
        raise InputError([Fault(repr(name), "a whole number", field="sequence")])
    return number


def _refuse_formulas(annotations: Annotations) -> None:
    """Refuse names that a spreadsheet would run: a reader has to get back what was written."""
    names = [
        *(("domain", key.domain) for key in annotations.sequences),
        *(("sequence", key.sequence) for key in annotations.sequences),
        *(("class", label) for label in annotations.labels),
        *(("column", name) for name in annotations.columns),
    ]
    faults = dict.fromkeys(
        Fault(repr(name)[:80], _NO_FORMULA, field=field, advice="write a JSON format in its place")
        for field, name in names
        if is_formula(name)
    )
    if faults:
        raise InputError(list(faults))


def _require_name(sequence: str) -> None:
    if not sequence:
        raise InputError([Fault("a sequence without a name", "a name", field="sequence")])


def _require_class(label: str) -> None:
    if not label:
        raise InputError([Fault("an object without a class", "a class", field="class")])


def _number(value: float) -> int | float:
    """Whole numbers are written without a point."""
    return int(value) if float(value).is_integer() else value


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


GENERIC_WRITER = Writer(
    folder=False,
    capacity={
        Side.TRUTH: Capacity(
            arities=(POINT, BOX, QUADRILATERAL),
            domains=True,
            dont_care_frames=True,
            confidences=False,
            tracks=True,
            flags=EVERY_FLAG,
            columns=None,
        ),
        Side.DETECTIONS: Capacity(
            arities=(POINT, BOX, QUADRILATERAL),
            domains=True,
            dont_care_frames=True,
            tracks=True,
            flags=EVERY_FLAG,
            columns=None,
        ),
    },
    write=_write_generic,
)

NEOVISION2_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(
            arities=(BOX, QUADRILATERAL),
            domains=True,
            dont_care_frames=True,
            confidences=False,
            flags=ObjectFlag.IGNORE | ObjectFlag.REGION,
            columns=frozenset({"occlusion"}),
        ),
        Side.DETECTIONS: Capacity(
            arities=(BOX, QUADRILATERAL),
            domains=True,
            empty_frames=False,
            columns=frozenset({"occlusion"}),
        ),
    },
    write=_write_neovision2,
)

SPOTGEO_WRITER = Writer(
    folder=False,
    capacity=dict.fromkeys(Side, Capacity(arities=(POINT,), classes=False, confidences=False)),
    write=_write_spotgeo,
)
