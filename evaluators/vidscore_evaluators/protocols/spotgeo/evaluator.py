"""The spotGEO evaluator: a thin shell over tallying, scores and input rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import POINT, Annotations, Side
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Evaluator, Growth, Needs, Task
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.protocols.spotgeo.input_rules import input_faults
from vidscore_evaluators.protocols.spotgeo.parameters import SpotGeoParameters
from vidscore_evaluators.protocols.spotgeo.scores import MEASURES, scores_of
from vidscore_evaluators.protocols.spotgeo.tallying import tally_frames
from vidscore_evaluators.report import Scores
from vidscore_evaluators.tally import Table, Tally

# Two text codes, three counts and a sum in one table, two codes and two counts in the other.
_BYTES_A_SEQUENCE = 2 * 8 + 3 * 8 + 64 + 2 * 8 + 2 * 8


class SpotGeo(Evaluator[SpotGeoParameters]):
    """spotGEO, by the metric document or as the public leaderboard was computed.

    Classes are ignored: the challenge has one. Don't-care frames are left out, and so are
    detections in frames that the truth does not list; the report counts both.
    """

    name = "spotgeo"
    version = "1.0.0"
    title = "spotGEO: points in short sequences, by F1 and error of localisation"
    task = Task.DETECTION
    Parameters = SpotGeoParameters
    measures = MEASURES
    ranking = ("f1", "mse")
    needs = Needs((POINT,), (POINT,), labels=LabelUse.IGNORED)

    @property
    def growth(self) -> Growth:
        """A row a sequence."""
        return Growth(by="sequence", bytes_each=_BYTES_A_SEQUENCE)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts and exact regression error of each sequence."""
        return tally_frames(self.parameters, aligned)

    def scores(self, tally: Tally) -> Scores:
        """Scores of the whole set, of named domains, and of sequences."""
        return scores_of(self.parameters, tally)

    def useful_range(self, measure: str) -> tuple[float | None, float | None]:
        """See `Evaluator.useful_range`; a system that finds nothing has an MSE of tau^2.

        In profile kelvins it has that once for each sequence, as far as the specification says
        how many there are.
        """
        if measure != "mse":
            return super().useful_range(measure)
        summed = self.parameters.profile == "kelvins"
        count = len(self.specification.sequences) if summed else 1
        return 0.0, count * self.parameters.tau**2 if count else None

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """Frames, coordinates, numbers of detections and flags that the rules forbid."""
        return tuple(input_faults(self.parameters, side, annotations))
