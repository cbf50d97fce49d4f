"""The sanity tests of multi-object detection: multi-class, single-class, and of Figs. 3 and 11.

Source: the paper, section 5.1 and appendix 4.1. Readings of this project, if the text leaves a
choice; with these the multi-class rows of the paper's tables are reproduced:

1. The number of objects is uniform on 1..40; it is stratified, which lowers the variance.
2. Width and height are independent.
3. One family is one draw of P_D, P_C, F_S and F_R.
4. In every set width and height change by a uniform number of up to 1 px either way.
5. Objects with a state-dependent false are drawn without replacement. The false has the dislocation
   magnitude, the confidence and the class of its object, and its own direction. Of the two, the
   object comes first: the confidence of the false is the next smaller binary64. Scorers that use
   the order of rows, as the paper's probably does, would have the same result.
   (With true ties mAP's M-full error is lower: 3.0 instead of 3.4, in units of 1e-2, for IoU.)
6. Counts are rounded half up.
7. Missed objects, and then misclassified ones, are chosen from objects without a
   state-dependent false, highest labels first. A misclassified object takes one of the other
   classes at random and keeps its confidence.
8. Random falses have a uniform class, and a uniform confidence in (0, 1).

The single-class rows of the paper's tables are not reproduced by any reading of the text.

In the scenes of Fig. 3, A finds three objects with an IoU of 0.75 each, B one with an IoU of 0.3,
and C is B with a spurious detection. In scenario k of Fig. 11, 2^k squares of 10 px are each found
2^(-k/2) px too far to the left; scenario 10 is the best. Reading of this project: the boxes of
Fig. 3 are squares of 10 px, and detections share their left edge and height.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.trust.sanity.families import (
    CLASS_NAMES,
    SET_COUNT,
    SOUND_SETS,
    Draw,
    Family,
    Objects,
    SanityScene,
    as_annotations,
    ascending_poisson,
    dislocations,
    disturbed_sizes,
    draw_objects,
    join_objects,
    round_half_up,
)

MOST_OBJECTS = 40

DISLOCATIONS_PX = np.linspace(10.0, 20.0, SET_COUNT)
"""D: dislocation of the object with the highest label, per set."""

CONFIDENCE_LOSSES = np.linspace(0.2, 0.8, SET_COUNT)
"""S: confidence that the object with the highest label loses, per set."""

FRACTIONS_KEPT = (0.5, 0.95)
FRACTIONS_DOUBLED = (0.05, 0.5)


class Mistakes(Struct, frozen=True, eq=False):
    """Amount of mistakes in each of the flawed sets, from the least to the most.

    Attributes:
        detected: P_D: fraction of the candidates for missing that are not missed.
        classified: P_C: fraction of the candidates for misclassification that keep their class.
        doubled: F_S: fraction of the objects that have a state-dependent false.
        made_up: F_R: number of random falses.
    """

    detected: FloatArray
    classified: FloatArray
    doubled: FloatArray
    made_up: IntArray

    @classmethod
    def draw(cls, random: np.random.Generator) -> Mistakes:
        """Draw the amounts, sorted so that each set is worse than the one before."""
        count = SET_COUNT - SOUND_SETS
        return cls(
            detected=np.sort(random.uniform(*FRACTIONS_KEPT, count))[::-1],
            classified=np.sort(random.uniform(*FRACTIONS_KEPT, count))[::-1],
            doubled=np.sort(random.uniform(*FRACTIONS_DOUBLED, count)),
            made_up=ascending_poisson(count, random),
        )


def detection_family(draw: Draw, class_count: int) -> Family:
    """Draw a family of one frame.

    Args:
        draw: The family to draw.
        class_count: Number of classes; with one there are neither misclassifications nor
            confidences.
    """
    random = draw.random()
    count = draw.object_count(1, MOST_OBJECTS, random)
    painter = _Painter(draw_objects(count, class_count, random), class_count, random)
    mistakes = Mistakes.draw(random)
    sound = [painter.sound_set(index) for index in range(SOUND_SETS)]
    flawed = [painter.flawed_set(index, mistakes) for index in range(SOUND_SETS, SET_COUNT)]
    names = CLASS_NAMES[:class_count]
    truth, *predictions = (
        as_annotations(objects, np.zeros(len(objects), dtype=np.int64), 1, names)
        for objects in (painter.reference, *sound, *flawed)
    )
    return Family.of(truth, predictions)


class _Painter(Struct, frozen=True, eq=False):
    """Makes the prediction sets of one reference."""

    reference: Objects
    class_count: int
    random: np.random.Generator

    def sound_set(self, index: int) -> Objects:
        """Every object, dislocated, with its size disturbed and its confidence lowered."""
        reference = self.reference
        labels = np.arange(1, len(reference) + 1) / len(reference)
        losses = CONFIDENCE_LOSSES[index] * labels
        magnitudes = DISLOCATIONS_PX[index] * labels
        return Objects(
            centres=reference.centres + dislocations(magnitudes, self.random),
            sizes=disturbed_sizes(reference.sizes, self.random),
            classes=reference.classes,
            confidences=1.0 - losses if self.class_count > 1 else reference.confidences,
        )

    def flawed_set(self, index: int, mistakes: Mistakes) -> Objects:
        """The same with misses, misclassifications, and falses of both kinds."""
        worse, count = index - SOUND_SETS, len(self.reference)
        doubled_count = round_half_up(count * mistakes.doubled[worse])
        doubled = np.sort(self.random.permutation(count)[:doubled_count])
        rest = np.setdiff1d(np.arange(count), doubled)[::-1]
        missed_count = round_half_up(len(rest) * (1.0 - mistakes.detected[worse]))
        missed, rest = rest[:missed_count], rest[missed_count:]
        mistaken_count = round_half_up(len(rest) * (1.0 - mistakes.classified[worse]))
        found = self._mistaken(self.sound_set(index), rest[:mistaken_count])
        falses = self.sound_set(index).take(doubled)
        falses = replace(falses, confidences=np.nextafter(falses.confidences, 0.0))
        return join_objects(
            [
                found.take(np.setdiff1d(np.arange(count), missed)),
                falses,
                self._made_up(int(mistakes.made_up[worse])),
            ]
        )

    def _mistaken(self, found: Objects, rows: IntArray) -> Objects:
        """Give some objects another class, if there is one."""
        if self.class_count == 1:
            return found
        shifts = self.random.integers(1, self.class_count, size=len(rows))
        classes = found.classes.copy()
        classes[rows] = (classes[rows] + shifts) % self.class_count
        return replace(found, classes=classes)

    def _made_up(self, count: int) -> Objects:
        """Objects that are unrelated to the reference."""
        drawn = draw_objects(count, self.class_count, self.random)
        if self.class_count == 1:
            return drawn
        return replace(drawn, confidences=1.0 - self.random.random(count))


def draw_multiclass(draw: Draw) -> Family:
    """Draw a family of one frame with five classes and with confidences."""
    return detection_family(draw, len(CLASS_NAMES))


def draw_singleclass(draw: Draw) -> Family:
    """Draw a family of one frame with one class and full confidence."""
    return detection_family(draw, 1)


# --- scenes with known distances: the paper's Figs. 3 and 11 ---------------------------------

SIDE_PX = 10.0
SPACING_PX = 40.0
SCENARIOS = range(1, 11)


def draw_figure_3(draw: Draw) -> Family:
    """Scenes A, B and C of Fig. 3; nothing is random."""
    del draw
    three, one = _squares(3), _squares(1)
    spurious = one + SPACING_PX * np.array([[1.0, 0.0, 1.0, 0.0]])
    return Family(
        (
            _scene(three, _narrowed(three, 0.75)),
            _scene(one, _narrowed(one, 0.3)),
            _scene(one, np.vstack([_narrowed(one, 0.3), spurious])),
        )
    )


def draw_figure_11(draw: Draw) -> Family:
    """Scenarios 10 to 1 of Fig. 11; nothing is random."""
    del draw
    return Family(tuple(_scenario(number) for number in reversed(SCENARIOS)))


def _scenario(number: int) -> SanityScene:
    squares = _squares(2**number)
    shift = np.array([[1.0, 0.0, 1.0, 0.0]]) * 2.0 ** (-number / 2)
    return _scene(squares, squares - shift)


def _squares(count: int) -> FloatArray:
    """(count, 4) squares in a row."""
    left = SPACING_PX * np.arange(count, dtype=np.float64)
    bottom = np.zeros(count)
    return np.column_stack([left, bottom, left + SIDE_PX, bottom + SIDE_PX])


def _narrowed(boxes: FloatArray, share: float) -> FloatArray:
    """The same boxes with a fraction of their width, which is then their IoU."""
    narrowed = boxes.copy()
    narrowed[:, 2] = boxes[:, 0] + share * SIDE_PX
    return narrowed


def _scene(truth: FloatArray, predictions: FloatArray) -> SanityScene:
    one, other = (
        as_annotations(
            Objects(
                centres=(boxes[:, :2] + boxes[:, 2:]) / 2,
                sizes=boxes[:, 2:] - boxes[:, :2],
                classes=np.zeros(len(boxes), dtype=np.int64),
                confidences=np.ones(len(boxes)),
            ),
            np.zeros(len(boxes), dtype=np.int64),
            1,
            CLASS_NAMES[:1],
        )
        for boxes in (truth, predictions)
    )
    return one, other
