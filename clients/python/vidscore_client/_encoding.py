"""Encode this package's types, and names typed by people, as messages of the wire."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from google.protobuf.message import Message

from vidscore_client._outbox import Batch
from vidscore_client._specification import Specification, encode_geometry, encode_specification
from vidscore_client.errors import InputError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import (
    GEOMETRY_OF_ARITY,
    FloatArray,
    Frames,
    Geometry,
    IntArray,
    parse_string,
)
from vidscore_client.settings import Live
from vidscore_protos.dictionaries import GEOMETRIES
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2

DEFAULT_STREAM = "default"
SECRET_PREFIX = "vidscore_"  # noqa: S105 - how all of them begin


def benchmark_name(benchmark: str) -> str:
    """``benchmarks/{benchmark}``, from the full name or its last part.

    Raises:
        InputError: If it is neither.
    """
    return f"benchmarks/{_parts('benchmark', benchmark, ('benchmarks',))[0]}"


def submission_name(submission: str) -> str:
    """``benchmarks/{b}/submissions/{s}``, from the full name or ``{b}/{s}``.

    Raises:
        InputError: If it is neither.
    """
    benchmark, own = _parts("submission", submission, ("benchmarks", "submissions"))
    return f"benchmarks/{benchmark}/submissions/{own}"


def submission_names(submissions: Iterable[str]) -> list[str]:
    """Names of several submissions.

    Raises:
        InputError: If they are one string, or one is not a name.
    """
    if isinstance(submissions, str):
        raise InputError("submissions", "a string", "a list of names")
    return [submission_name(submission) for submission in submissions]


def token_name(token: str) -> str:
    """``tokens/{token}``, from the full name or its last part.

    Raises:
        InputError: If it is neither; a secret is not sent, and not repeated either.
    """
    return resource_name("token", token, "tokens")


def resource_name(argument: str, name: str, collection: str) -> str:
    """``{collection}/{name}``, from the full name or its last part.

    Args:
        argument: Name of the argument, for errors.
        name: The name.
        collection: Its collection, such as ``invitations``.

    Raises:
        InputError: If it is neither; a secret is not sent, and not repeated either.
    """
    if parse_string(argument, name).strip().rpartition("/")[2].startswith(SECRET_PREFIX):
        raise InputError(argument, "a secret", f"the {argument}'s name, not its secret")
    return f"{collection}/{_parts(argument, name, (collection,))[0]}"


def _parts(argument: str, name: str, collections: tuple[str, ...]) -> list[str]:
    parts = parse_string(argument, name).split("/")
    if len(parts) == 2 * len(collections) and tuple(parts[::2]) == collections:
        parts = parts[1::2]
    if len(parts) != len(collections) or not all(parts):
        shown = "/".join("{" + word.removesuffix("s") + "}" for word in collections)
        raise InputError(argument, repr(name)[:80], f"a name like {shown}")
    return parts


_LENGTH_DELIMITED = 2


def encode_configuration(
    evaluators: Sequence[EvaluatorChoice],
    specification: Specification | None,
    truth_geometry: Geometry,
    detection_geometry: Geometry,
    live: Live | None,
) -> scoring_service_pb2.ScoreConfiguration:
    """The first message of a scoring stream.

    Raises:
        InputError: If an argument cannot be put into it.
    """
    message = scoring_service_pb2.ScoreConfiguration(
        specification=encode_specification(evaluators, specification),
        truth_geometry=encode_geometry("truth_geometry", truth_geometry),
        detection_geometry=encode_geometry("detection_geometry", detection_geometry),
    )
    if live is not None:
        message.live_reporting.frame_interval = live.every_frames
        message.live_reporting.summary_only = live.summary_only
        if live.every_s is not None:
            message.live_reporting.time_interval.FromNanoseconds(round(live.every_s * 1e9))
    return message


def encode_batch(batch: Batch) -> scoring_service_pb2.ScoreRequest:
    """The message that carries a batch."""
    message = encode_frames(batch.frames)
    if batch.side == "truth":
        return scoring_service_pb2.ScoreRequest(truth=message)
    return scoring_service_pb2.ScoreRequest(detections=message)


def checksum(batch: annotations_pb2.AnnotationBatch) -> int:
    """CRC-32 of a batch's bytes, with which the server detects damage on the way.

    A message without maps always has the same bytes, alone and within another.
    """
    return zlib.crc32(batch.SerializeToString())


def encode_frames(frames: Frames) -> annotations_pb2.AnnotationBatch:
    """Columns as a message: only used names, and no columns of defaults only."""
    sequences, frame_sequences = _used(frames.sequences, frames.frame_sequences)
    labels, label_indices = _used_labels(frames)
    message = annotations_pb2.AnnotationBatch(
        sequences=[
            annotations_pb2.SequenceKey(domain=domain, sequence=sequence)
            for domain, sequence in sequences
        ],
        labels=labels,
        frame_sequences=frame_sequences.tolist(),
        frame_numbers=frames.frame_numbers.tolist(),
        frame_object_counts=np.diff(frames.frame_starts).tolist(),
        frame_flags=_unless_default(frames.frame_flags, 0),
        geometry=GEOMETRIES[GEOMETRY_OF_ARITY[frames.arity]],
        label_indices=_unless_default(label_indices, 0),
        track_ids=_unless_default(frames.track_ids, -1),
        object_flags=_unless_default(frames.flags, 0),
    )
    _set_packed(message, "coordinates", frames.coordinates)
    if frames.confidences is not None and np.any(frames.confidences != 1.0):
        _set_packed(message, "confidences", frames.confidences)
    for name, values in frames.columns.items():
        _set_packed(message.columns.add(name=name), "values", values)
    if frames.frame_times_s is not None:
        _set_packed(message, "frame_times_s", frames.frame_times_s)
    if frames.masks is not None:
        message.mask_heights.extend(frames.masks.sizes[:, 0].tolist())
        message.mask_widths.extend(frames.masks.sizes[:, 1].tolist())
        message.mask_run_counts.extend(np.diff(frames.masks.starts).tolist())
        message.mask_runs.extend(frames.masks.runs.tolist())
    return message


def _used(table: Sequence[Any], indices: IntArray) -> tuple[list[Any], IntArray]:
    """The used entries of a table, and the indices into them."""
    used, rows = np.unique(indices, return_inverse=True)
    return [table[row] for row in used.tolist()], rows


def _used_labels(frames: Frames) -> tuple[list[str], IntArray | None]:
    if frames.label_indices is None:
        return [str(label) for label in frames.labels[:1]], None
    if not frames.labels:
        return [], None
    return _used(frames.labels, frames.label_indices)


def _unless_default(column: IntArray | None, default: int) -> list[int]:
    if column is None or not np.any(column != default):
        return []
    values: list[int] = column.tolist()
    return values


def _set_packed(message: Message, name: str, values: FloatArray) -> None:
    """Set a repeated double from an array, without an object per number.

    A packed repeated field is a tag, a length in bytes and the numbers, little-endian
    ("Encoding", Protocol Buffers documentation, section "Packed Repeated Fields").
    """
    if values.size == 0:
        return
    payload = np.ascontiguousarray(values, dtype="<f8").tobytes()
    tag = message.DESCRIPTOR.fields_by_name[name].number << 3 | _LENGTH_DELIMITED
    message.MergeFromString(_varint(tag) + _varint(len(payload)) + payload)


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)
