"""Words, rows and forms of the pages of organisers, made from plain values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.parameters import describe_parameters
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.batches import read_own_batch
from vidscore_server.domain.policy import Policy
from vidscore_server.web.site.forms import Form, refused_by_service, refused_input
from vidscore_server.web.site.organise.audit import read_filter, record_lines
from vidscore_server.web.site.organise.benchmark import lede_of
from vidscore_server.web.site.organise.create import document_of
from vidscore_server.web.site.organise.overview import queue_sentence
from vidscore_server.web.site.organise.policy import policy_texts, read_policy, seen_text
from vidscore_server.web.site.organise.tokens import read_days, teams_of
from vidscore_server.web.site.organise.truth_preview import Preview
from vidscore_server.web.site.phrases import size_text, things, time_text, value_text
from vidscore_server.web.site.service import FieldFault, ServiceError


def test_times_sizes_and_values_are_written_for_people() -> None:
    assert time_text(datetime(2026, 11, 2, 8, 4, tzinfo=UTC)) == "2 Nov 2026, 08:04 UTC"
    assert time_text(None, "never") == "never"
    assert [size_text(size) for size in (None, 0, 999, 1500, 61_000_000_000)] == [
        "unknown", "0 bytes", "999 bytes", "1.5 kB", "61 GB",
    ]  # fmt: skip
    assert [value_text(value) for value in (None, 0.5, -0.25)] == [
        "undefined", "0.5000", "\N{MINUS SIGN}0.2500",
    ]  # fmt: skip
    assert (things(1, "frame"), things(1200, "frame")) == ("1 frame", "1,200 frames")


def test_a_fault_is_shown_beneath_the_field_at_the_start_of_its_path() -> None:
    error = ServiceError(
        "INVALID_ARGUMENT",
        "INVALID_INPUT",
        "benchmark.policy.ladder_step: found -1",
        (
            FieldFault("benchmark.policy.ladder_step", "found -1, expected more than 0"),
            FieldFault("teams[3]", "found x"),
            FieldFault("benchmark.other", "found y"),
        ),
    )
    names = {"benchmark.policy.ladder_step": "ladder_step", "teams": "teams"}
    form = refused_by_service({"ladder_step": "-1"}, error, names)
    assert form.value("ladder_step") == "-1"
    assert form.faults_of("ladder_step") == ("Found -1, expected more than 0",)
    assert form.faults_of("teams") == ("Found x",)
    assert form.others == ("benchmark.other: found y",)
    assert form.is_refused


def test_a_refusal_without_fields_is_shown_in_its_own_words() -> None:
    form = refused_by_service({}, ServiceError("ABORTED", "X", "It was too late."), {})
    assert (form.message, form.others) == ("It was too late.", ())
    assert not Form().is_refused


def test_faults_of_a_file_keep_their_place_and_similar_ones_are_shown_once() -> None:
    faults = [Fault("one", "a number", "truth.csv", line=line, field="x") for line in range(2, 62)]
    form = refused_input({}, faults, {})
    assert form.others == ("60 times, first at truth.csv, line 2, x: found one, expected a number",)
    faults = [Fault("one", "a number", "truth.csv", line=2, field=f"x{n}") for n in range(60)]
    form = refused_input({}, faults, {})
    assert form.others[0] == "truth.csv, line 2, x0: found one, expected a number"
    assert (len(form.others), form.others[-1]) == (51, "... and 10 more")


def test_the_form_gives_the_content_of_a_benchmark_file() -> None:
    typed = {
        "title": "Sky",
        "evaluators": "f1, map ,",
        "truth_geometry": "box",
        "detection_geometry": "",
        "open_time": "2026-05-01T00:00",
        "close_time": "2026-06-01T00:00:00+02:00",
        "visibility": "final",
    }
    assert document_of(typed) == {
        "title": "Sky",
        "evaluators": [{"name": "f1"}, {"name": "map"}],
        "truth_geometry": "box",
        "open_time": datetime(2026, 5, 1, tzinfo=UTC),
        "close_time": datetime(2026, 5, 31, 22, tzinfo=UTC),
        "policy": {"visibility": "final"},
    }


def test_a_policy_survives_its_form() -> None:
    """Every key has a field, and is read back unchanged."""
    policy = Policy(
        visibility="final", ladder_step=0.05, released_measures=("precision", "recall"),
        quiet_timeout_s=90.0, submissions_in_all=0, public_board=False, earlier_first=True,
        truth_timeout_s=1_234_567.0, private_share=1 / 3,
    )  # fmt: skip
    plain: dict[str, Any] = {
        entry.name.removesuffix("_s"): getattr(policy, entry.name)
        for entry in describe_parameters(Policy)
    }
    texts = policy_texts({**plain, "unlimited_submissions": True})
    assert texts.keys() == {entry.name for entry in describe_parameters(Policy)}
    assert read_policy(texts) == policy
    assert texts["truth_timeout_s"] == "1234567"


def test_names_with_commas_and_quotes_are_kept_unchanged() -> None:
    names = ("harbour, north", 'the "old" bridge', "day/a", "a,b", " c ")
    texts = policy_texts({"private_sequences": names})
    assert texts["private_sequences"] == (
        '"harbour, north", "the ""old"" bridge", day/a, "a,b", " c "'
    )
    assert read_policy(texts).private_sequences == names
    assert read_policy({"private_sequences": "one,two ,, three"}).private_sequences == (
        "one",
        "two",
        "three",
    )


def test_faults_of_a_policy_name_their_keys() -> None:
    with pytest.raises(ParameterError) as caught:
        read_policy({"ladder_step": "-1", "minimum_frames": "few", "visibility": "all"})
    assert {fault.field for fault in caught.value.faults} == {
        "ladder_step", "minimum_frames", "visibility",
    }  # fmt: skip


@pytest.mark.parametrize("key", ["minimum_frames", "submissions_per_day", "submissions_in_all"])
def test_a_number_out_of_range_is_a_fault_of_its_field(key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read_policy({key: 30 * "9"})
    assert [fault.field for fault in caught.value.faults] == [key]


@pytest.mark.parametrize("name", ["since", "until"])
def test_an_invalid_utc_time_is_a_fault_of_its_field(name: str) -> None:
    for text in ("0001-01-01T00:00+23:59", "9999-12-31T23:59-23:59"):
        assert list(read_filter({name: text})[1]) == [name]


def test_what_a_team_sees_is_described_in_a_phrase() -> None:
    nothing = {
        "submission": "", "rank": 0, "values": [], "score_count": 0, "curve_count": 0,
        "outcome_submission_count": 0,
    }  # fmt: skip
    assert seen_text(nothing) == "no scores in a report"
    seen = nothing | {
        "submission": "benchmarks/b/submissions/s",
        "rank": 2,
        "values": [{"measure": "f1", "value": None}],
        "score_count": 1,
        "curve_count": 1,
        "outcome_submission_count": 2,
    }
    assert seen_text(seen) == (
        "rank 2 with s (f1 undefined); one score in a report; one curve; "
        "outcomes of two submissions"
    )


def test_names_of_teams_can_be_pasted_in_any_form() -> None:
    assert teams_of("red\n blue ,, teal;\r\n") == ["red", "blue", "teal"]


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "inf", "1e9"])
def test_a_number_of_days_is_positive_and_bounded(text: str) -> None:
    assert read_days(text)[1]


def test_an_empty_number_of_days_means_no_end() -> None:
    assert (read_days(" "), read_days("0.5")) == ((None, ""), (43_200.0, ""))


def test_an_audit_record_is_neither_a_formula_nor_a_command_to_a_terminal() -> None:
    record = {
        "number": 1,
        "time": datetime(2026, 1, 2, tzinfo=UTC),
        "actor": "server",
        "action": "x",
        "resource": "=HYPERLINK(1)",
        "detail": "a, \x1b[2Jb",
    }
    assert record_lines([record]) == (
        '1,2026-01-02T00:00:00+00:00,server,x,\'=HYPERLINK(1),"a, \\x1b[2Jb"\n'
    )


def test_times_of_the_filter_are_in_utc_by_default() -> None:
    request, faults = read_filter({"since": "2026-01-02T03:04", "until": "never", "actor": " a "})
    assert request["since"] == datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    assert (request["actor"], list(faults)) == ("a", ["until"])


def test_a_benchmark_shows_its_status() -> None:
    board = {"publishable": False, "truth_revision": 0}
    empty = {"truth_revision": 0, "truth_complete": False, "submissions_to_rescore": 0}
    assert lede_of(empty, board).startswith("It has no ground truth yet")
    waiting = {"truth_revision": 2, "truth_complete": True, "submissions_to_rescore": 1}
    assert lede_of(waiting, {"publishable": False, "truth_revision": 1}) == (
        "Revision 2 of the ground truth is complete. One submission is still to be scored again."
    )


def test_the_queue_describes_its_submissions() -> None:
    assert queue_sentence([]) == "No submission waits, runs or has failed."
    counts = [
        {"state": "sealed", "count": 1},
        {"state": "waiting_for_truth", "count": 1},
        {"state": "scoring", "count": 1},
        {"state": "failed", "count": 1},
        {"state": "scored", "count": 9},
    ]
    # 1000 of a unit is written as 1 of the next.
    assert [size_text(size) for size in (999_499, 999_500, 999_999_999)] == [
        "999 kB", "1 MB", "1 GB",
    ]  # fmt: skip
    assert queue_sentence(counts) == (
        "One submission is being scored, two submissions wait, one submission has failed."
    )


def test_a_preview_counts_by_sequence_and_label_and_draws_the_first_frames() -> None:
    preview = Preview([{"name": "a", "domain": "", "image_width": 100, "image_height": 50}])
    batch = annotations_pb2.AnnotationBatch(
        sequences=[
            annotations_pb2.SequenceKey(sequence="a"),
            annotations_pb2.SequenceKey(domain="d", sequence="b"),
        ],
        labels=["car", "<b>"],
        frame_sequences=[0, 0, 1],
        frame_numbers=[1, 2, 7],
        frame_object_counts=[0, 2, 1],
        geometry=annotations_pb2.GEOMETRY_BOX,
        coordinates=[0.0, 0.0, 10.0, 10.0, 5.0, 5.0, 9.0, 9.0, 1.0, 1.0, 2.0, 3.0],
        label_indices=[0, 1, 0],
    )
    preview.add(read_own_batch(batch))
    assert preview.labels == ["<b>", "car"]
    assert preview.rows == [("a", 2, 2, [1, 1]), ("d/b", 1, 1, [0, 1])]
    assert (preview.frame_count, preview.object_count, preview.is_full) == (3, 3, False)
    assert [frame.title for frame in preview.drawn] == ["a, frame 2", "d/b, frame 7"]
    assert "<b>" not in preview.drawn[1].svg
