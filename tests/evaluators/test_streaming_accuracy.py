"""Streaming accuracy: the rules of docs/streaming-accuracy.md, by hand and against an oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.plausibility.changes import as_sizes
from tests.evaluators.plausibility.traffic import rows_where, traffic

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.registry import create_evaluator, evaluator_names
from vidscore_evaluators.scoring import score, score_annotations
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec
from vidscore_evaluators.streaming_accuracy import NO_ANSWER, StreamingAnswers, last_answers
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

A, B = SequenceKey("", "a"), SequenceKey("", "b")
Frame = tuple[float | None, float | None]
"""The time at which a frame was captured, and the arrival of its answer."""


def box(number: int) -> Thing:
    """The object of a frame, or the answer to it; it overlaps with that of no other frame."""
    return Thing((20.0 * number, 0.0, 20.0 * number + 10, 10.0), "car", 0.9, track_id=1)


def side(frames: Mapping[SequenceKey, Mapping[int, Frame]]) -> Annotations:
    """Frames with one object each, their times and their arrivals."""
    made = make_annotations(
        {key: {number: [box(number)] for number in own} for key, own in frames.items()}, arity=4
    )
    times = [entry for own in frames.values() for entry in own.values()]
    seconds = np.array(times, dtype=np.float64).reshape(-1, 2)
    return replace(made, frame_times_s=seconds[:, 0], frame_arrivals_s=seconds[:, 1])


def truth_at(*times_s: float, key: SequenceKey = A) -> Annotations:
    return side({key: {number: (time_s, None) for number, time_s in enumerate(times_s)}})


def answers_at(arrivals_s: Mapping[int, float], key: SequenceKey = A) -> Annotations:
    """Answers to frames, by arrival; the truth has the times of capture."""
    return side({key: {number: (None, arrival) for number, arrival in arrivals_s.items()}})


def judged_by(
    truth: Annotations, detections: Annotations, budget_s: float = 0.0
) -> list[int | None]:
    """For each frame of the truth, the frame whose answer it is judged against."""
    rows = StreamingAnswers.of(truth, detections).chosen(budget_s)
    numbers = detections.frame_numbers
    return [None if row == NO_ANSWER else int(numbers[row]) for row in rows.tolist()]


# --- the rules, by hand ----------------------------------------------------------------------


def test_rule_1_a_frame_is_judged_against_the_last_answer_that_had_arrived() -> None:
    """One frame per second; each answer takes 1.5 s, so it is two frames late."""
    answers = answers_at({0: 1.5, 1: 2.5, 2: 3.5, 3: 4.5})
    assert judged_by(truth_at(0, 1, 2, 3), answers) == [None, None, 0, 1]


def test_rule_1_a_slow_system_that_skips_frames_is_judged_by_its_last_answer() -> None:
    answers = answers_at({0: 0.9, 3: 4.1})
    assert judged_by(truth_at(0, 1, 2, 3, 4, 5), answers) == [None, 0, 0, 0, 0, 3]


def test_rule_2_an_answer_counts_from_the_exact_time_of_its_arrival() -> None:
    assert judged_by(truth_at(0, 1, 2), answers_at({0: 0.0, 1: 2.0})) == [0, 0, 1]
    late = np.nextafter(2.0, 3.0)
    assert judged_by(truth_at(0, 1, 2), answers_at({0: 0.0, 1: late})) == [0, 0, 0]


def test_rule_3_the_last_to_arrive_counts_even_if_its_frame_was_earlier() -> None:
    """The answer to frame 0 is overtaken by that to frame 1, and then replaces it."""
    assert judged_by(truth_at(0, 1, 2, 3), answers_at({0: 2.5, 1: 1.5})) == [None, None, 1, 0]


def test_rule_3_of_simultaneous_answers_that_to_the_later_frame_counts() -> None:
    assert judged_by(truth_at(0, 1, 2), answers_at({1: 1.5, 0: 1.5})) == [None, None, 1]


def test_rule_4_before_the_first_answer_everything_is_missed() -> None:
    report = score("f1", truth_at(0, 1, 2), answers_at({0: 5.0, 1: 5.0, 2: 5.0}), online=True)
    names = ("true_positives", "false_positives", "false_negatives")
    assert [report.value(name) for name in names] == [0, 0, 3]


def test_rule_5_each_sequence_has_its_own_clock_and_answers() -> None:
    truth = side({A: {0: (0, None), 1: (1, None)}, B: {0: (100, None), 1: (101, None)}})
    found = side({A: {0: (None, 0.5)}, B: {0: (None, 100.5), 1: (None, 101.0)}})
    answers = StreamingAnswers.of(truth, found)
    assert answers.chosen(0.0).tolist() == [NO_ANSWER, 0, NO_ANSWER, 2]


def test_rule_6_answers_to_frames_that_the_truth_lacks_count_by_their_own_time() -> None:
    """The truth has every tenth frame, and the system answers more often."""
    truth = side({A: {0: (0.0, None), 10: (1.0, None), 20: (2.0, None)}})
    found = side({A: {0: (None, 0.2), 5: (0.5, 0.8), 17: (1.7, 2.5)}})
    assert judged_by(truth, found) == [None, 5, 5]


def test_rule_7_frames_that_are_not_judged_need_no_time() -> None:
    truth = make_annotations(
        {A: {0: [box(0)], 1: [box(1)]}}, dont_care=[(A, 1)], times_s={(A, 0): 0.0}
    )
    found = side({A: {0: (0.0, 0.0), 1: (1.0, 1.0)}})
    assert judged_by(truth, found) == [0, None]
    everything = score("f1", truth, found, online=True)
    assert (everything.value("true_positives"), everything.value("false_positives")) == (1, 0)


def test_rule_8_a_budget_allows_late_answers_but_not_of_later_frames() -> None:
    truth, answers = truth_at(0, 1, 2, 3), answers_at({0: 1.5, 1: 2.5, 2: 3.5, 3: 4.5})
    assert judged_by(truth, answers, 0.5) == [None, 0, 1, 2]
    assert judged_by(truth, answers, 1.5) == [0, 1, 2, 3]
    assert judged_by(truth, answers, 100.0) == [0, 1, 2, 3]


def test_rule_8_a_latency_equal_to_the_budget_is_within_it_despite_rounding() -> None:
    """0.1 + 0.2 is more than 0.3, and 1e9 + 0.1 loses digits."""
    for capture, arrival in ((0.1, 0.3), (1e9, 1e9 + 0.1), (0.7, 0.8)):
        times = np.array([capture])
        found = last_answers(times, times, np.array([arrival]), arrival - capture)
        assert found.tolist() == [0]
        least = np.nextafter(arrival - capture, 0.0)
        assert last_answers(times, times, np.array([arrival]), least).tolist() == [-1]


# --- an independent oracle ---------------------------------------------------------------------


def oracle(
    times_s: Sequence[float], answers: Sequence[tuple[float, float]], budget_s: float
) -> list[int]:
    """The rules word by word: for each time, the answers that count, and the last of them."""
    chosen = []
    for time_s in times_s:
        best = -1
        for row, (capture_s, arrival_s) in enumerate(answers):
            if capture_s > time_s or arrival_s - time_s > budget_s:
                continue
            if best < 0 or (arrival_s, capture_s) >= (answers[best][1], answers[best][0]):
                best = row
        chosen.append(best)
    return chosen


grid = st.integers(0, 12).map(lambda tenths: tenths / 10)


def test_an_answer_to_a_later_frame_counts_for_no_earlier_time() -> None:
    """It arrives in time, but its frame is captured only after that time."""
    found = last_answers(np.array([5.05, 5.15]), np.array([5.1]), np.array([5.12]), 0.2)
    assert found.tolist() == [-1, 0]


@pytest.mark.slow
@settings(max_examples=example_count(300))
@given(st.lists(grid, max_size=8), st.lists(st.tuples(grid, grid), max_size=12), grid)
def test_the_last_answers_equal_those_of_the_oracle(
    times_s: list[float], latencies: list[tuple[float, float]], budget_s: float
) -> None:
    """Times are on a coarse grid, so that ties, overtaking and exact budgets are common."""
    answers = sorted(
        ((capture, capture + latency) for capture, latency in latencies),
        key=lambda one: (one[1], one[0]),
    )
    columns = np.array(answers, dtype=np.float64).reshape(-1, 2)
    if len(answers) == 0:
        return
    found = last_answers(np.array(times_s), columns[:, 0], columns[:, 1], budget_s)
    assert found.tolist() == oracle(times_s, answers, budget_s)


@pytest.mark.slow
@settings(max_examples=example_count(40))
@given(
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.lists(grid, min_size=6, max_size=6),
    st.sampled_from(["f1", "map", "hota"]),
)
def test_every_point_of_the_curve_is_the_score_of_the_answers_chosen_by_the_oracle(
    answered: list[bool], latencies: list[float], name: str
) -> None:
    truth = truth_at(*(number / 4 for number in range(6)))
    arrivals = {number: number / 4 + latencies[number] for number in range(6) if answered[number]}
    if not arrivals:
        return
    evaluator = create_evaluator(name)
    measure = evaluator.ranking[0]
    report = score(name, truth, answers_at(arrivals), online=True)
    ordered = sorted((number / 4, arrival) for number, arrival in arrivals.items())
    for point in report.curve(f"{measure}_by_latency_budget").points():
        rows = oracle(
            [number / 4 for number in range(6)], ordered, float(point["latency_budget_s"] or 0)
        )
        chosen = {
            number: [box(round(ordered[row][0] * 4))] for number, row in enumerate(rows) if row >= 0
        }
        held = make_annotations({A: chosen}, arity=4)
        [expected] = score_annotations([evaluator], truth, held)
        assert point[measure] == expected.value(measure)
    assert (
        report.value(measure) == report.curve(f"{measure}_by_latency_budget").points()[0][measure]
    )


# --- reports -----------------------------------------------------------------------------------


def test_a_report_has_a_curve_by_budget_and_the_latencies() -> None:
    """Ten answers: one takes 0.5 s and all others 0.125 s, which are exact in binary64."""
    truth = truth_at(*range(10))
    arrivals = {number: number + (0.5 if number == 3 else 0.125) for number in range(10)}
    report = score("f1", truth, answers_at(arrivals), online=True)
    assert report.curve("f1_by_latency_budget", label="car").points() == [
        {"latency_budget_s": 0.0, "f1": 0.0},  # Nine answers, each to the frame before.
        {"latency_budget_s": 0.125, "f1": 0.9},  # Frame 3 is judged against the answer to 2.
        {"latency_budget_s": 0.5, "f1": 1.0},
    ]
    [note] = [warning for warning in report.warnings if warning.code == "streaming_accuracy"]
    assert (note.is_note, note.count) == (True, 10)
    assert "latency 0.125 s at the median, 0.5 s at 95 %, 0.5 s at 99 %, 0.5 s at most" in str(note)
    assert "1 without an answer yet, 1 of 10 answers never used" in note.message


@pytest.mark.parametrize("every", [1, 4], ids=["all frames", "every fourth frame"])
@pytest.mark.parametrize("latency_s", [0.05, 0.15, 0.9])
def test_a_good_detector_that_answers_late_gives_no_warning(every: int, latency_s: float) -> None:
    """Late answers are what is measured: its frame numbers and its videos are right."""
    truth, found = traffic(speed_px=25.0, noise_px=1.0)
    found = rows_where(found, found["frame"] % every == 0)
    seconds = {"time_s": found["frame"] / 10, "arrival_s": found["frame"] / 10 + latency_s}
    times = {"time_s": truth["frame"] / 10}
    report = score("map", truth | times, found | seconds, online=True)
    assert [warning.code for warning in report.warnings] == ["streaming_accuracy"]


def test_detections_in_another_format_give_a_warning_however_late_they_are() -> None:
    truth, found = traffic()
    seconds = {"arrival_s": found["frame"] / 10 + 0.9, "time_s": found["frame"] / 10}
    times = {"time_s": truth["frame"] / 10}
    report = score("map", truth | times, as_sizes(found) | seconds, online=True)
    assert "reads_as_sizes" in [warning.code for warning in report.warnings]


def test_without_latency_the_scores_equal_those_of_files() -> None:
    truth = truth_at(0, 1, 2)
    found = answers_at({0: 0.0, 1: 1.0, 2: 2.0})
    online, offline = score("f1", truth, found, online=True), score("f1", truth, found)
    assert online.rows() == offline.rows()


@settings(max_examples=example_count(25))
@given(case=cases(Needs((4,), (4,), confidences=True, tracks=True), dont_care_frames=False))
@pytest.mark.parametrize("name", ["f1", "coco", "clear", "identity", "hota", "ospa", "errors"])
def test_instant_answers_score_like_files_under_every_kind_of_evaluator(
    name: str, case: Case
) -> None:
    truth = replace(case.truth, frame_times_s=case.truth.frame_numbers.astype(np.float64))
    in_truth = {
        (truth.sequences[index], number)
        for index, number in zip(
            truth.frame_sequences.tolist(), truth.frame_numbers.tolist(), strict=True
        )
    }
    detections = case.detections
    keep = np.array(
        [
            (detections.sequences[index], number) in in_truth
            for index, number in zip(
                detections.frame_sequences.tolist(), detections.frame_numbers.tolist(), strict=True
            )
        ],
        dtype=bool,
    )
    found = detections.take_frames(keep)
    times_s = found.frame_numbers.astype(np.float64)
    found = replace(found, frame_times_s=times_s, frame_arrivals_s=times_s)
    answered = {
        (found.sequences[index], number)
        for index, number in zip(
            found.frame_sequences.tolist(), found.frame_numbers.tolist(), strict=True
        )
    }
    if answered != in_truth:
        return  # A frame without an answer is judged by the one before.
    assert score(name, truth, found, online=True).rows() == score(name, truth, found).rows()


def test_every_evaluator_accepts_answers_by_their_time() -> None:
    for name in evaluator_names():
        evaluator = create_evaluator(name)
        arity = evaluator.needs.detection_arities[0]
        shape = {2: (5.0, 5.0), 4: (1.0, 1.0, 9.0, 9.0), 8: (1.0, 1, 9, 1, 9, 9, 1, 9)}[arity]
        frames = {number: [Thing(shape, "a", track_id=1)] for number in range(1, 6)}
        made = make_annotations({("", "1"): frames})
        times_s = made.frame_numbers.astype(np.float64)
        timed = replace(made, frame_times_s=times_s, frame_arrivals_s=times_s + 1.5)
        report = score(name, timed, timed, online=True)
        assert report.value(evaluator.ranking[0]) is not None or name
        assert report.curves[-1].name.endswith("_by_latency_budget")


# --- what is refused ---------------------------------------------------------------------------


def faults_of(truth: Annotations, found: Annotations, **options: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        score("f1", truth, found, online=True, **options)
    return [str(fault) for fault in caught.value.faults]


def test_missing_times_and_arrivals_are_refused_together() -> None:
    truth = side({A: {0: (0.0, None), 1: (None, None), 2: (None, None)}})
    found = side({A: {0: (0.0, None), 1: (None, 1.0)}})
    assert faults_of(truth, found) == [
        (
            "truth: found no time in frame 1 of sequence a (and 1 more like it), expected "
            "time_s in every frame that is judged"
        ),
        (
            "detections: found no time in frame 1 of sequence a, expected time_s of the frame, "
            "in the truth or in the detections"
        ),
        (
            "detections: found no arrival in frame 0 of sequence a, expected arrival_s of every "
            "answer, for streaming accuracy"
        ),
    ]


def test_inconsistent_clocks_are_refused() -> None:
    truth = truth_at(1000.0, 1001.0)
    found = answers_at({0: 999.0, 1: 1001.0 + 86_401.0})
    assert faults_of(truth, found) == [
        (
            "detections: found an arrival before the frame was captured in frame 0 of sequence a, "
            "expected arrival_s on the clock of the truth's time_s"
        ),
        (
            "detections: found an arrival more than a day after the frame was captured in frame 1 "
            "of sequence a, expected arrival_s on the clock of the truth's time_s"
        ),
    ]


def test_frames_that_only_a_specification_lists_have_no_time_and_are_refused() -> None:
    sequence = SequenceSpec(name="a", frame_count=3)
    specification = BenchmarkSpec(sequences=(sequence,))
    [fault] = faults_of(truth_at(0, 1), answers_at({0: 0.5}), specification=specification)
    assert "no time in frame 2 of sequence a" in fault


def test_an_unknown_sequence_is_refused_as_without_times() -> None:
    [fault] = faults_of(truth_at(0, 1), answers_at({0: 0.5}, key=B))
    assert fault.startswith(
        "detections, entry 0: found sequence b, expected a sequence of the truth"
    )
