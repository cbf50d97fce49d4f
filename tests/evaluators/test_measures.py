"""Measures say by themselves what most of them are."""

from __future__ import annotations

from vidscore_evaluators.evaluator import (
    Averaging,
    Direction,
    Dissimilarity,
    Measure,
    count_measure,
)


def test_a_measure_is_a_pooled_ratio_that_should_be_high_unless_it_says_otherwise() -> None:
    measure = Measure("f1", "How well.")
    assert (measure.minimum, measure.maximum, measure.unit) == (0.0, 1.0, "ratio")
    assert measure.direction is Direction.HIGHER
    assert measure.averaging is Averaging.POOLED
    assert measure.dissimilarity is Dissimilarity.NONE


def test_a_count_is_a_number_of_things_without_upper_bound() -> None:
    measure = count_measure("misses", "How many.", Direction.LOWER)
    assert (measure.unit, measure.minimum, measure.maximum) == ("count", 0.0, None)
    assert measure.direction is Direction.LOWER
    assert count_measure("frames", "How many.").direction is Direction.NONE


def test_words_of_the_enumerations_are_those_of_the_wire() -> None:
    """The names of the proto enumerations end in these words."""
    assert [str(direction) for direction in Direction] == ["higher", "lower", "none"]
    assert [str(averaging) for averaging in Averaging] == ["pooled", "mean", "median"]
    assert [str(form) for form in Dissimilarity] == ["none", "value", "one_minus"]
