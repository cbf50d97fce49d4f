"""Fuzz target that reads batches of the wire: alone, joined, and back out of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from google.protobuf.message import DecodeError
from tests.campaigns.fuzzing.documents import of_message
from tests.campaigns.fuzzing.scenes import sample_sides
from tests.campaigns.fuzzing.targets import MESSAGES, Target
from tests.campaigns.fuzzing.trees import LONE, Tree

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import VidscoreError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.batches import (
    ARITY_OF_GEOMETRY,
    data_of,
    read_alike_batches,
    read_batch,
    read_stored_batch,
    write_batch,
)
from vidscore_server.domain.batches import BatchRules, NotAlikeError
from vidscore_server.settings import Settings

_LIMITS = Settings()


def _batch_seeds() -> Iterator[Tree]:
    for sides in sample_sides():
        for side in sides:
            yield {LONE: data_of(write_batch(side))}


def _read_batch(files: Tree, folder: Path) -> None:
    """A batch reads the same alone, with another one, and out of the store."""
    del folder
    for data in files.values():
        try:
            message = annotations_pb2.AnnotationBatch.FromString(data)
        except DecodeError:
            return
        arity = ARITY_OF_GEOMETRY.get(message.geometry, 4)
        rules = BatchRules(arity, _LIMITS)
        joined = _joined(message, rules)
        try:
            found = read_batch(message, "batch", rules)
        except VidscoreError:
            assert joined is None, "refused alone, and accepted with another one"
            raise
        expected = fingerprint(found)
        assert fingerprint(read_stored_batch(data_of(message), arity)) == expected
        again = read_batch(write_batch(found), "batch", rules)
        assert fingerprint(again) == expected, "what is written is another batch"
        assert joined is None or fingerprint(joined) == expected


def _joined(message: annotations_pb2.AnnotationBatch, rules: BatchRules) -> Annotations | None:
    """The frames of the batch when it is read together with an empty one; None if it is refused."""
    both = [message, annotations_pb2.AnnotationBatch(geometry=message.geometry)]
    try:
        found, counts = read_alike_batches(both, [*map(data_of, both)], "joined", rules)
    except (NotAlikeError, VidscoreError):
        return None
    assert counts == [found.frame_count, 0]
    return found


TARGETS = (
    Target(
        "append-batch",
        MESSAGES,
        seeds=_batch_seeds,
        changes={"": of_message(annotations_pb2.AnnotationBatch)},
        read=_read_batch,
    ),
)
