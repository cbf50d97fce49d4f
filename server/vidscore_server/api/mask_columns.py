"""Convert the masks of a batch from and to the four columns of an AnnotationBatch."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.mask_forms import masks_from_runs
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.names import counted
from vidscore_protos.v1 import annotations_pb2

MASK_COLUMNS = ("mask_heights", "mask_widths", "mask_run_counts")
"""Columns with one number per object."""

MASK_BYTES = 24
RUN_BYTES = 4
"""Bytes of a mask without its runs, and of a run."""

_FIELDS = {"size": "mask_heights", "counts": "mask_run_counts", "masks": "mask_heights"}


def mask_memory_bytes(message: annotations_pb2.AnnotationBatch) -> int:
    """Size of the masks of a batch as columns, in bytes."""
    return MASK_BYTES * len(message.mask_heights) + RUN_BYTES * len(message.mask_runs)


def read_masks(message: annotations_pb2.AnnotationBatch, source: str) -> Masks | None:
    """Read the masks of a batch and check each; None if there are none.

    Args:
        message: The batch.
        source: Path of the batch in its request, such as ``truth``.

    Raises:
        InputError: With every fault.
    """
    if not (message.mask_runs or any(getattr(message, name) for name in MASK_COLUMNS)):
        return None
    heights, widths, run_counts = (
        np.asarray(getattr(message, name), dtype=np.int64) for name in MASK_COLUMNS
    )
    run_count = int(run_counts.sum())
    wanted = {
        "mask_widths": (len(widths), len(heights)),
        "mask_run_counts": (len(run_counts), len(heights)),
        "mask_runs": (len(message.mask_runs), run_count),
    }
    faults = [
        Fault(counted(found, "value"), counted(expected, "value"), source, field=name)
        for name, (found, expected) in wanted.items()
        if found != expected
    ]
    if faults:
        raise InputError(faults)
    runs = np.asarray(message.mask_runs, dtype=np.int64)
    try:
        return masks_from_runs(runs, run_counts, np.stack([heights, widths], axis=1))
    except InputError as error:
        named = on_the_wire(error)
        raise InputError([replace(fault, source=source) for fault in named.faults]) from None


def on_the_wire(error: InputError) -> InputError:
    """Faults of masks, with the names of the fields on the wire."""
    return InputError(
        [
            replace(fault, field=_FIELDS.get(fault.field or "", fault.field))
            for fault in error.faults
        ]
    )


def write_masks(masks: Masks, message: annotations_pb2.AnnotationBatch) -> None:
    """Write masks into a batch."""
    message.mask_heights.extend(masks.sizes[:, 0].tolist())
    message.mask_widths.extend(masks.sizes[:, 1].tolist())
    message.mask_run_counts.extend(np.diff(masks.starts).tolist())
    message.mask_runs.extend(masks.runs.tolist())


def runs_belong(message: annotations_pb2.AnnotationBatch, masks: IntArray, runs: IntArray) -> bool:
    """Whether each of the joined batches has as many runs as its masks need.

    Args:
        message: The batches as one.
        masks: (B,) number of masks of each batch.
        runs: (B,) number of runs of each batch.
    """
    run_counts = np.asarray(message.mask_run_counts, dtype=np.int64)
    ends = np.concatenate(([0], np.cumsum(run_counts)))[np.cumsum(masks)]
    return np.array_equal(np.diff(ends, prepend=0), runs)
