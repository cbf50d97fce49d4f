"""spotGEO: points in sequences of five frames, scored by F1 and the error of localisation.

The challenge has two sets of rules, and both are here, as the parameter `profile`:

``protocol`` (default)
    The metric document, "Evaluation Metrics and Ranking Methodology for SSA Dataset".
``kelvins``
    The scorer that was released with the challenge and ran its public leaderboard.

Where `kelvins` differs from `protocol`:

1. A true positive at distance d adds d to the regression error, not d^2 (eq. 11). SSE then adds
   px to px^2, and the weight of such a pair is 3 to 10 times less.
2. A true positive at exactly epsilon adds epsilon, not 0: the condition is d < epsilon.
3. A true positive at exactly tau adds 0, not tau^2. It is a true positive all the same.
4. The MSE of a data set is the sum of the MSE of its sequences, not the ratio of the sums of
   eq. 17. It grows with the number of sequences: leaderboards show tens of thousands.

Where `kelvins` here differs from the released scorer:

5. The scorer replaces distances over tau by 1000 and solves one assignment for the least sum.
   Here the number of pairs comes first, as the challenge's scoring page says. Both are the same
   while tau times the number of pairs of a frame is below 1000; above that, the scorer may match
   fewer.
6. Among matchings with equal sums of distances, the scorer takes one that depends on the order of
   the file. Here it is the one with the least regression error (by the term 1e-9 e / tau^2 in the
   cost, with the profile's e), whatever the order. SSE and MSE may be lower.
7. F1 is computed from the integers, 2 TP / (2 TP + FN + FP), and not from rounded precision and
   recall: the last bit may differ, and systems with the same F1 really tie, so that MSE decides.
8. Sums are exact and rounded once; the last digits of SSE and MSE may differ.

Readings of the metric document, in both profiles:

9. The second sum over "TP" in eq. 10 runs over the false positives: the text below it says so.
10. The scoring page has d < epsilon, and "an average of each score for each frame"; the metric
    document has d <= epsilon (eq. 11) and sums (eqs. 14 to 17), and holds in `protocol`.
11. Without objects and detections, F1 is 1 and MSE is 0. Precision is 0 without detections, and
    recall is 0 without objects.
12. Eq. 3 does not say which matching to take among equal sums; it is as in 6 for both profiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from vidscore_evaluators._spotgeo_matching import evaluated_frames, match_frames, tally_frames
from vidscore_evaluators._spotgeo_scores import SetRules, figures_of_outcomes, make_scores
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import POINT, Annotations, ObjectFlag, Side
from vidscore_evaluators.arrays import BoolArray, FloatArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import (
    Direction,
    Dissimilarity,
    Evaluator,
    Growth,
    Measure,
    Needs,
    Task,
    count_measure,
)
from vidscore_evaluators.names import counted
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, OutcomeBuilder, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.report import Number, Scores
from vidscore_evaluators.tally import Table, Tally


@dataclass(frozen=True)
class SpotGeoParameters:
    """Parameters of spotGEO; defaults are the challenge's."""

    profile: Literal["protocol", "kelvins"] = parameter(
        "protocol", "The rules: those of the metric document, or of the released scorer."
    )
    tau: float = parameter(
        10.0,
        "Greatest distance of a true positive; each miss and each false alarm costs its square.",
        unit="px",
        exclusive_minimum=0.0,
        maximum=1e6,
        grid=(4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0),
    )
    epsilon: float = parameter(
        3.0,
        "Distance up to which a true positive has no regression error; less than tau.",
        unit="px",
        minimum=0.0,
        maximum=1e6,
        grid=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
    )
    image_width: int = parameter(
        640, "Width of the images; x lies in [-0.5, width - 0.5].", unit="px", minimum=1
    )
    image_height: int = parameter(
        480, "Height of the images; y lies in [-0.5, height - 0.5].", unit="px", minimum=1
    )
    maximum_detections: int = parameter(30, "Maximum number of detections in a frame.", minimum=1)
    frames_per_sequence: int = parameter(
        5, "Frames of a sequence; they are numbered from 1.", minimum=1
    )

    def faults(self) -> Iterator[Fault]:
        """An epsilon that is not below tau (metric document, section 1: 0 <= epsilon < tau)."""
        if self.epsilon >= self.tau:
            yield Fault(f"{self.epsilon:g}", f"less than tau, {self.tau:g}", field="epsilon")


MEASURES = (
    count_measure("true_positives", "Detections that are matched to an object (eq. 9)."),
    count_measure(
        "false_negatives", "Objects that no detection is matched to (eq. 9).", Direction.LOWER
    ),
    count_measure(
        "false_positives", "Detections that are matched to no object (eq. 9).", Direction.LOWER
    ),
    Measure("precision", "TP / (TP + FP) (eq. 14); 0 if nothing was detected."),
    Measure("recall", "TP / (TP + FN) (eq. 15); 0 if there is no object."),
    Measure(
        "f1",
        "2 TP / (2 TP + FN + FP) (eq. 16); 1 if there is neither object nor detection.",
        dissimilarity=Dissimilarity.ONE_MINUS,
    ),
    Measure(
        "one_minus_f1",
        "1 - F1, the first figure of the challenge's leaderboard.",
        direction=Direction.LOWER,
        dissimilarity=Dissimilarity.VALUE,
    ),
    Measure(
        "sse",
        "Regression errors of the true positives, and tau^2 for each miss and false alarm"
        " (eqs. 10 and 12).",
        unit="px^2",
        maximum=None,
        direction=Direction.LOWER,
        dissimilarity=Dissimilarity.VALUE,
    ),
    Measure(
        "mse",
        "SSE / (TP + FN + FP) (eqs. 13 and 17); in profile kelvins, over several sequences, the"
        " sum of this over the sequences.",
        unit="px^2",
        maximum=None,
        direction=Direction.LOWER,
        dissimilarity=Dissimilarity.VALUE,
    ),
)


_BYTES_PER_SEQUENCE = 2 * 8 + 3 * 8 + 64 + 2 * 8 + 2 * 8
"""Two text codes, three counts and a sum in one table, two codes and two counts in the other."""


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
    needs = Needs((POINT,), (POINT,), labels=LabelUse.IGNORED, listed_labels=False)

    @property
    def adds_sequences(self) -> bool:
        """The leaderboard's MSE is a sum over sequences."""
        return not self._set_rules.sums_mse

    @property
    def growth(self) -> Growth:
        """One row per sequence."""
        return Growth(by="sequence", bytes_each=_BYTES_PER_SEQUENCE)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts and exact regression error of each sequence."""
        errors = partial(regression_errors, self.parameters)
        return tally_frames(aligned, self.parameters.tau, errors)

    def scores(self, tally: Tally) -> Scores:
        """Scores of the whole set, of named domains, and of sequences."""
        return make_scores(self._set_rules, tally)

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """Matched pairs with their distances; a row's share is what it adds to SSE.

        The object of a true positive has its share; that of the detection is 0.
        """
        at.check(self.name)
        tau_px = self.parameters.tau
        # Matching goes first: its working memory is freed before the table is built.
        matches = match_frames(aligned, tau_px, partial(regression_errors, self.parameters))
        builder = OutcomeBuilder(aligned)
        evaluated = evaluated_frames(aligned)
        for side, annotations, outcome in (
            (Side.TRUTH, aligned.truth, Outcome.FALSE_NEGATIVE),
            (Side.DETECTIONS, aligned.detections, Outcome.FALSE_POSITIVE),
        ):
            counted = np.repeat(evaluated, annotations.object_counts)
            builder.set(side, counted, outcome)
            builder.share(side, counted, tau_px**2)
        builder.match(matches.truth, matches.detections, distances_px=matches.distances_px)
        builder.share(Side.TRUTH, matches.truth, matches.errors)
        builder.share(Side.DETECTIONS, matches.detections, 0.0)
        return builder.build()

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Every measure, over the sequences of the outcomes."""
        del at
        return figures_of_outcomes(self._set_rules, outcomes)

    @property
    def _set_rules(self) -> SetRules:
        return SetRules(self.parameters.tau, sums_mse=self.parameters.profile == "kelvins")

    def useful_range(self, measure: str) -> tuple[float | None, float | None]:
        """See `Evaluator.useful_range`; a system that finds nothing has an MSE of tau^2.

        In profile kelvins, that is once per sequence, if the specification lists the sequences.
        """
        if measure != "mse":
            return super().useful_range(measure)
        summed = self.parameters.profile == "kelvins"
        count = len(self.specification.sequences) if summed else 1
        return 0.0, count * self.parameters.tau**2 if count else None

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """Frames, coordinates, numbers of detections and flags that the rules forbid."""
        return tuple(_input_faults(self.parameters, side, annotations))


def regression_errors(parameters: SpotGeoParameters, distances_px: FloatArray) -> FloatArray:
    """Regression errors of true positives.

    Metric document, eq. 11: d^2 where d > epsilon, else 0. Profile `kelvins`: d where
    epsilon <= d < tau, else 0.

    Args:
        parameters: The parameters.
        distances_px: (K,) distances, none over tau.

    Returns:
        (K,) errors, in px^2, or in px for `kelvins`.
    """
    if parameters.profile == "kelvins":
        counts = (distances_px >= parameters.epsilon) & (distances_px < parameters.tau)
        return distances_px * counts
    return distances_px * distances_px * (distances_px > parameters.epsilon)


FAULTS_PER_RULE = 1000
"""Maximum number of faults listed per rule; a file of millions must not list as many."""


def _input_faults(
    parameters: SpotGeoParameters, side: Side, annotations: Annotations
) -> Iterator[Fault]:
    """Every breach of the challenge's rules, up to `FAULTS_PER_RULE` of each."""
    numbers, last = annotations.frame_numbers, parameters.frames_per_sequence
    yield from (
        Fault(
            source=side.value,
            entry=frame,
            field="frame_numbers",
            found=annotations.frame_name(frame),
            expected=f"frames 1 to {last}",
        )
        for frame in _first((numbers < 1) | (numbers > last))
    )
    sizes_px = {"x": parameters.image_width, "y": parameters.image_height}
    for axis, (name, size_px) in enumerate(sizes_px.items()):
        yield from _coordinate_faults(side, annotations, axis, name, size_px)
    if side is Side.TRUTH:
        yield from _flag_faults(annotations)
        return
    counts, most = annotations.object_counts, parameters.maximum_detections
    yield from (
        Fault(
            source=side.value,
            entry=frame,
            field="frame_object_counts",
            found=f"{counted(int(counts[frame]), 'detection')} in {annotations.frame_name(frame)}",
            expected=f"at most {most}",
        )
        for frame in _first(counts > most)
    )


def _coordinate_faults(
    side: Side, annotations: Annotations, axis: int, name: str, size_px: int
) -> Iterator[Fault]:
    """Pixel centres are integers, so that the image begins at -0.5."""
    least, greatest = -0.5, size_px - 0.5
    values = annotations.coordinates[:, axis]
    for row, frame in _objects(annotations, (values < least) | (values > greatest)):
        yield Fault(
            source=side.value,
            entry=frame,
            field="coordinates",
            found=f"{name} = {float(values[row])!r} in {annotations.frame_name(frame)}",
            expected=f"{name} from {least} to {greatest}",
        )


def _flag_faults(truth: Annotations) -> Iterator[Fault]:
    for row, frame in _objects(truth, truth.flags != 0):
        flags = str(ObjectFlag(int(truth.flags[row])).name).lower().replace("|", ", ")
        yield Fault(
            source=Side.TRUTH.value,
            entry=frame,
            field="object_flags",
            found=f"an object flagged {flags} in {truth.frame_name(frame)}",
            expected="no flags: spotGEO has ordinary objects only",
        )


def _first(wrong: BoolArray) -> list[int]:
    rows: list[int] = wrong.nonzero()[0][:FAULTS_PER_RULE].tolist()
    return rows


def _objects(annotations: Annotations, wrong: BoolArray) -> Iterator[tuple[int, int]]:
    """Row and frame of the first objects that break a rule."""
    rows = _first(wrong)
    return zip(rows, annotations.object_frames[rows].tolist() if rows else (), strict=True)
