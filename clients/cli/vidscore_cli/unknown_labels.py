"""Refuse detections without any label of their benchmark, before they use a quota."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vidscore_cli.hosted import say_warnings
from vidscore_cli.remote import to_frames
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_client import Client
    from vidscore_evaluators.annotations import Annotations

LABELS_PER_CHECK = 10
"""A check gives more warnings than this, so there is one for each unknown label."""

MAXIMUM_LABELS = 2_000
"""Files with more labels are not checked: they hardly have class names, and it would take long."""

_ADVICE = (
    "write the names of the classes; in coco-json, submit an object with images and categories, "
    "whose annotations are the results; if an evaluator ignores labels, --allow-unknown-labels "
    "submits the file as it is"
)


def refuse_unknown_labels(
    client: Client, benchmark: str, detections: Annotations, path: str
) -> None:
    """Refuse detections if the benchmark has none of their labels.

    They could match nothing, but would use a quota. Only the truth has all labels, and no
    participant has the truth, so the benchmark is asked about one object of each label.

    Args:
        client: The client.
        benchmark: The benchmark.
        detections: The detections.
        path: Where they were read, for the error.

    Raises:
        InputError: If the benchmark tells which labels it has, and none of these is one of them.
    """
    import numpy as np

    from vidscore_evaluators.errors import Fault, InputError

    labels, objects = np.unique(detections.label_indices, return_index=True)
    if not 0 < len(labels) <= MAXIMUM_LABELS:
        return
    doubts: list[str] = []
    for start in range(0, len(labels), LABELS_PER_CHECK):
        rows = np.sort(objects[start : start + LABELS_PER_CHECK])
        frames = np.unique(detections.object_frames[rows])
        found = _doubted(client, benchmark, detections.take_objects(rows).take_frames(frames))
        if len(found) < len(rows):
            return
        doubts += found
    say_warnings(doubts[:LABELS_PER_CHECK])
    example = detections.labels[int(labels[0])]
    shown = f"{counted(len(labels), 'label')}, such as {example!r}"
    raise InputError([Fault(shown, "a label of the benchmark", path, advice=_ADVICE)])


def _doubted(client: Client, benchmark: str, sample: Annotations) -> list[str]:
    """The warnings about the labels of a sample; none if it is refused, as the upload will be."""
    from vidscore_client import VidscoreError

    bare = sample.take_objects(sample.label_indices[:0])
    try:
        given = client.submissions.check(benchmark, [to_frames(sample)]).warnings
        if len(given) < sample.object_count:
            return []  # the usual case: one call
        always = client.submissions.check(benchmark, [to_frames(bare)]).warnings
    except VidscoreError:
        return []
    return [text for text in given if text not in always]
