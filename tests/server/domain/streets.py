"""Boxes with labels, scored by f1, for tests of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.server.scene import batch

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, specification_pb2

BOX = (10.0, 10.0, 30.0, 30.0)


def streets(
    labels: Iterable[str] | None = None, sequences: Mapping[str, int | None] | None = None
) -> benchmark_pb2.Benchmark:
    """A benchmark of boxes, with the step of a large truth.

    Args:
        labels: Labels that the specification lists; None for none.
        sequences: Sequences that it lists, each with its number of frames.
    """
    specification = specification_pb2.BenchmarkSpec(
        title="Streets", evaluators=[specification_pb2.EvaluatorSpec(name="f1")]
    )
    if labels is not None:
        listed = specification_pb2.ClassList(names=labels)
        specification.domains.append(specification_pb2.DomainSpec(name="", classes=listed))
    for name, frame_count in (sequences or {}).items():
        specification.sequences.add(name=name, frame_count=frame_count)
    return benchmark_pb2.Benchmark(
        specification=specification,
        truth_geometry=annotations_pb2.GEOMETRY_BOX,
        detection_geometry=annotations_pb2.GEOMETRY_BOX,
        policy=benchmark_pb2.Policy(ladder_step=0.01),
    )


def things(
    labels: Mapping[int, Iterable[str]], sequence: str = "street"
) -> annotations_pb2.AnnotationBatch:
    """Frames of a sequence, each with one box per label, all in the same place."""
    rows = {number: list(names) for number, names in labels.items()}
    frames = ((("", sequence), number, [BOX] * len(names)) for number, names in rows.items())
    table = [label for names in rows.values() for label in names]
    return batch(frames, table, annotations_pb2.GEOMETRY_BOX)
