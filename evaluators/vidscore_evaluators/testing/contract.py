"""The contract: laws that hold for every evaluator.

A subclass names an evaluator and, if its input has special rules, overrides the hooks. Scores must
not depend on how data is ordered, split, sent or distributed over processes; values must conform to
the declarations; empty, small and perfect answers must all be scored.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis.strategies import SearchStrategy
from msgspec import structs

from vidscore_evaluators.alignment import align, read_only, restrict
from vidscore_evaluators.annotations import (
    ARITIES,
    Annotations,
    FrameFlag,
    ObjectFlag,
    Side,
    empty_annotations,
)
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import EvaluatorVersionError, GeometryError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.jobs import make_job, run_job, split, with_parameter
from vidscore_evaluators.live import StreamScorer
from vidscore_evaluators.outcome_table import Outcomes, concatenate_outcomes
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.plausibility.summary import INPUT_SUMMARY_BYTES
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report, report_from_dict, report_to_dict, report_to_json
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.tally import merge_tallies
from vidscore_evaluators.tally_bytes import tally_from_bytes, tally_to_bytes
from vidscore_evaluators.testing import checks, strategies
from vidscore_evaluators.testing.examples import example_count, scored_objects, shuffled
from vidscore_evaluators.testing.strategies import Case, cases, seeds


class EvaluatorContract:
    """Subclass it as ``Test...`` with an `evaluator`, and pytest runs the suite for it.

    Attributes:
        evaluator: The evaluator, with the parameters to test. It must be registered, because
            workers find it by name.
        labels: Labels of objects in generated cases.
        domains: Domains of sequences in generated cases.
        frame_numbers: Frame numbers of generated cases.
        object_flags: Flags that generated objects of the truth may have; a repeated flag is more
            frequent.
        extent_px: Side of the square in which generated objects start.
        imperfect_measures: Measures with a declared best value that a perfect answer may miss; the
            evaluator's documentation should say why.
        examples: Number of cases for each law; more under a Hypothesis profile that asks for more,
            see `example_count`.
    """

    evaluator: ClassVar[Evaluator[Any]]
    labels: ClassVar[Sequence[str]] = ("a", "b", "c")
    domains: ClassVar[Sequence[str]] = ("left", "right")
    frame_numbers: ClassVar[Sequence[int]] = range(6)
    object_flags: ClassVar[Sequence[int]] = (0, 0, 0, ObjectFlag.IGNORE)
    extent_px: ClassVar[float] = 12
    imperfect_measures: ClassVar[Sequence[str]] = ()
    examples: ClassVar[int] = 12
    _joined: ClassVar[Case]

    # --- hooks -----------------------------------------------------------------------------

    def cases(self) -> SearchStrategy[Case]:
        """Truth and detections that the evaluator's rules allow; override for special input."""
        return cases(
            self.evaluator.needs,
            labels=self.labels,
            domains=self.domains,
            frame_numbers=self.frame_numbers,
            object_flags=self.object_flags,
            extent_px=self.extent_px,
        )

    def perfect_detections(self, truth: Annotations) -> Annotations:
        """Detections of a system without mistakes; override if the truth contains more."""
        return scored_objects(truth)

    # --- order and layout do not matter ----------------------------------------------------

    def test_order_of_frames_objects_and_tables_does_not_matter(self) -> None:
        """Shuffled frames, objects and name tables give the same report, to the last bit."""

        def law(case: Case, seed: int) -> None:
            mixed = Case(shuffled(case.truth, seed), shuffled(case.detections, seed + 1))
            assert self._json(mixed) == self._json(case)

        self._holds(law, self.cases(), seeds())

    def test_a_frame_without_detections_need_not_be_sent(self) -> None:
        """Removing empty frames from the detections changes no score."""

        def law(case: Case) -> None:
            sent = case.detections.take_frames(case.detections.object_counts > 0)
            assert self._report(Case(case.truth, sent)).rows() == self._report(case).rows()

        self._holds(law, self.cases())

    def test_what_is_in_a_dont_care_frame_does_not_matter(self) -> None:
        """Objects and detections of don't-care frames change no score."""

        def law(case: Case) -> None:
            emptied = strategies.with_empty_dont_care_frames(case)
            assert self._report(emptied).rows() == self._report(case).rows()

        self._holds(law, self.cases())

    def test_tallying_leaves_its_input_alone(self) -> None:
        """Truth and detections with read-only arrays can be tallied."""

        def law(case: Case) -> None:
            self._report(Case(*map(read_only, case)))

        self._holds(law, self.cases())

    def test_only_what_is_declared_as_needed_matters(self) -> None:
        """Confidences, track ids and labels change no score unless `needs` declares their use."""

        def law(case: Case, seed: int) -> None:
            other = strategies.with_other_extras(self.evaluator.needs, case, seed)
            assert self._report(other).rows() == self._report(case).rows()

        self._holds(law, self.cases(), seeds())

    # --- outcomes explain the figures ------------------------------------------------------

    def test_outcomes_add_up_to_the_report(self) -> None:
        """Counts and sums of outcomes give exactly the figures of every part of the report."""
        if not self.evaluator.has_outcomes:
            pytest.skip("the evaluator has no outcomes")

        def law(case: Case) -> None:
            report = self._report(case)
            rows = {row[:4]: row.value for row in report.rows()}
            table = self._outcomes(case)
            for domain, label, sequence in {key[:3] for key in rows}:
                part = table.where(domain=domain, label=label, sequence=sequence)
                figures = self.evaluator.outcome_figures(part)
                assert figures, "no measure of the report follows from the outcomes"
                for measure, value in figures.items():
                    key = (domain, label, sequence, measure)
                    assert key not in rows or value == rows[key], key

        self._holds(law, self.cases())

    def test_every_object_and_detection_has_one_outcome(self) -> None:
        """One row per object, in frame order, and partners that name each other."""
        if not self.evaluator.has_outcomes:
            pytest.skip("the evaluator has no outcomes")

        def law(case: Case) -> None:
            checks.check_outcomes(self._outcomes(case), *case)
            checks.check_nesting(self.evaluator, case)
            checks.check_point(self.evaluator, case)

        self._holds(law, self.cases())

    def test_outcomes_do_not_depend_on_how_data_is_cut(self) -> None:
        """The outcomes of single sequences, concatenated, are those of all sequences together."""
        if not self.evaluator.has_outcomes:
            pytest.skip("the evaluator has no outcomes")

        def law(case: Case) -> None:
            parts = split(*case, strategies.sequence_count(case) or 1)
            own = [self._outcomes(Case(*part)) for part in parts]
            if own:
                checks.check_same_outcomes(concatenate_outcomes(own), self._outcomes(case))

        self._holds(law, self.cases())

    # --- streams ---------------------------------------------------------------------------

    def test_each_prefix_of_a_stream_scores_like_a_batch(self) -> None:
        """At any time, a live report equals the batch report over the frames sent by both sides."""

        def law(case: Case, seed: int) -> None:
            specification = self.evaluator.specification
            scorer = StreamScorer([self.evaluator], specification)
            random = np.random.default_rng(seed)
            sent: dict[Side, IntArray] = {side: np.zeros(0, dtype=np.int64) for side in Side}
            for side, rows in strategies.interleaving(case, random):
                scorer.add(side, strategies.sides(case)[side].take_frames(rows))
                sent[side] = np.concatenate([sent[side], rows])
                if random.random() < 0.3:
                    common = strategies.common_frames(case, sent)
                    batch = Case(restrict(specification, common.truth), common.detections)
                    assert _text(scorer.live_reports()[0]) == self._json(batch)
            [whole] = score_annotations([self.evaluator], *case, specification)
            assert _text(scorer.final_reports()[0]) == _text(whole)

        self._holds(law, self.cases(), seeds(), share=3)

    # --- parts and processes ---------------------------------------------------------------

    def test_parts_merge_into_the_whole_in_any_grouping(self) -> None:
        """Tallies of parts, added in any order and grouping, also to 0, give the same bytes."""

        def law(case: Case, seed: int) -> None:
            random = np.random.default_rng(seed)
            tallies = [
                self.evaluator.tally(*part)
                for part in strategies.parts(case, self.evaluator.unit, random)
            ]
            tallies.append(self.evaluator.identity_tally)
            while len(tallies) > 1:
                random.shuffle(tallies)
                size = int(random.integers(2, len(tallies) + 1))
                tallies = [merge_tallies(tallies[:size]), *tallies[size:]]
            assert tally_to_bytes(tallies[0]) == tally_to_bytes(self.evaluator.tally(*case))

        self._holds(law, self.cases(), seeds())
        law(self._long_sequences(), 0)  # floats added over many frames differ in the last bits

    def test_several_threads_may_tally_at_once(self) -> None:
        """Tallies in several threads, of different input, are those in one, to the last byte."""
        checks.check_threads(self.evaluator, [self._many_sequences(), self._long_sequences()])

    def test_addition_has_a_zero_and_no_order(self) -> None:
        """0 + a = a, a + b = b + a, and (a + b) + c = a + (b + c), to the last byte."""

        def law(first: Case, second: Case, third: Case) -> None:
            a, b, c = (self.evaluator.tally(*case) for case in (first, second, third))
            zero = self.evaluator.identity_tally
            assert tally_to_bytes(zero + a) == tally_to_bytes(a) == tally_to_bytes(a + zero)
            assert tally_to_bytes(a + b) == tally_to_bytes(b + a)
            assert tally_to_bytes((a + b) + c) == tally_to_bytes(a + (b + c))

        self._holds(law, self.cases(), self.cases(), self.cases())

    def test_sequences_add_if_the_evaluator_says_so(self) -> None:
        """Draws have the same scores whether sequences are copied under new names or added."""
        if self.evaluator.adds_sequences:
            self._holds(checks.sequences_add(self.evaluator), self.cases(), seeds())

    def test_a_tally_survives_bytes_and_back(self) -> None:
        """A tally survives a round trip through bytes, and then gives the same report."""

        def law(case: Case) -> None:
            data = tally_to_bytes(self.evaluator.tally(*case))
            read = tally_from_bytes(data)
            assert tally_to_bytes(read) == data
            assert _text(self.evaluator.report(read)) == self._json(case)

        self._holds(law, self.cases())

    def test_a_job_can_run_in_another_process(self) -> None:
        """A job survives pickling and gives the tally's bytes; another version is refused."""

        def law(case: Case) -> None:
            sent = pickle.dumps(make_job(self.evaluator, *case))
            job = pickle.loads(sent)  # noqa: S301 - it is our own
            assert run_job(job) == tally_to_bytes(self.evaluator.tally(*case))

        self._holds(law, self.cases())
        other = make_job(self.evaluator, *self._nothing())
        structs.force_setattr(other, "version", self.evaluator.version + "?")
        with pytest.raises(EvaluatorVersionError):
            run_job(other)

    def test_two_workers_give_what_one_process_gives(self) -> None:
        """Two worker processes give the same tally as this process, to the last byte."""
        case = self._many_sequences()
        jobs = [make_job(self.evaluator, *part) for part in split(*case, 4)]
        parts = list(map(tally_from_bytes, strategies.two_workers().map(run_job, jobs)))
        together = merge_tallies([self.evaluator.identity_tally, *parts])
        assert tally_to_bytes(together) == tally_to_bytes(self.evaluator.tally(*case))

    def test_shards_in_any_order_merge_to_the_report(self) -> None:
        """Tally files of any number of shards give the same report in any order, bit for bit."""

        def law(case: Case, seed: int) -> None:
            [whole] = score_annotations([self.evaluator], *case, self.evaluator.specification)
            assert _text(checks.merged_report(self.evaluator, case, seed)) == _text(whole)

        self._holds(law, self.cases(), seeds(), share=3)

    # --- reports ---------------------------------------------------------------------------

    def test_a_grid_in_one_tally_equals_one_run_a_value(self) -> None:
        """A tally's results for other values of a parameter equal those of separate runs."""

        def law(case: Case, seed: int) -> None:
            tally = self.evaluator.tally(*case)
            for name in parameter_values(self.evaluator.parameters):
                held = self.evaluator.grid_scores(tally, name)
                assert set(held) <= set(self.evaluator.grid(name))
                for value in np.random.default_rng(seed).permutation(list(held))[:3].tolist():
                    alone = with_parameter(self.evaluator, name, value)
                    expected = replace(alone.scores(alone.tally(*case)), curves=())
                    assert expected == held[value], (name, value)

        self._holds(law, self.cases(), seeds())

    def test_values_keep_to_what_the_measures_declare(self) -> None:
        """Every score has a declared measure and is within its range; counts are integers."""

        def law(case: Case) -> None:
            report = self._report(case)
            checks.check_values(self.evaluator, report)
            checks.check_places(report, case)

        self._holds(law, self.cases())

    def test_every_measure_is_reported(self) -> None:
        """Every declared measure is in the report of a case with all features."""
        reported = {row.measure for row in self._report(self._many_sequences()).rows()}
        assert reported == {measure.name for measure in self.evaluator.measures}

    def test_nothing_is_scored_without_a_fault(self) -> None:
        """Without truth, detections or both, reports are valid and conform to the declarations."""

        def law(case: Case) -> None:
            nothing = self._nothing()
            bare = case.truth.take_objects(np.zeros(case.truth.object_count, dtype=np.bool_))
            reports = []
            for truth in (case.truth, bare, nothing.truth):
                for detections in (case.detections, nothing.detections):
                    report = self._report(Case(truth, detections))
                    checks.check_values(self.evaluator, report)
                    reports.append(report)
            checks.check_ranks(self.evaluator, reports)

        self._holds(law, self.cases())

    def test_a_perfect_answer_gets_the_best_scores(self) -> None:
        """The scored objects of the truth, used as detections, get the best declared value."""
        best = {
            measure.name: checks.best_value(measure)
            for measure in self.evaluator.measures
            if measure.name not in self.imperfect_measures
        }

        def law(case: Case) -> None:
            cared = (case.truth.frame_flags & FrameFlag.DONT_CARE) == 0
            assume(self.perfect_detections(case.truth.take_frames(cared)).object_count > 0)
            report = self._report(Case(case.truth, self.perfect_detections(case.truth)))
            for row in report.rows():
                if row.value is not None and best.get(row.measure) is not None:
                    assert row.value == best[row.measure], row

        self._holds(law, self.cases())

    def test_a_perfect_answer_ranks_first(self) -> None:
        """No detections rank above those of a system without mistakes."""

        def law(case: Case) -> None:
            perfect = self._report(Case(case.truth, self.perfect_detections(case.truth)))
            rank_key = self.evaluator.rank_key
            assert rank_key(perfect) <= rank_key(self._report(case))

        if not set(self.imperfect_measures) & set(self.evaluator.ranking):
            self._holds(law, self.cases())

    def test_report_is_repeatable(self) -> None:
        """A second report of a tally equals the first, and reporting does not change the tally."""

        def law(case: Case) -> None:
            tally = self.evaluator.tally(*case)
            data = tally_to_bytes(tally)
            assert _text(self.evaluator.report(tally)) == _text(self.evaluator.report(tally))
            assert tally_to_bytes(tally) == data

        self._holds(law, self.cases())

    def test_a_report_survives_json_and_back(self) -> None:
        """A report survives a round trip through JSON with the same rows, curves and text."""

        def law(case: Case) -> None:
            report = self._report(case)
            read = report_from_dict(json.loads(_text(report)))
            assert report_to_dict(read) == report_to_dict(report)
            types = [type(row.value) for row in report.rows()]
            assert [type(row.value) for row in read.rows()] == types

        self._holds(law, self.cases())

    # --- what is declared ------------------------------------------------------------------

    def test_metadata_is_complete(self) -> None:
        """Name, version, title, task, needs and measures are complete."""
        checks.check_metadata(self.evaluator)

    def test_measures_are_declared_completely(self) -> None:
        """Measures have distinct names, texts, units and ranges; ranking ones a direction."""
        checks.check_measures(self.evaluator)

    def test_parameters_keep_to_what_they_declare(self) -> None:
        """Defaults and grids are within the bounds; other values are refused by name."""
        checks.check_parameters(type(self.evaluator).Parameters)

    def test_the_schema_of_the_parameters_agrees_with_them(self) -> None:
        """The JSON Schema accepts what the parameters accept and refuses what they refuse."""
        checks.check_schema(type(self.evaluator).Parameters)

    def test_the_same_configuration_has_the_same_identity(self) -> None:
        """An evaluator rebuilt from its parameters can add to the tallies of this one."""
        again = create_evaluator(
            self.evaluator.name,
            parameter_values(self.evaluator.parameters),
            self.evaluator.specification,
        )
        assert again.identity == self.evaluator.identity

    @pytest.mark.parametrize("side", Side)
    @pytest.mark.parametrize("arity", [*ARITIES, 3])
    def test_other_shapes_are_refused(self, side: Side, arity: int) -> None:
        """Coordinates of a shape that the evaluator cannot use raise a GeometryError."""
        needs = self.evaluator.needs
        allowed = needs.truth_arities if side is Side.TRUTH else needs.detection_arities
        nothing = self._nothing()
        other = empty_annotations(arity)
        case = nothing._replace(**{side.value: other})
        if arity in allowed:
            self.evaluator.tally(*case)
            return
        with pytest.raises(GeometryError, match=self.evaluator.name):
            self.evaluator.tally(*case)

    def test_the_tally_grows_no_faster_than_declared(self) -> None:
        """The tally stays within the declared growth while frames and sequences are added.

        The package's own additions to it have a separate bound.
        """

        def law(case: Case) -> None:
            tally = self.evaluator.tally(*case)
            declared = checks.declared_bytes(self.evaluator.growth, case)
            assert replace(tally, input_summary={}).nbytes <= declared
            assert replace(tally, tables={}).nbytes <= INPUT_SUMMARY_BYTES

        self._holds(law, self.cases())
        law(self._many_sequences())
        law(self._long_sequences())

    # --- how the tests are made ------------------------------------------------------------

    def _holds(
        self, law: Callable[..., None], *strategies: SearchStrategy[Any], share: int = 1
    ) -> None:
        """Try a law on generated examples, or on a fraction of the usual number."""
        settings(
            max_examples=max(1, example_count(self.examples) // share),
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
            deadline=None,
        )(given(*strategies)(law))()

    def _report(self, case: Case) -> Report:
        return self.evaluator.report(self.evaluator.tally(*case))

    def _outcomes(self, case: Case) -> Outcomes:
        return self.evaluator.outcomes(align(*case))

    def _json(self, case: Case) -> str:
        return _text(self._report(case))

    def _nothing(self) -> Case:
        needs = self.evaluator.needs
        return Case(
            empty_annotations(needs.truth_arities[0]), empty_annotations(needs.detection_arities[0])
        )

    def _many_sequences(self) -> Case:
        """A case with all features: many sequences with everything that `cases` may generate.

        It is made once for all laws of a suite, because it takes longer than any of them.
        """
        if "_joined" not in vars(type(self)):
            joined = strategies.joined_case(self.cases(), 100)
            type(self)._joined = joined  # noqa: SLF001 - of its own class
        return self._joined

    def _long_sequences(self) -> Case:
        """The frames of all these sequences in one for each domain."""
        return strategies.long_case(self._many_sequences())


def _text(report: Report) -> str:
    """A report as text on one line, exact to the last bit; one line is written much faster."""
    return report_to_json(report, indent=None)
