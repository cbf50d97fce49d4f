"""Convert AnnotationBatch messages to annotations and back: single, joined and stored ones.

This module is the server's `BatchCodec`. Repeated fields become arrays by the container's array
interface, without a Python object per object of a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    POINT,
    QUADRILATERAL,
    Annotations,
    SequenceKey,
    concatenate,
    empty_annotations,
)
from vidscore_evaluators.arrays import AnyArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.validation import Columns, build_annotations
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.joined_batches import Lengths, join_columns
from vidscore_server.api.mask_columns import mask_memory_bytes, on_the_wire, read_masks, write_masks
from vidscore_server.domain.batches import BatchRules, NotAlikeError
from vidscore_server.settings import Settings

ARITY_OF_GEOMETRY = {
    annotations_pb2.GEOMETRY_POINT: POINT,
    annotations_pb2.GEOMETRY_BOX: BOX,
    annotations_pb2.GEOMETRY_QUADRILATERAL: QUADRILATERAL,
}
GEOMETRY_OF_ARITY = {arity: geometry for geometry, arity in ARITY_OF_GEOMETRY.items()}

FRAME_BYTES = 25
OBJECT_BYTES = 25
NUMBER_BYTES = 8
"""Bytes of columns per frame without its time, per object without its coordinates, and per
coordinate or time."""

NAME_BYTES = 64
"""Bytes of a name besides its letters."""


def batch_size(message: annotations_pb2.AnnotationBatch) -> int:
    """Approximate cost of reading a batch: its frames, coordinates and runs of masks."""
    return len(message.frame_numbers) + len(message.coordinates) + len(message.mask_runs)


def held_bytes(message: annotations_pb2.AnnotationBatch) -> int:
    """Approximate size of a batch in memory, in bytes.

    This is its size on the wire, plus a surcharge for numbers and names that are shorter there.
    """
    names = len(message.sequences) + len(message.labels) + len(message.columns)
    long = len(message.frame_numbers) + len(message.track_ids)
    short = (
        len(message.frame_sequences)
        + len(message.frame_object_counts)
        + len(message.frame_flags)
        + len(message.label_indices)
        + len(message.object_flags)
        + 3 * len(message.mask_heights)
        + len(message.mask_runs)
    )
    return message.ByteSize() + NAME_BYTES * names + 8 * long + 4 * short


def geometry_name(geometry: int) -> str:
    """A geometry for people; its number if this version does not know it."""
    if geometry == annotations_pb2.GEOMETRY_UNSPECIFIED:
        return "no geometry"
    if geometry in annotations_pb2.Geometry.values():
        return annotations_pb2.Geometry.Name(geometry).removeprefix("GEOMETRY_").lower()
    return f"geometry {geometry}"


def read_batch(
    message: annotations_pb2.AnnotationBatch, source: str, rules: BatchRules
) -> Annotations:
    """Check a batch and turn it into annotations.

    Args:
        message: The batch.
        source: Path of the batch in its request, such as ``truth``.
        rules: The limits that it must keep.

    Raises:
        LimitError: If it is larger than allowed.
        InputError: With every fault.
    """
    counts = np.asarray(message.frame_object_counts, dtype=np.int64)
    _refuse_too_large(message, counts, rules.settings)
    faults = [*_geometry_faults(message, source, rules.arity), *_name_faults(message, source)]
    masks = None
    try:
        masks = read_masks(message, source)
    except InputError as error:
        faults.extend(error.faults)
    try:
        annotations = build_annotations(_columns(message, counts, rules.arity, masks), source)
    except InputError as error:
        raise InputError([*faults, *on_the_wire(error).faults]) from None
    if faults:
        raise InputError(faults)
    return annotations


def data_of(message: annotations_pb2.AnnotationBatch, /) -> bytes:
    """The bytes of a batch; equal batches have equal bytes."""
    return message.SerializeToString(deterministic=True)


def read_alike_batches(
    messages: Sequence[annotations_pb2.AnnotationBatch],
    data: Sequence[bytes],
    source: str,
    rules: BatchRules,
) -> tuple[Annotations, list[int]]:
    """Check batches as one, at a much lower cost than one by one.

    Args:
        messages: The batches.
        data: Their bytes.
        source: Their name in faults.
        rules: The limits that each must keep.

    Returns:
        The joined batches, and the number of frames of each.

    Raises:
        NotAlikeError: If one of them breaks a rule; `read_batch` tells which rule.
        InputError: Likewise.
    """
    settings, lengths = rules.settings, Lengths(messages)
    columns = join_columns(data, lengths, rules.arity)
    counts = np.asarray(columns.object_counts)
    have_objects = (lengths.of("coordinates") > 0).tolist()
    stated = set(zip(lengths.of("geometry").tolist(), have_objects, strict=True))
    if (
        not all(_fits(geometry, has_objects, rules.arity) for geometry, has_objects in stated)
        or lengths.frames.max(initial=0) > settings.maximum_batch_frames
        or lengths.objects(rules.arity).max(initial=0) > settings.maximum_batch_objects
        or counts.max(initial=0) > settings.maximum_frame_objects
        or lengths.of("sequences").max(initial=0) > settings.maximum_batch_sequences
        or lengths.of("labels").max(initial=0) > settings.maximum_batch_labels
    ):
        raise NotAlikeError
    return build_annotations(columns, source), lengths.frames.tolist()


def read_stored_batch(data: bytes, arity: int) -> Annotations:
    """Read a batch that was checked when it was received, regardless of the present limits.

    Args:
        data: The batch's message, serialized.
        arity: Coordinates that an object has.
    """
    return _as_it_is(annotations_pb2.AnnotationBatch.FromString(data), arity)


def read_own_batch(message: annotations_pb2.AnnotationBatch) -> Annotations:
    """Read a batch that this server has written, in its stated geometry."""
    return _as_it_is(message, ARITY_OF_GEOMETRY[message.geometry])


def _as_it_is(message: annotations_pb2.AnnotationBatch, arity: int) -> Annotations:
    counts = np.asarray(message.frame_object_counts, dtype=np.int64)
    masks = read_masks(message, "store")
    return build_annotations(_columns(message, counts, arity, masks), "store")


def write_batch(annotations: Annotations) -> annotations_pb2.AnnotationBatch:
    """Write annotations as a batch, without columns that hold only their default."""
    message = annotations_pb2.AnnotationBatch(
        labels=() if annotations.labels == ("",) else annotations.labels,
        frame_sequences=annotations.frame_sequences.tolist(),
        frame_numbers=annotations.frame_numbers.tolist(),
        frame_object_counts=annotations.object_counts.tolist(),
        frame_flags=_unless_default(annotations.frame_flags, 0),
        geometry=GEOMETRY_OF_ARITY[annotations.arity],
        coordinates=annotations.coordinates.reshape(-1).tolist(),
        label_indices=_unless_default(annotations.label_indices, 0),
        confidences=_unless_default(annotations.confidences, 1.0),
        track_ids=_unless_default(annotations.track_ids, NO_TRACK),
        object_flags=_unless_default(annotations.flags, 0),
        frame_times_s=(
            () if annotations.frame_times_s is None else annotations.frame_times_s.tolist()
        ),
    )
    for key in annotations.sequences:
        message.sequences.add(domain=key.domain, sequence=key.sequence)
    for name, column in annotations.columns.items():
        message.columns.add(name=name, values=column.tolist())
    if annotations.masks is not None:
        write_masks(annotations.masks, message)
    return message


def _columns(
    message: annotations_pb2.AnnotationBatch, counts: IntArray, arity: int, masks: Masks | None
) -> Columns:
    return Columns(
        arity=arity,
        sequences=[(key.domain, key.sequence) for key in message.sequences],
        frame_sequences=_column(message.frame_sequences, np.int64),
        frame_numbers=_column(message.frame_numbers, np.int64),
        object_counts=counts,
        coordinates=_column(message.coordinates, np.float64),
        labels=tuple(message.labels),
        frame_flags=_column(message.frame_flags, np.int64),
        label_indices=_column(message.label_indices, np.int64),
        confidences=_column(message.confidences, np.float64),
        track_ids=_column(message.track_ids, np.int64),
        object_flags=_column(message.object_flags, np.int64),
        columns={
            column.name: np.asarray(column.values, dtype=np.float64) for column in message.columns
        },
        frame_times_s=_column(message.frame_times_s, np.float64),
        masks=masks,
    )


def _column(values: Sequence[Any], dtype: type) -> ArrayLike:
    """A repeated field as an array; a missing one stays missing."""
    return np.asarray(values, dtype=dtype) if values else ()


def _refuse_too_large(
    message: annotations_pb2.AnnotationBatch, counts: IntArray, settings: Settings
) -> None:
    # Before anything is built: counts alone could demand more memory than there is.
    sizes = (
        (len(counts), "frames", "maximum_batch_frames"),
        (int(counts.sum()), "objects", "maximum_batch_objects"),
        (int(counts.max(initial=0)), "objects in one frame", "maximum_frame_objects"),
        (len(message.sequences), "sequences", "maximum_batch_sequences"),
        (len(message.labels), "labels", "maximum_batch_labels"),
        (len(message.columns), "columns", "maximum_batch_columns"),
    )
    for found, things, limit in sizes:
        settings.check_limit(limit, found, f"a batch with {found} {things}")


def _fits(geometry: annotations_pb2.Geometry, has_objects: bool, arity: int) -> bool:
    """Whether a batch may state a geometry: without objects, any geometry fits."""
    stated = ARITY_OF_GEOMETRY.get(geometry)
    return stated == arity or (stated is not None and not has_objects)


def _geometry_faults(
    message: annotations_pb2.AnnotationBatch, source: str, arity: int
) -> list[Fault]:
    if _fits(message.geometry, bool(message.coordinates), arity):
        return []
    expected = geometry_name(GEOMETRY_OF_ARITY[arity])
    return [
        Fault(
            geometry_name(message.geometry),
            f"{expected}, as the configuration says",
            source=source,
            field="geometry",
        )
    ]


def _name_faults(message: annotations_pb2.AnnotationBatch, source: str) -> list[Fault]:
    """Faults of columns with the name of an earlier column, which they would hide."""
    faults = []
    seen: set[str] = set()
    for row, column in enumerate(message.columns):
        if column.name in seen:
            found = f"the name {column.name[:80]!r} again"
            faults.append(Fault(found, "each name once", source, field=f"columns[{row}].name"))
        seen.add(column.name)
    return faults


def _unless_default(column: AnyArray, default: float) -> list[Any]:
    return [] if (column == default).all() else column.tolist()


# --- Stored batches: checked when they were received
#
# A live system sends one frame per batch. Building columns batch by batch would cost more than
# scoring them, so batches are joined first, and columns built once.

JOINED_AT_ONCE = 4096
JOINED_BYTES = 1 << 24
"""Maximum number of batches, and bytes, that are joined at a time: more would only cost memory."""


def read_stored_batches(batches: Iterable[bytes], arity: int) -> Annotations:
    """All batches as one, with their frames in order.

    Args:
        batches: Serialized messages.
        arity: Coordinates that an object has.
    """
    return concatenate([empty_annotations(arity), *read_stored_runs(batches, arity)])


def read_stored_runs(batches: Iterable[bytes], arity: int) -> Iterator[Annotations]:
    """The same, in runs of as many batches as are joined at a time.

    Args:
        batches: Serialized messages.
        arity: Coordinates that an object has.
    """
    run: list[tuple[bytes, annotations_pb2.AnnotationBatch]] = []
    run_bytes, with_masks = 0, None
    for data in batches:
        message = annotations_pb2.AnnotationBatch.FromString(data)
        if message.columns:  # batches differ in which columns they have
            yield _read_run(run, arity)
            yield read_stored_batch(data, arity)
            run, run_bytes, with_masks = [], 0, None
            continue
        has_masks = bool(message.mask_heights) if message.coordinates else with_masks
        if with_masks not in (None, has_masks):
            yield _read_run(run, arity)
            run, run_bytes = [], 0
        with_masks = has_masks
        run.append((data, message))
        run_bytes += len(data)
        if len(run) == JOINED_AT_ONCE or run_bytes >= JOINED_BYTES:
            yield _read_run(run, arity)
            run, run_bytes, with_masks = [], 0, None
    yield _read_run(run, arity)


def _read_run(run: list[tuple[bytes, annotations_pb2.AnnotationBatch]], arity: int) -> Annotations:
    """Batches without further columns, one after the other."""
    if not run:
        return empty_annotations(arity)
    lengths = Lengths(message for _, message in run)
    return build_annotations(join_columns((data for data, _ in run), lengths, arity), "store")


def stored_sizes(data: bytes, arity: int) -> tuple[int, list[tuple[SequenceKey, int]]]:
    """Number of frames of a stored batch, and the bytes of each of its sequences as columns."""
    message = annotations_pb2.AnnotationBatch.FromString(data)
    frame_count = len(message.frame_numbers)
    frame_bytes = FRAME_BYTES + (NUMBER_BYTES if message.frame_times_s else 0)
    count = len(message.coordinates) // arity
    object_bytes: float = OBJECT_BYTES + NUMBER_BYTES * (arity + len(message.columns))
    object_bytes += mask_memory_bytes(message) / max(count, 1)
    keys = [SequenceKey(key.domain, key.sequence) for key in message.sequences]
    if len(keys) == 1:
        return frame_count, [(keys[0], frame_bytes * frame_count + round(object_bytes * count))]
    rows = np.asarray(message.frame_sequences, dtype=np.int64)
    counts = np.asarray(message.frame_object_counts, dtype=np.int64)
    sizes = np.bincount(rows, frame_bytes + object_bytes * counts, len(keys))
    found = zip(keys, sizes.tolist(), strict=True)
    return frame_count, [(key, int(size)) for key, size in found if size]
