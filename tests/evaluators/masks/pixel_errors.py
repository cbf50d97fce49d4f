"""Mistakes of a detector by kind, and the gain of correcting each, over pixels in plain loops."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tests.evaluators.detection.oracle import Found, average_precision
from tests.evaluators.distances.track_oracle import pixel_iou
from tests.evaluators.masks.pixel_oracle import Frame, frames_of, greedily, labels_of, meets
from tests.evaluators.masks.pixel_worlds import Drawn, World

KINDS = ("poor_localisation", "wrong_class", "duplicate", "false_alarm", "both_wrong")
MISSED = "missed"


@dataclass
class _Class:
    """One class: its objects, and detections unchanged and with each kind corrected."""

    truth: int = 0
    missed: int = 0
    found: list[Found] = field(default_factory=list)
    mended: dict[str, list[Found]] = field(default_factory=lambda: {kind: [] for kind in KINDS})


def mistakes(world: World, threshold: float, background: float) -> dict[str, float | None]:
    """Counts of each kind, AP with all points, and the AP that each kind would gain."""
    classes = {label: _Class() for label in "ab"}
    counts = dict.fromkeys((MISSED, *KINDS), 0)
    for frame in frames_of(world).values():
        _judge(frame, threshold, background, classes, counts)
    gains: dict[str, list[float]] = {kind: [] for kind in (MISSED, *KINDS)}
    precisions = []
    for label in labels_of(world):
        own = classes[label]
        ap = _ap(own.found, own.truth)
        assert ap is not None
        precisions.append(ap)
        by_kind = {kind: _ap(own.mended[kind], own.truth) for kind in KINDS}
        by_kind[MISSED] = _ap(own.found, own.truth - own.missed)
        for kind, mended in by_kind.items():
            if mended is not None:
                gains[kind].append(mended - ap)
    means = {f"ap_gain_{kind}": _mean(values) for kind, values in gains.items()}
    return {"ap": _mean(precisions), **counts, **means}


def _ap(found: list[Found], truth: int) -> float | None:
    value = average_precision(found, truth)
    return None if value is None else float(value)


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _judge(
    frame: Frame,
    threshold: float,
    background: float,
    classes: dict[str, _Class],
    counts: dict[str, int],
) -> None:
    """Add one frame to its classes."""
    matches = greedily(frame, threshold)
    found = {one.partner for one in matches.values() if one.partner is not None}
    wrong = {
        detection: _kind(frame, detection, threshold, background)
        for detection, one in matches.items()
        if one.outcome is False
    }
    pointed_at = {object_ for _, object_ in wrong.values() if object_ is not None}
    for one in frame.real():
        classes[one.label].truth += 1
        if one not in found and one not in pointed_at:
            classes[one.label].missed += 1
            counts[MISSED] += 1
    mended: set[tuple[str, Drawn]] = set()
    for detection in frame.surest_first():
        entry = Found(detection.confidence, matches[detection].outcome)
        kind, meant = wrong.get(detection, ("", None))
        own = classes[detection.label]
        own.found.append(entry)
        for column in KINDS:
            if column != kind:
                own.mended[column].append(entry)
        if kind:
            counts[kind] += 1
        # Corrected, it is the true positive of its target, or it is removed.
        if meant is not None and meant not in found and (kind, meant) not in mended:
            mended.add((kind, meant))
            classes[meant.label].mended[kind].append(Found(detection.confidence, True))


def _kind(
    frame: Frame, detection: Drawn, threshold: float, background: float
) -> tuple[str, Drawn | None]:
    """The kind of a false detection, and the object that it points at."""
    own, own_best = _best(frame.real(detection.label), detection)
    others = [one for one in frame.real() if one.label != detection.label]
    other, other_best = _best(others, detection)
    if meets(own_best, background) and not meets(own_best, threshold):
        return "poor_localisation", own
    if meets(other_best, threshold):
        return "wrong_class", other
    if meets(own_best, threshold):
        return "duplicate", None
    if not meets(max(own_best, other_best), background):
        return "false_alarm", None
    return "both_wrong", None


def _best(objects: list[Drawn], detection: Drawn) -> tuple[Drawn | None, float]:
    """The most similar object, and how similar it is."""
    alike = [(pixel_iou(one.pixels, detection.pixels), index) for index, one in enumerate(objects)]
    if not alike:
        return None, -1.0
    similarity, index = max(alike)
    return objects[index], similarity
