"""What an organiser should know of truth that is uploaded: what is in it, and what is odd."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators.annotations import Annotations

LABELS_SHOWN = 10


def summary_of(truth: Annotations) -> str:
    """Objects, labels, sequences and frames in one line."""
    counts = np.bincount(truth.label_indices, minlength=len(truth.labels)).tolist()
    labels = [(label, count) for label, count in zip(truth.labels, counts, strict=False) if count]
    labels.sort(key=lambda entry: (-entry[1], entry[0]))
    shown = [f"{label} {count}" for label, count in labels[:LABELS_SHOWN] if label]
    more = [f"{len(labels) - LABELS_SHOWN} more"] if len(labels) > LABELS_SHOWN else []
    named = f" ({', '.join([*shown, *more])})" if shown else ""
    sequences = len(np.unique(truth.frame_sequences))
    parts = [
        f"{_counted(truth.object_count, 'object')}{named}",
        _counted(sequences, "sequence"),
        _counted(truth.frame_count, "frame"),
    ]
    return ", ".join(parts)


def doubts_of_truth(truth: Annotations) -> Iterator[str]:
    """What makes it look as if something else was uploaded."""
    unsure = int((truth.confidences < 1.0).sum())
    if unsure:
        yield (
            f"{_counted(unsure, 'object')} of the ground truth "
            f"{'has' if unsure == 1 else 'have'} a confidence below 1: are these detections? "
            "Another upload takes their place"
        )
    if not truth.object_count:
        yield "the ground truth has no object at all"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
