"""An upload of truth: check, count and store its batches as they arrive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

import numpy as np
from msgspec import Struct, field

from vidscore_evaluators.alignment import restrict
from vidscore_evaluators.annotations import Annotations, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.fingerprint import Fingerprint, fingerprint
from vidscore_server.domain.batches import (
    frame_names,
    name_faults,
    pack,
    repeated_frames,
    rule_faults,
)
from vidscore_server.domain.definition import Definition
from vidscore_server.settings import Settings
from vidscore_server.store.records import FrameName

FIELD = "truth"

SPOOLED_BYTES = 1 << 20
"""Bytes of an upload that are held in memory until its end; more are held in a file."""


class UploadPlan(Struct, frozen=True):
    """The plan of an upload of truth.

    Attributes:
        benchmark: The benchmark.
        merge: Whether its frames are added to the newest revision's.
        complete: Whether the truth is complete with this upload.
        comment: Reason for the new revision.
    """

    benchmark: str
    merge: bool
    complete: bool
    comment: str


class Contents(Struct, frozen=True):
    """Counts of the objects and labels of truth.

    Attributes:
        judged: Number of judged objects, for each sequence with frames.
        objects: Number of all objects.
        labels: Labels in use.
    """

    judged: Counter[SequenceKey] = field(default_factory=Counter)
    objects: int = 0
    labels: frozenset[str] = frozenset()

    def __add__(self, other: Contents) -> Contents:
        """The sum of both."""
        judged = self.judged.copy()
        judged.update(other.judged)  # unlike +, this keeps sequences without objects
        return Contents(judged, self.objects + other.objects, self.labels | other.labels)


class Spool:
    """Batches in their stored form; many are held in a file."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115 - it ends with the upload
        self._sizes: list[int] = []
        self.held_bytes = 0

    def append(self, payload: bytes) -> None:
        """Add a batch."""
        self._file.write(payload)
        self._sizes.append(len(payload))
        self.held_bytes += len(payload)

    def __iter__(self) -> Iterator[bytes]:
        """All batches from the first on; may be called repeatedly."""
        self._file.seek(0)
        return map(self._file.read, self._sizes)

    def close(self) -> None:
        """Discard all batches."""
        self._file.close()


class TruthUpload:
    """Frames of truth that are received for a revision.

    Args:
        definition: The benchmark.
        settings: The server's limits.

    Attributes:
        definition: The benchmark.
        arity: Coordinates per object; None if not known yet.
        frames: Received frames.
        payloads: Received batches in their stored form.
        digest: Fingerprint of everything received.
        contents: Counts of the received objects and labels.
    """

    def __init__(self, definition: Definition, settings: Settings) -> None:
        self.definition = definition
        self._settings = settings
        self.frames: set[FrameName] = set()
        self.payloads = Spool()
        self.digest = Fingerprint()
        self.arity = definition.truth_arity
        self.contents = Contents()

    def arity_for(self, arity: int | None, geometry: str) -> int:
        """Coordinates per object of the next batch; the first batch may settle them.

        Args:
            arity: Coordinates of its geometry; None if this version does not know it.
            geometry: The geometry's name.

        Raises:
            InputError: If the shape of its objects is unknown, or does not fit the benchmark.
        """
        if self.arity:
            return self.arity
        if arity is None:
            fault = Fault(geometry, "the shape of its objects", FIELD, field="geometry")
            raise InputError([fault])
        self.definition.with_truth_of(arity)
        return arity

    def add(self, batch: Annotations, data: bytes) -> None:
        """Add a batch.

        Args:
            batch: The batch, with as many coordinates per object as `arity_for` says.
            data: Its bytes, as they are stored.

        Raises:
            LimitError: If the truth becomes larger than allowed.
            InputError: With every fault.
        """
        names = frame_names(batch)
        faults = [
            *name_faults(batch, FIELD),
            *rule_faults(self.definition.evaluators, Side.TRUTH, batch, FIELD),
            *repeated_frames(names, self.frames, FIELD),
        ]
        if faults:
            raise InputError(faults)
        restrict(self.definition.specification, batch)  # refuses frames outside a video
        payload, _ = pack(data)
        self.frames.update(names)
        self.payloads.append(payload)
        for found, what, limit in (
            (len(self.frames), "frames of truth", "maximum_frames"),
            (self.payloads.held_bytes, "bytes of truth, compressed", "maximum_buffered_bytes"),
        ):
            self._settings.check_limit(limit, found, f"{found} {what}")
        self.arity = batch.arity
        self.digest += fingerprint(batch)
        self.contents += contents_of(batch)

    def close(self) -> None:
        """Release the received batches."""
        self.payloads.close()


def contents_of(truth: Annotations) -> Contents:
    """The contents of truth, or of a part of it."""
    judged = (truth.flags & (ObjectFlag.IGNORE | ObjectFlag.REGION)) == 0
    rows = truth.frame_sequences[truth.object_frames[judged]]
    counts = np.bincount(rows, minlength=len(truth.sequences))
    there = np.unique(truth.frame_sequences).tolist()
    return Contents(
        Counter({truth.sequences[row]: int(counts[row]) for row in there}),
        truth.object_count,
        frozenset(truth.labels[row] for row in np.unique(truth.label_indices).tolist()),
    )
