"""Times of frames in files and arrays: reading, refusals, warnings, writing and losses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from msgspec.structs import replace
from tests.evaluators.formats.helpers import (
    detections_of,
    frames_of,
    truth_of,
    validate_file,
    write,
)
from tests.evaluators.test_mask_base import with_masks

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import BOX, Annotations, SequenceKey, Side, concatenate
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import FORMATS, read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.scoring import score
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

HEADER = "sequence,frame,time_s,x1,y1,x2,y2\n"
STREET = ("", "street")
NEEDS = Needs((4,), (4,), confidences=True, tracks=True)
TIMED = make_annotations(
    {STREET: {0: [Thing((1, 2, 3, 4), "1", track_id=1)], 1: [], 2: [Thing((5, 6, 7, 8), "1")]}},
    times_s={(STREET, 0): 1732270000.5, (STREET, 2): 1732270000.58},
)


def times_of(side: Annotations) -> dict[tuple[str, int], float]:
    """The known times, by sequence and frame."""
    if side.frame_times_s is None:
        return {}
    found = zip(frames_of(side), side.frame_times_s.tolist(), strict=True)
    return {frame: time_s for frame, time_s in found if not np.isnan(time_s)}


def by_domain(side: Annotations) -> set[tuple[SequenceKey, int, float]]:
    """The known times and their frames, of sequences in any domain."""
    times = side.frame_times_s
    if times is None:
        return set()
    return {
        (side.sequences[sequence], number, time_s)
        for sequence, number, time_s in zip(
            side.frame_sequences.tolist(), side.frame_numbers.tolist(), times.tolist(), strict=True
        )
        if not np.isnan(time_s)
    }


# --- reading ---------------------------------------------------------------------------------


def test_a_time_belongs_to_the_frame_whichever_of_its_rows_has_it(tmp_path: Path) -> None:
    rows = (
        "a,1,,1,1,2,2", "a,0,0.25,,,,", "a,1,0.5,5,5,6,6", "b,0,7.5,1,1,2,2", "b,0,7.5,3,3,4,4",
        "a,2,,1,1,2,2",
    )  # fmt: skip
    source = truth_of(write(tmp_path / "truth.csv", HEADER + "\n".join(rows)))
    assert times_of(source.annotations) == {("a", 0): 0.25, ("a", 1): 0.5, ("b", 0): 7.5}
    assert source.annotations.columns == {}
    assert source.warnings == ()


def test_an_empty_column_of_times_means_no_times(tmp_path: Path) -> None:
    source = truth_of(write(tmp_path / "truth.csv", HEADER + "a,1,,1,1,2,2\n"))
    assert source.annotations.frame_times_s is None


def test_every_digit_of_a_time_is_read(tmp_path: Path) -> None:
    row = "a,1,1732270000.1234567,1,1,2,2\n"
    source = detections_of(write(tmp_path / "detections.csv", HEADER + row))
    assert times_of(source.annotations) == {("a", 1): 1732270000.1234567}


def test_invalid_times_and_contradicting_times_are_refused_together(tmp_path: Path) -> None:
    rows = (
        "a,0,-1,1,1,2,2\na,1,1732270000500,1,1,2,2\na,2,3,1,1,2,2\na,2,4,1,1,2,2\na,3,nan,1,1,2,2\n"
    )
    faults = validate_file(write(tmp_path / "truth.csv", HEADER + rows))
    found = {(fault.line, fault.field, fault.expected) for fault in faults}
    assert found == {
        (2, "column time_s", "seconds from 0 to 1e+11"),
        (3, "column time_s", "seconds from 0 to 1e+11"),
        (5, "column time_s", "one time in all rows of a frame"),
        (6, "column time_s", "a finite number"),
    }


def test_a_time_that_goes_backwards_within_a_sequence_is_a_warning(tmp_path: Path) -> None:
    rows = "a,0,5,,,,\na,1,,,,,\na,2,4,,,,\na,3,4,,,,\nb,0,1,,,,\nb,1,0,,,,\n"
    path = write(tmp_path / "truth.csv", HEADER + rows)
    [warning] = truth_of(path).warnings
    message = (
        f"{path}: 2 frames have a time_s before that of the frame before, the first is frame 2 of "
        "sequence a; give seconds, on one clock for all frames of a sequence"
    )
    assert warning == ReportWarning("times_go_back", message, 2)


def test_arrays_may_have_times() -> None:
    columns = {
        "sequence": ["a", "a", "b"], "frame": [0, 1, 0], "time_s": [0.5, None, np.nan],
        "x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0],
    }  # fmt: skip
    assert times_of(read_arrays(columns, "truth").annotations) == {("a", 0): 0.5}
    with pytest.raises(InputError, match=r"entry 1.*time_s.*seconds"):
        read_arrays(columns | {"time_s": [0.5, -2.0, 0.0]}, "truth")


@pytest.mark.parametrize("name", ["time", "time_ms", "times", "timestamp"])
def test_columns_of_other_names_stay_numbers_of_objects(tmp_path: Path, name: str) -> None:
    text = HEADER.replace("time_s", name) + "a,1,17,1,1,2,2\n"
    source = truth_of(write(tmp_path / "truth.csv", text))
    assert set(source.annotations.columns) == {name}
    assert source.annotations.frame_times_s is None


def test_the_name_in_another_case_is_an_error(tmp_path: Path) -> None:
    text = HEADER.replace("time_s", "Time_S") + "a,1,17,1,1,2,2\n"
    [fault] = validate_file(write(tmp_path / "truth.csv", text))
    assert fault.advice == "did you mean time_s?"


# --- writing ---------------------------------------------------------------------------------


@settings(max_examples=example_count(30))
@given(cases(NEEDS))
def test_generic_csv_keeps_times(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    folder = tmp_path_factory.mktemp("times")
    for side, given_ in ((Side.TRUTH, case.truth), (Side.DETECTIONS, case.detections)):
        [content] = convert(Source(given_, "given"), "generic-csv", side).files.values()
        (folder / "written.csv").write_bytes(content)
        back = read_source(folder / "written.csv", side, format_name="generic-csv").annotations
        assert by_domain(back) == by_domain(given_)


def test_files_without_times_are_written_as_before() -> None:
    bare = make_annotations({STREET: {0: [(1, 2, 3, 4)], 1: []}})
    [content] = convert(Source(bare, "given"), "generic-csv", Side.DETECTIONS).files.values()
    assert content == (
        b"domain,sequence,frame,class,x1,y1,x2,y2,confidence,track_id,flags\n"
        b",street,0,,1,2,3,4,1,,\n,street,1,,,,,,,,\n"
    )


def test_the_time_is_in_every_row_of_its_frame() -> None:
    [content] = convert(Source(TIMED, "given"), "generic-csv", Side.TRUTH).files.values()
    assert content.decode().splitlines() == [
        "domain,sequence,frame,time_s,class,x1,y1,x2,y2,track_id,flags",
        ",street,0,1732270000.5,1,1,2,3,4,1,",
        ",street,1,,,,,,,,",
        ",street,2,1732270000.58,1,5,6,7,8,,",
    ]


@settings(max_examples=example_count(20))
@given(cases(Needs((4,), (4,)), domains=("",), labels=("a", "b"), dont_care_frames=False))
def test_coco_files_keep_times_of_the_truth(
    tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    path = tmp_path_factory.mktemp("times") / "written.json"
    [content] = convert(Source(case.truth, "given"), "coco-json", Side.TRUTH).files.values()
    path.write_bytes(content)
    assert times_of(truth_of(path).annotations) == times_of(case.truth)


def test_an_invalid_time_of_an_image_is_refused(tmp_path: Path) -> None:
    document = (
        '{"images": [{"id": 1, "time_s": "noon"}, {"id": 2, "time_s": -1}, {"id": 3}],'
        ' "categories": [], "annotations": []}'
    )
    faults = validate_file(write(tmp_path / "truth.json", document))
    assert [(fault.entry, fault.field, fault.expected) for fault in faults] == [
        (entry, "images.time_s", "seconds from 0 to 1e+11") for entry in (0, 1)
    ]


def test_images_outside_videos_may_have_times_in_any_order(tmp_path: Path) -> None:
    document = (
        '{"images": [{"id": 1, "time_s": 2}, {"id": 2, "time_s": 1.5}],'
        ' "categories": [], "annotations": []}'
    )
    source = truth_of(write(tmp_path / "truth.json", document))
    assert times_of(source.annotations) == {("images", 1): 2.0, ("images", 2): 1.5}
    assert source.warnings == ()


def two_frames_for(name: str, side: Side) -> Annotations:
    """Two frames, each with an object that a file of the format can hold."""
    shape = {2: (3.0, 4.0), 4: (1.0, 2.0, 3.0, 4.0), 8: (1.0, 1.0, 5.0, 1.0, 5.0, 5.0, 1.0, 5.0)}
    capacity = FORMATS[name].writer.capacity[side]
    has_own_labels = name in {"motchallenge", "mots", "visdrone-det", "visdrone-mot"}
    label = "pedestrian" if has_own_labels else "1"
    thing = Thing(shape[max(capacity.arities)], label, track_id=1)
    where = ("Tower" if capacity.domains else "", "7")
    made = make_annotations({where: {5: [thing], 6: [thing]}})
    return with_masks(made) if capacity.masks and made.arity == BOX else made


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("side", list(Side))
def test_a_conversion_keeps_times_or_reports_that_it_does_not(name: str, side: Side) -> None:
    timed = replace(two_frames_for(name, side), frame_times_s=np.array([2.0, np.nan]))
    conversion = convert(Source(timed, "given"), name, side, image_size=(50, 40))
    lost = "1 time of a frame not written"
    assert (lost in conversion.remarks) is not FORMATS[name].writer.capacity[side].times


# --- arrivals ------------------------------------------------------------------------------------


def arrivals_of(side: Annotations) -> list[float | None]:
    """The arrival of the answer to each frame, in order of frames."""
    assert side.frame_arrivals_s is not None
    return [None if np.isnan(value) else value for value in side.frame_arrivals_s.tolist()]


def test_an_arrival_belongs_to_the_frame_whichever_of_its_rows_has_it(tmp_path: Path) -> None:
    rows = "a,1,1.5,1,1,2,2\na,1,,3,3,4,4\na,0,,1,1,2,2\nb,0,7.25,,,,\n"
    text = HEADER.replace("time_s", "arrival_s") + rows
    source = detections_of(write(tmp_path / "detections.csv", text))
    assert arrivals_of(source.annotations) == [None, 1.5, 7.25]
    assert source.annotations.frame_times_s is None
    assert source.annotations.columns == {}


def test_invalid_and_contradicting_arrivals_are_refused(tmp_path: Path) -> None:
    text = HEADER.replace("time_s", "arrival_s") + "a,0,-1,1,1,2,2\na,1,2,,,,\na,1,3,,,,\n"
    faults = validate_file(write(tmp_path / "a.csv", text), side=Side.DETECTIONS)
    assert [(fault.line, fault.field, fault.expected) for fault in faults] == [
        (2, "column arrival_s", "seconds from 0 to 1e+11"),
        (4, "column arrival_s", "one time in all rows of a frame"),
    ]


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("side", list(Side))
def test_a_conversion_keeps_arrivals_or_reports_that_it_does_not(
    tmp_path: Path, name: str, side: Side
) -> None:
    arrived = replace(two_frames_for(name, side), frame_arrivals_s=np.array([2.0, np.nan]))
    conversion = convert(Source(arrived, "given"), name, side, image_size=(50, 40))
    keeps = FORMATS[name].writer.capacity[side].arrivals
    assert ("1 arrival of an answer not written" in conversion.remarks) is not keeps
    if keeps:
        path = tmp_path / "written"
        path.write_bytes(conversion.files[""])
        assert arrivals_of(detections_of(path).annotations) == [2.0, None]


def test_arrivals_stay_with_their_frames_and_change_no_digest() -> None:
    bare = make_annotations({STREET: {0: [(1, 2, 3, 4)], 1: [], 2: [(5, 6, 7, 8)]}})
    arrived = replace(bare, frame_arrivals_s=np.array([0.5, 1.5, 2.5]))
    assert fingerprint(arrived) == fingerprint(bare)
    assert arrivals_of(arrived.take_frames(np.array([2, 0]))) == [2.5, 0.5]
    assert arrivals_of(arrived.frame_run(1, 3)) == [1.5, 2.5]
    joined = concatenate([arrived, bare.take_frames(np.array([], dtype=np.int64)), bare])
    assert arrivals_of(joined) == [0.5, 1.5, 2.5, None, None, None]
    other = make_annotations({STREET: {1: [], 7: []}}, arity=4)
    assert arrivals_of(align(other, arrived).detections) == [0.5, 1.5, 2.5, None]
    assert score("f1", bare, arrived).to_json() == score("f1", bare, bare).to_json()


# --- the use of times ------------------------------------------------------------------------


def test_scores_do_not_depend_on_times_and_the_digest_does() -> None:
    bare = make_annotations(
        {STREET: {0: [Thing((1, 2, 3, 4), "1", track_id=1)], 1: [], 2: [Thing((5, 6, 7, 8), "1")]}}
    )
    assert fingerprint(bare) != fingerprint(TIMED)
    timed, untimed = score("f1", TIMED, TIMED), score("f1", bare, bare)
    assert timed.scores == untimed.scores
    assert timed.truth_digest != untimed.truth_digest
