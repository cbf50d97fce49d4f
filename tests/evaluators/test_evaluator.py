"""What every evaluator inherits from its base class."""

from __future__ import annotations

from importlib import metadata

import pytest
from tests.evaluators.toy import Toy, ToyParameters, toy

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import GeometryError, TallyError
from vidscore_evaluators.evaluator import (
    Averaging,
    Direction,
    Dissimilarity,
    Measure,
    count_measure,
)
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.installed import software_versions
from vidscore_evaluators.report import Block, Report, Scores
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, SequenceSpec
from vidscore_evaluators.testing import Thing, make_annotations

TRUTH = make_annotations({("", "s"): {0: [], 1: []}}, arity=2)
DETECTIONS = make_annotations({("", "s"): {0: [(1.5, 0), Thing((2, 0), "cat")], 7: [(64, 0)]}})


def test_a_tally_carries_identity_tables_and_fingerprints() -> None:
    tally = toy().tally(TRUTH, DETECTIONS)
    assert tally.evaluator == toy().identity
    assert tally.tables["all"].count("objects").tolist() == [2]
    assert tally.truth == fingerprint(TRUTH)
    assert tally.detections == fingerprint(DETECTIONS)


def test_a_report_says_what_it_is_a_report_of() -> None:
    evaluator = Toy(ToyParameters(limit=7.0), BenchmarkSpec(title="t"))
    report = evaluator.report(evaluator.tally(TRUTH, DETECTIONS))
    assert (report.evaluator, report.version) == ("toy", "1")
    assert report.parameters == {"limit": 7.0, "whole": False}
    assert report.specification == {"title": "t"}
    assert report.truth_digest == str(fingerprint(TRUTH))
    assert report.detections_digest == str(fingerprint(DETECTIONS))
    assert report.software == software_versions()
    assert report.value("x") == 3.5


def test_software_lists_the_installed_versions() -> None:
    assert software_versions() == {
        name: metadata.version(name) for name in ("numpy", "scipy", "vidscore")
    }


def test_tallies_add_only_within_one_configuration() -> None:
    """Other parameters or other specifications are other rules."""
    scene = BenchmarkSpec(sequences=(SequenceSpec("s", frame_count=2),))
    for other in (toy(limit=1.0), Toy(ToyParameters(), scene)):
        assert other.identity != toy().identity
        with pytest.raises(TallyError):
            toy().identity_tally + other.identity_tally


def test_the_other_evaluators_of_a_specification_do_not_change_the_configuration() -> None:
    """A worker rebuilds an evaluator from its name alone, however it was made here."""
    company = BenchmarkSpec(title="t", evaluators=(EvaluatorSpec("toy"), EvaluatorSpec("other")))
    alone = BenchmarkSpec(title="t")
    assert Toy(ToyParameters(), company).identity == Toy(ToyParameters(), alone).identity
    assert Toy(ToyParameters(), company).specification == alone


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize(("arity", "found"), [(8, "corners"), (3, "3 coordinates per object")])
def test_unsupported_shapes_are_refused(side: Side, arity: int, found: str) -> None:
    expected = r"points \(x, y\) or upright boxes \(x1, y1, x2, y2\) for toy"
    with pytest.raises(GeometryError, match=f"{side.value}: found {found}, expected {expected}"):
        toy().check_arity(side, arity)
    toy().check_arity(side, 4)


def _report(**values: float | None) -> Report:
    block = Block({name: (value,) for name, value in values.items()})
    return Report("e", "1", {}, "", "", Scores((block,)))


def test_ranks_follow_the_first_measure_then_the_next_and_undefined_is_last() -> None:
    class Ranked(Toy):
        measures = (
            Measure("f1", "Good."),
            Measure("error", "Bad.", maximum=None, direction=Direction.LOWER),
        )
        ranking = ("f1", "error")

    best_first = [
        _report(f1=1.0, error=3.0),
        _report(f1=0.5, error=0.0),
        _report(f1=0.5, error=2),
        _report(f1=0.5, error=None),
        _report(f1=0, error=0.0),
        _report(f1=None, error=0.0),
        _report(f1=None, error=None),
    ]
    keys = [Ranked(ToyParameters()).rank_key(report) for report in best_first]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert Ranked(ToyParameters()).rank_key(_report(f1=0.5, error=2.0)) == keys[2]


def test_an_evaluator_forbids_nothing_by_default() -> None:
    assert not super(Toy, toy()).faults(Side.TRUTH, TRUTH)


# --- Defaults of measures


def test_a_measure_is_by_default_a_pooled_ratio_for_which_higher_is_better() -> None:
    measure = Measure("f1", "How well.")
    assert (measure.minimum, measure.maximum, measure.unit) == (0.0, 1.0, "ratio")
    assert measure.direction is Direction.HIGHER
    assert measure.averaging is Averaging.POOLED
    assert measure.dissimilarity is Dissimilarity.NONE


def test_a_count_has_no_upper_bound() -> None:
    measure = count_measure("misses", "How many.", Direction.LOWER)
    assert (measure.unit, measure.minimum, measure.maximum) == ("count", 0.0, None)
    assert measure.direction is Direction.LOWER
    assert count_measure("frames", "How many.").direction is Direction.NONE


def test_words_of_the_enumerations_equal_those_of_the_wire() -> None:
    """The names of the proto enumerations end in these words."""
    assert [str(direction) for direction in Direction] == ["higher", "lower", "none"]
    assert [str(averaging) for averaging in Averaging] == ["pooled", "mean", "median"]
    assert [str(form) for form in Dissimilarity] == ["none", "value", "one_minus"]
