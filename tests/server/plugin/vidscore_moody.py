"""moody: an evaluator that counts frames and objects, and misbehaves as its parameters say.

Its scores are meaningless; with it, tests of the server can be slow, fail and die in a worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import (
    Direction,
    Evaluator,
    Growth,
    Needs,
    Task,
    Unit,
    count_measure,
)
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Block, Curve, ReportWarning, Scores
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

_SCHEMA = TableSchema(texts=("sequence",), counts=("frames", "objects", "detections"))
FORBIDDEN_NUMBER = 666


@dataclass(frozen=True)
class MoodyParameters:
    """Parameters of `Moody`."""

    mood: Literal[
        "calm", "slow", "crash", "crash_once", "error", "exit", "input_error", "chatty"
    ] = parameter("calm", "What it does when it gets frames.")
    when_scoring: bool = parameter(False, "Whether it does so when it computes scores instead.")
    when_checking: bool = parameter(False, "Whether it does so when it checks frames instead.")
    delay_s: float = parameter(0.0, "How long it is slow.", unit="s", minimum=0.0, maximum=60.0)
    marker: str = parameter("", "File that says that it was at work.")
    whole_sequences: bool = parameter(False, "Whether it needs whole sequences.")
    rows: int = parameter(0, "Rows of its tally beside those of sequences.", minimum=0)


class Moody(Evaluator[MoodyParameters]):
    """Counts, and misbehaves as told."""

    name = "moody"
    version = "1"
    title = "Counts, in its mood"
    task = Task.DETECTION
    Parameters = MoodyParameters
    measures = (
        count_measure("frames", "Frames."),
        count_measure("objects", "Objects.", Direction.LOWER),
        count_measure("detections", "Detections."),
    )
    ranking = ("objects",)
    needs = Needs(truth_arities=(2,), detection_arities=(2,), confidences=True)

    @property
    def unit(self) -> Unit:
        """As the parameter says."""
        return Unit.SEQUENCE if self.parameters.whole_sequences else Unit.FRAME

    @property
    def growth(self) -> Growth:
        """One row per sequence."""
        return Growth("sequence", 32)

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """Forbid one frame number."""
        del side
        if self.parameters.when_checking:
            self._act()
        forbidden = np.flatnonzero(annotations.frame_numbers == FORBIDDEN_NUMBER)
        return [Fault("a forbidden frame", "another", entry=row) for row in forbidden.tolist()]

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Count frames and objects."""
        when = self.parameters
        if len(aligned.listed) and not (when.when_scoring or when.when_checking):
            self._act()
        truth = aligned.truth
        names = [key.sequence for key in truth.sequences]
        listed = aligned.listed
        counts = [
            listed.astype(np.int64),
            np.where(listed, truth.object_counts, 0),
            np.where(listed, aligned.detections.object_counts, 0),
        ]
        extra = self.parameters.rows if len(listed) else 0
        names.extend(f"extra {index}" for index in range(extra))
        rows = np.arange(len(truth.sequences), len(names), dtype=np.int64)
        codes = np.concatenate([truth.frame_sequences, rows])
        zeros = np.zeros(extra, dtype=np.int64)
        table = build_table(
            _SCHEMA, names, [codes], counts=[np.concatenate([entry, zeros]) for entry in counts]
        )
        return {"counts": table}

    def scores(self, tally: Tally) -> Scores:
        """The counts, in all and for each sequence."""
        if self.parameters.when_scoring:
            self._act()
        table = tally.tables["counts"]
        columns = {name: table.count(name).tolist() for name in _SCHEMA.counts}
        return Scores(
            blocks=(
                Block({name: (sum(column),) for name, column in columns.items()}),
                Block(columns, sequences=table.texts("sequence") or (None,)),
            ),
            curves=(Curve("growth", {"x": (0, 1), "y": (0.0, None)}),),
            warnings=(ReportWarning("counted", "It only counts."),),
        )

    def _act(self) -> None:
        mood, again = self.parameters.mood, self._has_begun_before()
        if mood == "slow":
            time.sleep(self.parameters.delay_s)
        if mood == "chatty":
            print("the coordinates are 123.456")
            print("the coordinates are 123.456", file=sys.stderr)
            subprocess.run(["echo", "the coordinates are 123.456"], check=True)
        if mood == "error":
            raise RuntimeError("the coordinates are 123.456")
        if mood == "exit":
            sys.exit("the coordinates are 123.456")
        if mood == "input_error":
            raise InputError([Fault("a mood", "a better one", field="mood")])
        if mood == "crash" or (mood == "crash_once" and not again):
            os._exit(3)

    def _has_begun_before(self) -> bool:
        """Whether a marker exists; if it has a name, it exists from now on."""
        if not self.parameters.marker:
            return False
        marker = Path(self.parameters.marker)
        begun = marker.exists()
        marker.touch()
        return begun
