"""Batches out of the store, many at once: they were checked when they came.

A live system sends a frame a batch. Building columns batch by batch would cost more than scoring
them, so batches are joined first, and columns built once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vidscore_evaluators.annotations import Annotations, concatenate, empty_annotations
from vidscore_evaluators.validation import build_annotations
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.codec.annotations_codec import read_stored_batch
from vidscore_server.codec.joined_batches import Lengths, join_columns

JOINED_AT_ONCE = 4096
JOINED_BYTES = 1 << 24
"""Batches, and bytes of them, that are joined at a time: more would only take more memory."""


def read_stored_batches(batches: Iterable[bytes], arity: int) -> Annotations:
    """All batches as one, their frames in the order in which they come.

    Args:
        batches: Serialized messages.
        arity: Coordinates that an object has.
    """
    return concatenate([empty_annotations(arity), *read_stored_runs(batches, arity)])


def read_stored_runs(batches: Iterable[bytes], arity: int) -> Iterator[Annotations]:
    """The same, as many batches at a time as are joined.

    Args:
        batches: Serialized messages.
        arity: Coordinates that an object has.
    """
    run: list[tuple[bytes, annotations_pb2.AnnotationBatch]] = []
    run_bytes = 0
    for data in batches:
        message = annotations_pb2.AnnotationBatch.FromString(data)
        if message.columns:  # which columns there are differs from batch to batch
            yield _read_run(run, arity)
            yield read_stored_batch(data, arity)
            run, run_bytes = [], 0
            continue
        run.append((data, message))
        run_bytes += len(data)
        if len(run) == JOINED_AT_ONCE or run_bytes >= JOINED_BYTES:
            yield _read_run(run, arity)
            run, run_bytes = [], 0
    yield _read_run(run, arity)


def _read_run(run: list[tuple[bytes, annotations_pb2.AnnotationBatch]], arity: int) -> Annotations:
    """Batches without further columns, one after the other."""
    if not run:
        return empty_annotations(arity)
    lengths = Lengths(message for _, message in run)
    return build_annotations(join_columns((data for data, _ in run), lengths, arity), "store")
