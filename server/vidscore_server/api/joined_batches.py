"""Join many batches into the columns of one, without a Python object per value.

By the rules of protobuf, concatenated messages are one message with joined repeated fields. It
remains to fill columns that some batches leave out, and to map the indices of each batch, which
refer to its own tables, to one table.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.validation import Columns
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.mask_columns import MASK_COLUMNS, read_masks, runs_belong
from vidscore_server.domain.batches import NotAlikeError

_FRAME_COLUMNS = ("frame_numbers", "frame_sequences", "frame_object_counts")
_OPTIONAL_FRAME_COLUMNS = {"frame_flags": 0, "frame_times_s": np.nan}
_OPTIONAL_OBJECT_COLUMNS = {
    "label_indices": 0,
    "confidences": 1.0,
    "track_ids": NO_TRACK,
    "object_flags": 0,
}


class Lengths:
    """Lengths of the fields of batches.

    Attributes:
        count: Number of batches.
    """

    def __init__(self, messages: Iterable[annotations_pb2.AnnotationBatch]) -> None:
        table = np.array([_lengths_of(message) for message in messages], dtype=np.int64)
        self._columns = dict(zip(_MEASURED, table.reshape(-1, len(_MEASURED)).T, strict=True))
        self.count = len(table)

    def of(self, field: str) -> IntArray:
        """(B,) length of a repeated field in each batch, or the geometry."""
        return self._columns[field]

    @property
    def frames(self) -> IntArray:
        """(B,) number of frames of each batch."""
        return self.of("frame_numbers")

    def objects(self, arity: int) -> IntArray:
        """(B,) number of objects of each batch."""
        return self.of("coordinates") // arity

    @property
    def have_masks(self) -> bool:
        """Whether any batch has a mask."""
        return bool(self.of("mask_heights").any() or self.of("mask_runs").any())

    def refuse_unlike(self, arity: int) -> None:
        """Check that the columns of each batch fit together.

        Args:
            arity: Coordinates that an object has.

        Raises:
            NotAlikeError: If a batch has columns that do not fit, or additional ones, which may
                differ between batches.
        """
        frames, objects = self.frames, self.objects(arity)
        unlike = (self.of("coordinates") % arity != 0) | (self.of("columns") != 0)
        for name in _FRAME_COLUMNS:
            unlike |= self.of(name) != frames
        for name in _OPTIONAL_FRAME_COLUMNS:
            unlike |= (self.of(name) != frames) & (self.of(name) != 0)
        for name in _OPTIONAL_OBJECT_COLUMNS:
            unlike |= (self.of(name) != objects) & (self.of(name) != 0)
        if self.have_masks:  # then every batch has one value per object
            for name in MASK_COLUMNS:
                unlike |= self.of(name) != objects
        if unlike.any():
            raise NotAlikeError


_MEASURED = (
    "sequences", "labels", *_FRAME_COLUMNS, "frame_flags", "coordinates", "label_indices",
    "confidences", "track_ids", "object_flags", "columns", "geometry", "frame_times_s",
    *MASK_COLUMNS, "mask_runs",
)  # fmt: skip


def _lengths_of(message: annotations_pb2.AnnotationBatch) -> tuple[int, ...]:
    # Inlined, because it runs for every batch of a live stream.
    return (
        len(message.sequences),
        len(message.labels),
        len(message.frame_numbers),
        len(message.frame_sequences),
        len(message.frame_object_counts),
        len(message.frame_flags),
        len(message.coordinates),
        len(message.label_indices),
        len(message.confidences),
        len(message.track_ids),
        len(message.object_flags),
        len(message.columns),
        message.geometry,
        len(message.frame_times_s),
        len(message.mask_heights),
        len(message.mask_widths),
        len(message.mask_run_counts),
        len(message.mask_runs),
    )


def join_columns(data: Iterable[bytes], lengths: Lengths, arity: int) -> Columns:
    """The joined columns of batches; their values are not checked.

    Args:
        data: The batches' messages, serialized.
        lengths: Their lengths.
        arity: Coordinates that an object has.

    Raises:
        NotAlikeError: If a batch is inconsistent: its columns have different lengths, a table
            repeats a name, or an index is outside its table.
        InputError: If a mask is invalid.
    """
    lengths.refuse_unlike(arity)
    message = annotations_pb2.AnnotationBatch.FromString(b"".join(data))
    frames, objects = lengths.frames, lengths.objects(arity)
    batches = np.arange(lengths.count)
    counts = np.asarray(message.frame_object_counts, dtype=np.int64)
    ends = np.concatenate(([0], np.cumsum(counts)))[np.cumsum(frames)]
    if (np.diff(ends, prepend=0) != objects).any():
        raise NotAlikeError
    if lengths.have_masks and not runs_belong(message, objects, lengths.of("mask_runs")):
        raise NotAlikeError
    sequences = _Table(_sequences(message), lengths.of("sequences"))
    labels = _Table(_labels(message, lengths.of("labels")), np.maximum(lengths.of("labels"), 1))
    filled = {
        name: _filled(message, name, default, lengths.of(name), sizes)
        for defaults, sizes in (
            (_OPTIONAL_FRAME_COLUMNS, frames),
            (_OPTIONAL_OBJECT_COLUMNS, objects),
        )
        for name, default in defaults.items()
        # Rows are mapped to the joined table, even if every batch leaves the indices out.
        if name == "label_indices" or lengths.of(name).any()
    }
    local = np.asarray(message.frame_sequences, dtype=np.int64)
    filled["label_indices"] = labels.rows_of(filled["label_indices"], np.repeat(batches, objects))
    return Columns(
        arity=arity,
        sequences=sequences.names,
        labels=labels.names,
        frame_sequences=sequences.rows_of(local, np.repeat(batches, frames)),
        frame_numbers=np.asarray(message.frame_numbers, dtype=np.int64),
        object_counts=counts,
        coordinates=np.asarray(message.coordinates, dtype=np.float64),
        masks=read_masks(message, "masks"),
        **filled,
    )


class _Table:
    """Tables of names of some batches, joined into one."""

    def __init__(self, entries: Iterable[Hashable], lengths: IntArray) -> None:
        known: dict[Any, int] = {}
        self._rows = np.array(
            [known.setdefault(entry, len(known)) for entry in entries], dtype=np.int64
        )
        self.names = tuple(known)
        self._lengths = lengths
        self._starts = np.cumsum(lengths) - lengths
        if lengths.max(initial=0) > 1:
            owners = np.repeat(np.arange(len(lengths)), lengths)
            if len(np.unique(owners * len(known) + self._rows)) != len(self._rows):
                raise NotAlikeError  # a batch repeats a name

    def rows_of(self, local: IntArray, owners: IntArray) -> IntArray:
        """Rows of the joined table, for rows of the owners' tables."""
        if (local >= self._lengths[owners]).any():
            raise NotAlikeError
        rows: IntArray = self._rows[self._starts[owners] + local]
        return rows


def _sequences(message: annotations_pb2.AnnotationBatch) -> Iterator[tuple[str, str]]:
    return ((key.domain, key.sequence) for key in message.sequences)


def _labels(message: annotations_pb2.AnnotationBatch, lengths: IntArray) -> Iterator[str]:
    """The labels of each batch; the empty label if it has none."""
    labels = iter(message.labels)
    for length in lengths.tolist():
        yield from islice(labels, length) if length else ("",)


def _filled(
    message: annotations_pb2.AnnotationBatch,
    name: str,
    default: float,
    given: IntArray,
    wanted: IntArray,
) -> Any:
    """A joined column, with the default for batches that leave it out."""
    dtype = np.array(default).dtype
    values = np.asarray(getattr(message, name), dtype=dtype)
    if np.array_equal(given, wanted):
        return values
    column = np.full(int(wanted.sum()), default, dtype=dtype)
    column[np.repeat(given > 0, wanted)] = values
    return column
