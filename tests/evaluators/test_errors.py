"""Errors say what is wrong, where, and what to do; they survive transfer between processes."""

from __future__ import annotations

import pickle

import pytest

from vidscore_evaluators import errors
from vidscore_evaluators.errors import (
    FAULTS_IN_MESSAGE,
    Fault,
    InputError,
    LimitError,
    MissingExtraError,
    VidscoreError,
)


def _classes(root: type[VidscoreError]) -> list[type[VidscoreError]]:
    return [root, *(deeper for child in root.__subclasses__() for deeper in _classes(child))]


def test_a_fault_names_file_line_entry_and_field_in_that_order() -> None:
    fault = Fault("'abc'", "a number", source="truth.csv", line=3, entry=1, field="x")
    assert str(fault) == "truth.csv, line 3, entry 1, x: found 'abc', expected a number"


def test_a_fault_names_only_the_known_parts_of_its_place() -> None:
    assert str(Fault("1", "2", field="tau")) == "tau: found 1, expected 2"
    assert str(Fault("1", "2")) == "found 1, expected 2"
    assert str(Fault("1", "2", advice="divide by 2")) == "found 1, expected 2; divide by 2"
    assert str(Fault("file not found", "", source="a.csv")) == "a.csv: file not found"
    assert Fault("1", "2", line=0, entry=0).place == "line 0, entry 0"


def test_a_message_lists_the_first_faults_and_counts_the_others() -> None:
    faults = [Fault("0", str(number)) for number in range(FAULTS_IN_MESSAGE + 3)]
    lines = str(InputError(faults)).splitlines()
    assert lines[:-1] == [str(fault) for fault in faults[:FAULTS_IN_MESSAGE]]
    assert lines[-1] == "... and 3 more"


def test_a_message_that_lists_all_faults_has_no_count() -> None:
    faults = [Fault("0", str(number)) for number in range(FAULTS_IN_MESSAGE)]
    assert len(str(InputError(faults)).splitlines()) == FAULTS_IN_MESSAGE


def _tracks(count: int, source: str = "a.csv") -> list[Fault]:
    return [
        Fault(str(-line), "a track", source=source, line=line, field="track_id")
        for line in range(1, count + 1)
    ]


def test_many_faults_of_one_kind_are_reported_once_with_their_number_and_the_first_place() -> None:
    other = Fault("nan", "a number", source="a.csv", line=9, field="x1")
    error = InputError([*_tracks(67), other])
    assert str(error).splitlines() == [
        "67 times, first at a.csv, line 1, track_id: found -1, expected a track",
        "a.csv, line 9, x1: found nan, expected a number",
    ]
    assert len(error.faults) == 68


def test_three_faults_of_one_kind_are_reported_one_by_one() -> None:
    assert str(InputError(_tracks(3))).splitlines() == [str(fault) for fault in _tracks(3)]
    assert str(InputError(_tracks(4))).startswith("4 times, first at a.csv, line 1")


def test_faults_in_different_files_are_of_different_kinds() -> None:
    lines = str(InputError([*_tracks(4), *_tracks(5, "b.csv")])).splitlines()
    assert [line.split(",")[0] for line in lines] == ["4 times", "5 times"]


def test_places_that_differ_only_in_their_index_are_of_one_kind() -> None:
    faults = [Fault("3", "a pair", field=f"coords[{index}]") for index in range(6)]
    assert str(InputError(faults)) == "6 times, first at coords[0]: found 3, expected a pair"


def test_a_message_counts_the_omitted_faults_and_not_their_kinds() -> None:
    kinds = [Fault("0", str(number)) for number in range(FAULTS_IN_MESSAGE)]
    assert str(InputError([*kinds, *_tracks(7)])).splitlines()[-1] == "... and 7 more"


@pytest.mark.parametrize(
    "kind", [kind for kind in _classes(VidscoreError) if issubclass(kind, InputError)]
)
def test_an_input_error_keeps_class_and_every_fault_when_pickled(kind: type[InputError]) -> None:
    faults = tuple(Fault(str(number), "0", entry=number) for number in range(50))
    back = pickle.loads(pickle.dumps(kind(faults)))
    assert type(back) is kind
    assert back.faults == faults
    assert str(back) == str(kind(faults))


def test_a_limit_error_names_the_limit_and_keeps_it_when_pickled() -> None:
    error = LimitError("12 frames", "frames_per_batch", 10)
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error) == "12 frames; the limit frames_per_batch is 10"
    assert (back.limit, back.maximum) == ("frames_per_batch", 10)


@pytest.mark.parametrize(
    ("extra", "installed"), [("parquet", "'vidscore[parquet]'"), (None, "pyarrow")]
)
def test_an_error_about_a_missing_package_says_how_to_install_it(
    extra: str | None, installed: str
) -> None:
    error = MissingExtraError("Parquet files", "pyarrow", extra)
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error) == f"Parquet files need pyarrow: pip install {installed}"


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in _classes(VidscoreError)
        if not issubclass(kind, InputError | LimitError | MissingExtraError)
    ],
)
def test_another_error_keeps_class_and_text_when_pickled(kind: type[VidscoreError]) -> None:
    back = pickle.loads(pickle.dumps(kind("what happened")))
    assert type(back) is kind
    assert str(back) == "what happened"


def test_every_error_has_its_own_reason_in_upper_case() -> None:
    kinds = [kind for kind in _classes(VidscoreError) if kind.__module__ == errors.__name__]
    reasons = [kind.reason for kind in kinds]
    assert len(set(reasons)) == len(reasons)
    assert all(reason == reason.upper() and reason.isidentifier() for reason in reasons)
