"""A minimal evaluator, for tests of the code around evaluators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import (
    Evaluator,
    Growth,
    Measure,
    Needs,
    Task,
    Unit,
    count_measure,
)
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Block, Scores
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

SCHEMA = TableSchema(("domain", "sequence"), counts=("frames", "objects"), sums=("x",))


@dataclass(frozen=True)
class ToyParameters:
    """Parameters of `Toy`."""

    limit: float = parameter(100.0, "The greatest x that is allowed.", grid=(1.0, 100.0))
    whole: bool = parameter(False, "Whether only whole sequences can be tallied.")


class Toy(Evaluator[ToyParameters]):
    """Counts frames of the truth and detections in them, and adds up the x of detections."""

    name = "toy"
    version = "1"
    title = "A toy"
    task = Task.DETECTION
    Parameters = ToyParameters
    measures: ClassVar[tuple[Measure, ...]] = (
        count_measure("frames", "Frames."),
        count_measure("objects", "Detections in frames of the truth."),
        Measure("x", "Sum of x.", unit="px", minimum=None, maximum=None),
    )
    ranking: ClassVar[tuple[str, ...]] = ("x",)
    needs = Needs((2, 4), (2, 4), confidences=True)

    @property
    def unit(self) -> Unit:
        """Frames, unless the parameter says otherwise."""
        return Unit.SEQUENCE if self.parameters.whole else Unit.FRAME

    @property
    def growth(self) -> Growth:
        """Two texts, two counts and a sum per sequence."""
        return Growth("sequence", 4 * 8 + 64)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """A row for each frame of the truth, with its detections."""
        aligned = aligned.take_frames(aligned.listed)
        detections = aligned.detections
        keys = detections.sequences
        rows = np.concatenate([np.arange(detections.frame_count), detections.object_frames])
        is_frame = np.arange(len(rows)) < detections.frame_count
        sequences = detections.frame_sequences[rows]
        x = np.concatenate([np.zeros(detections.frame_count), detections.coordinates[:, 0]])
        table = build_table(
            SCHEMA,
            [*(key.domain for key in keys), *(key.sequence for key in keys)],
            [sequences, sequences + len(keys)],
            counts=[is_frame, ~is_frame],
            sums=[x],
        )
        return {"all": table}

    def scores(self, tally: Tally) -> Scores:
        """Totals, and a row for each sequence."""
        table = tally.tables["all"]
        values = {
            "frames": table.count("frames").tolist(),
            "objects": table.count("objects").tolist(),
            "x": [value / 2**1074 for value in table.exact("x")],
        }
        whole = {name: [sum(column)] for name, column in values.items() if name != "x"}
        total = sum(table.exact("x")) / 2**1074 if table.row_count else None
        blocks = [Block(whole | {"x": [total]})]
        if table.row_count:
            blocks.append(Block(values, table.texts("domain"), (None,), table.texts("sequence")))
        return Scores(tuple(blocks))

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """Frames with an x over the limit."""
        return list(self._over_the_limit(side, annotations))

    def _over_the_limit(self, side: Side, annotations: Annotations) -> Iterator[Fault]:
        over = annotations.coordinates[:, 0] > self.parameters.limit
        for frame in np.unique(annotations.object_frames[over]).tolist():
            expected = f"at most {self.parameters.limit:g}"
            yield Fault("a large x", expected, source=side.value, entry=frame)


def toy(**parameters: float | bool) -> Toy:
    """A toy with some parameters."""
    return Toy(ToyParameters(**parameters))  # type: ignore[arg-type]  # a test passes what fits
