"""What an organiser should know of truth that is uploaded: what is in it."""

from __future__ import annotations

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


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
