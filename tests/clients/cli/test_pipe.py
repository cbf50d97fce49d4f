"""`vidscore pipe` in this process: reports like `score`, invalid lines, running scores."""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.clients.cli.helpers import Chunks, Ticking, run, well

from vidscore_cli.lines import BadLineError
from vidscore_cli.pipe_scoring import PipeScoring, score_lines
from vidscore_cli.session import ExitCode
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.formats.json_lines import schema_text
from vidscore_evaluators.report import Report, report_from_dict
from vidscore_evaluators.scoring import score
from vidscore_evaluators.selection import Selection

Frame = dict[str, Any]


def box(x: float) -> list[float]:
    return [x, 0, x + 10, 10]


def frame(sequence: str, number: int, *xs: float, **others: Any) -> Frame:
    """A frame with a car at each position."""
    objects = [
        {"label": "car", "box": box(x), "confidence": 0.9 - row / 10, "track": row}
        for row, x in enumerate(xs)
    ]
    return {"sequence": sequence, "frame": number, **others, "objects": objects}


TRUTH = [
    frame("a", 0, 0, 100, time_s=3600.0),
    frame("a", 1, 10, 110, time_s=3601.0),
    frame("a", 2, time_s=7200.0),
    frame("b", 5, 50, time_s=7300.0),
    frame("b", 6, 60),
]
DETECTIONS = [
    frame("b", 5, 50, 300),
    frame("a", 1, 10, 112),
    frame("a", 0, 0),
    frame("b", 6),
    frame("a", 2, 7),
]
"""Unordered; frame 0 of a lacks one car, frame 6 of b is empty."""


TRUTH_AS_FOUND = [{key: value for key, value in one.items() if key != "time_s"} for one in TRUTH]


def lines(frames: Sequence[Frame]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in frames)


@pytest.fixture
def truth(tmp_path: Path) -> str:
    path = tmp_path / "truth.jsonl"
    path.write_text(lines(TRUTH))
    return str(path)


def report_of(text: str) -> Report:
    return report_from_dict(json.loads(text))


def pipe(truth: str, input_: str, *options: str, evaluator: str = "f1") -> Any:
    return run("pipe", "--score", evaluator, "--truth", truth, *options, input_=input_)


# --- the report ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
@pytest.mark.parametrize("evaluator", ["f1", "coco", "hota", "ospa"])
def test_the_report_equals_that_of_score_in_every_form(
    truth: str, tmp_path: Path, evaluator: str, form: str
) -> None:
    (tmp_path / "-").write_text(lines(DETECTIONS))
    options = ("--format", form, "--sequences", "--curves")
    piped = pipe(truth, lines(DETECTIONS), *options, evaluator=evaluator)
    scored = run(
        "score", evaluator, "--truth", truth, "--detections", "-", *options,
        input_=lines(DETECTIONS),
    )  # fmt: skip
    assert well(piped) == well(scored) != ""


def test_several_evaluators_parameters_and_warnings_equal_those_of_score(
    truth: str, tmp_path: Path
) -> None:
    """Confidences of 0 to 100, and a class that the truth lacks."""
    frames = json.loads(json.dumps(DETECTIONS).replace('"confidence": 0.', '"confidence": 80.'))
    frames[0]["objects"][1]["label"] = "truck"
    manifest = tmp_path / "manifest.toml"
    manifest.write_text('[[sequences]]\nname = "b"\nframe_count = 8\n')
    options = (
        *("--truth", truth, "--manifest", str(manifest), "--set", "f1.threshold=0.3"),
        *("--confidence-scale", "0,100", "--format", "json"),
    )
    piped = run("pipe", "--score", "f1", "--score", "map", *options, input_=lines(frames))
    scored = run("score", "f1", "map", "--detections", "-", *options, input_=lines(frames))
    assert well(piped) == well(scored)
    assert piped.stderr.splitlines()[1:] == scored.stderr.splitlines() != []


def test_a_truth_of_any_format_can_be_used(data: Path) -> None:
    frames = []
    for number in (1, 2, 3):
        corners = [10 * number, 20, 10 * number + 30, 80]
        found = {"box": corners, "track": 1, "label": "pedestrian"}
        frames.append({"sequence": "MOT17-02", "frame": number, "objects": [found]})
    text = lines(frames)
    options = ("--truth", str(data / "gt"), "--format", "json")
    piped = run("pipe", "--score", "clear", *options, input_=text)
    assert report_of(well(piped)).value("mota") == 1.0
    scored = run("score", "clear", *options, "--detections", "-", input_=text)
    assert piped.stdout == well(scored)


def test_an_empty_input_is_a_system_that_finds_nothing(truth: str) -> None:
    report = report_of(well(pipe(truth, "", "--format", "json")))
    assert report.value("false_negatives") == 6
    only_empty = pipe(truth, lines([frame("a", 0), frame("b", 5)]), "--format", "json")
    assert report_of(well(only_empty)).rows() == report.rows()


def test_points_are_scored_although_the_first_frames_are_empty(tmp_path: Path) -> None:
    points = [
        {"sequence": "1", "frame": number, "objects": [{"point": [7, 7]}] if number > 1 else []}
        for number in range(1, 6)
    ]
    path = tmp_path / "truth.jsonl"
    path.write_text(lines(points))
    piped = pipe(str(path), lines(points), "--format", "json", evaluator="spotgeo")
    assert report_of(well(piped)).value("f1") == 1.0


def test_thresholds_are_checked_as_by_score(truth: str) -> None:
    assert pipe(truth, lines(DETECTIONS), "--fail-under", "f1=0.1").exit_code == 0
    missed = pipe(truth, lines(DETECTIONS), "--fail-under", "f1=0.99")
    assert missed.exit_code == ExitCode.THRESHOLD
    assert "(--fail-under)" in missed.stderr


def test_the_printed_schema_is_that_of_the_package() -> None:
    assert well(run("pipe", "--schema")) == schema_text()


# --- invalid lines ---------------------------------------------------------------------------


def test_an_invalid_line_ends_the_run_with_every_fault_of_that_line(truth: str) -> None:
    bad = {"sequence": "a", "frame": "x", "objects": [{"box": [1, 2, 3]}]}
    text = lines(DETECTIONS[:1]) + lines([bad]) + "{also bad\n"
    result = pipe(truth, text, "--no-progress")
    assert (result.exit_code, result.stdout) == (ExitCode.INPUT, "")
    assert result.stderr.splitlines() == [
        'Error: line 2: frame: found "x", expected an integer from 0 to 9007199254740991',
        "line 2: objects[0].box: found an array of 3, expected [x1, y1, x2, y2]",
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("nonsense", "line 2: found invalid JSON ("),
        (json.dumps(DETECTIONS[0]), "line 2: frame: found frame 5 of sequence b again"),
        (json.dumps(frame("c", 0)), "line 2: found sequence c, expected a sequence of the truth"),
        (
            '{"sequence": "a", "frame": 0, "objects": [{"point": [1, 2]}]}',
            "line 2: objects[0]: found a point, expected a box, as all objects are",
        ),
    ],
)
def test_a_warning_names_its_line(truth: str, entry: str, said: str) -> None:
    result = pipe(truth, lines(DETECTIONS[:1]) + entry, "--no-progress")
    assert result.exit_code == ExitCode.INPUT
    assert result.stderr.startswith(f"Error: {said}")


def test_an_endless_line_ends_the_run_once_it_is_too_long(truth: str) -> None:
    endless = Chunks(itertools.chain(["x" * (1 << 18)] * 5, iter(pytest.fail, "")))
    with pytest.raises(BadLineError, match=r"^line 1: found a longer line, expected at most"):
        score_lines(typed(truth, progress=False), endless)


def test_a_violated_rule_of_an_evaluator_names_the_line(truth: str) -> None:
    untracked = {"sequence": "a", "frame": 0, "objects": [{"box": box(0)}]}
    result = pipe(truth, lines([frame("a", 1), untracked]), "--no-progress", evaluator="hota")
    assert result.exit_code == ExitCode.INPUT
    assert "Error: line 2: found an object without a track" in result.stderr


def test_invalid_lines_can_be_skipped_and_counted_with_the_first_ten_listed(truth: str) -> None:
    text = lines(DETECTIONS[:2]) + "oops\n" * 12 + lines(DETECTIONS[2:])
    result = pipe(truth, text, "--on-error", "skip", "--no-progress", "--format", "json")
    told = result.stderr.splitlines()
    assert told[0] == "Warning: 12 lines left out:"
    assert [line.split(":")[0].strip() for line in told[1:11]] == [
        f"line {number}" for number in range(3, 13)
    ]
    assert told[11] == "  ... and 2 more lines"
    skipped = run(
        *("score", "f1", "--truth", truth, "--detections", "-", "--on-error", "skip"),
        *("--format", "json", "--input-format", "jsonl"),
        input_=text,
    )
    assert well(result) == well(skipped)


def test_warnings_are_errors_on_request(truth: str) -> None:
    result = pipe(truth, "oops\n" + lines(DETECTIONS), "--on-error", "skip", "--strict")
    assert (result.exit_code, result.stdout) == (ExitCode.INPUT, "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "name a BENCHMARK, or an evaluator with --score and its --truth"),
        (("--score", "f1"), "--score needs --truth"),
        (("--score", "f1", "--truth", "-"), "--truth -: standard input has the lines"),
        (("sky", "--score", "f1"), "BENCHMARK and --score exclude each other"),
        (("sky", "--window", "3"), "--window needs --score"),
        (("--score", "f1", "--truth", "t", "--replay"), "--replay needs a BENCHMARK"),
        (("--score", "f1", "--truth", "t", "--online", "--hours"), "--online and --hours exclude"),
        (("--score", "nonesuch", "--truth", "t"), "nonesuch"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: tuple[str, ...], said: str) -> None:
    result = run("pipe", *options, input_="")
    assert result.exit_code == ExitCode.USAGE
    assert said in result.stderr


# --- while it runs ---------------------------------------------------------------------------


def typed(truth: str, **changes: Any) -> PipeScoring:
    options = {
        "evaluators": ("f1",),
        "settings": (),
        "manifest": None,
        "truth": truth,
        "input_format": "auto",
        "image_size": None,
        "confidence_scale": None,
        "on_error": "refuse",
        "progress": True,
        "online": False,
        "window": None,
        "hours": False,
        "baseline": None,
        "alert": (),
        "alert_url": None,
        "format_": "json",
        "output": "-",
        "sequences": False,
        "curves": False,
        "strict": False,
        "fail_under": (),
    }
    return PipeScoring(**{**options, **changes})


def test_running_scores_cover_the_frames_so_far_at_most_once_a_second(
    truth: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One frame per 0.4 s: shown at once, and again with the third frame after it."""
    found = [frame("a", 0, 0, 100), frame("a", 1), *DETECTIONS[3:], DETECTIONS[0]]
    rows = [json.dumps(entry) + "\n" for entry in found]
    clock = Ticking()
    score_lines(typed(truth), Chunks(rows, clock.tick), clock=clock)
    said = [line for line in capsys.readouterr().err.splitlines() if " of 5 frames" in line]
    assert said == ["1 of 5 frames, f1 f1 1.0000", "4 of 5 frames, f1 f1 0.5000"]


def test_without_progress_nothing_is_printed(truth: str) -> None:
    assert "5 of 5 frames" in pipe(truth, lines(DETECTIONS)).stderr
    assert " of 5 frames" not in pipe(truth, lines(DETECTIONS), "--no-progress").stderr


def test_a_frame_that_arrives_in_pieces_is_one_frame(
    truth: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = lines(DETECTIONS)
    score_lines(
        typed(truth, progress=False), Chunks([text[at : at + 7] for at in range(0, len(text), 7)])
    )
    in_pieces = capsys.readouterr().out
    score_lines(typed(truth, progress=False), io.BytesIO(text.encode()))
    assert in_pieces == capsys.readouterr().out


# --- online ----------------------------------------------------------------------------------


def test_answers_arrive_when_their_line_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer to frame 0 arrives at 0.5, that to frame 1 at 2.5: at 2, frame 0's is the last."""
    path = tmp_path / "truth.jsonl"
    path.write_text(lines([frame("a", number, 0, time_s=float(number)) for number in range(3)]))
    answers = [frame("a", 0, 0), frame("a", 1, 500)]
    times_s = iter([0.5, 2.5, 2.5])
    score_lines(
        typed(str(path), online=True, progress=False),
        Chunks([json.dumps(answer) + "\n" for answer in answers]),
        wall_clock=lambda: next(times_s),
    )
    report = report_of(capsys.readouterr().out)
    names = ("true_positives", "false_positives", "false_negatives")
    assert [report.value(name) for name in names] == [2, 0, 1]
    assert report.curve("f1_by_latency_budget").points() == [
        {"latency_budget_s": 0.0, "f1": 0.8},
        {"latency_budget_s": 0.5, "f1": 2 / 3},  # Frame 2 gets the answer to frame 1.
        {"latency_budget_s": 1.5, "f1": 1 / 3},
    ]


def test_a_line_with_its_own_arrival_is_refused_online(truth: str) -> None:
    result = pipe(truth, lines([frame("a", 0, arrival_s=1.0)]), "--online")
    assert result.exit_code == ExitCode.INPUT
    assert "line 1: arrival_s: found a time, expected no arrival_s" in result.stderr


def test_a_selection_of_frames_cannot_be_combined_with_online(truth: str) -> None:
    """Answers to earlier frames count in the selected ones."""
    options = ("--truth", truth, "--detections", truth, "--online")
    refused = run("score", "f1", *options, "--frames", "1:2")
    assert refused.exit_code == ExitCode.USAGE
    assert "--online and --frames exclude each other" in refused.stderr
    with pytest.raises(ParameterError, match="whole sequences, with online"):
        score("f1", truth, truth, online=True, select=Selection(frames="1:2"))


def test_score_reads_arrivals_from_files_and_writes_a_normal_report(tmp_path: Path) -> None:
    found = tmp_path / "found.jsonl"
    timed = [one | {"arrival_s": one["time_s"] + 0.5} for one in TRUTH if "time_s" in one]
    found.write_text(lines(timed))
    with_times = tmp_path / "timed.jsonl"
    with_times.write_text(lines([one for one in TRUTH if "time_s" in one]))
    options = ("--truth", str(with_times), "--detections", str(found), "--online")
    written = run("score", "f1", *options, "--format", "json")
    report = report_of(well(written))
    assert report.to_json() == score("f1", with_times, found, online=True).to_json()
    assert "Note: 4 x frames were judged against the last answer" in written.stderr
    assert "f1_by_latency_budget" in well(run("score", "f1", *options, "--curves"))


# --- windows ---------------------------------------------------------------------------------


def baseline(tmp_path: Path, truth: str, frames: Sequence[Frame]) -> str:
    path = tmp_path / "baseline.json"
    path.write_text(well(pipe(truth, lines(frames), "--format", "json")))
    return str(path)


def test_an_alert_is_raised_if_a_window_is_worse_than_the_baseline_by_more_than_the_drop(
    tmp_path: Path, truth: str
) -> None:
    """Windows of two frames: the first is perfect, the second finds nothing, one frame remains."""
    reference = baseline(tmp_path, truth, TRUTH_AS_FOUND)
    stream = [
        frame("a", 0, 0, 100),
        frame("a", 1, 10, 110),
        frame("b", 5),
        frame("b", 6),
        TRUTH_AS_FOUND[2],
    ]
    options = ("--baseline", reference, "--alert", "f1=0.5", "--window", "2")
    result = pipe(truth, lines(stream), *options, "--no-progress")
    assert result.exit_code == ExitCode.THRESHOLD
    alerts = [line for line in result.stderr.splitlines() if line.startswith("Alert")]
    assert alerts == [
        (
            "Alert: f1 of f1 over frames 3 to 4 is 0.0, the baseline has 1.0: "
            "worse by more than 0.5 (--alert)"
        )
    ]
    assert "f1" in result.stdout
    assert pipe(truth, lines(TRUTH_AS_FOUND), *options).exit_code == 0


def test_a_silent_system_raises_the_alert(tmp_path: Path, truth: str) -> None:
    options = ("--baseline", baseline(tmp_path, truth, TRUTH_AS_FOUND), "--alert", "f1=0.5")
    result = pipe(truth, "", *options, "--window", "2", "--no-progress")
    assert result.exit_code == ExitCode.THRESHOLD
    assert "Alert: f1 of f1 over everything is 0.0" in result.stderr


def test_a_second_drop_after_a_recovery_is_reported_again(tmp_path: Path, truth: str) -> None:
    """Single frames: bad, bad, good, bad. For false negatives lower is better."""
    reference = baseline(tmp_path, truth, TRUTH_AS_FOUND)
    stream = [frame("a", 0), frame("a", 1), TRUTH_AS_FOUND[3], frame("b", 6)]
    options = ("--baseline", reference, "--alert", "false_negatives=0", "--window", "1")
    result = pipe(truth, lines(stream), *options, "--no-progress")
    told = re.findall(
        r"^Alert: false_negatives of f1 over frames (\d+)", result.stderr, re.MULTILINE
    )
    assert told == ["1", "4"]


def test_without_a_window_an_alert_covers_everything(tmp_path: Path, truth: str) -> None:
    reference = baseline(tmp_path, truth, TRUTH_AS_FOUND)
    options = ("--baseline", reference, "--no-progress")
    worse = pipe(truth, lines(DETECTIONS), *options, "--alert", "recall=0.1")
    assert worse.exit_code == ExitCode.THRESHOLD
    assert "over everything" in worse.stderr
    assert pipe(truth, lines(DETECTIONS), *options, "--alert", "recall=0.9").exit_code == 0


def test_a_baseline_under_other_rules_gives_a_warning(tmp_path: Path, truth: str) -> None:
    """Its f1 at another threshold does not show what to expect here."""
    options = ("--baseline", baseline(tmp_path, truth, TRUTH_AS_FOUND), "--alert", "f1=0.5")
    same = pipe(truth, lines(TRUTH_AS_FOUND), *options, "--no-progress")
    assert "the baseline" not in same.stderr
    other = pipe(truth, lines(TRUTH_AS_FOUND), *options, "--no-progress", "--set", "threshold=0.9")
    assert "Warning: the baseline of f1 has another threshold; score it again" in other.stderr


def test_a_baseline_that_is_not_a_report_is_an_input_error(tmp_path: Path, truth: str) -> None:
    (tmp_path / "base.json").write_text("[1]")
    options = ("--alert", "f1=0.1", "--baseline", str(tmp_path / "base.json"))
    result = pipe(truth, "", *options)
    assert result.exit_code == ExitCode.INPUT
    assert "is not a report as" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--alert", "f1=0.1"), "--alert needs --baseline, and --baseline needs --alert"),
        (("--alert", "f2=0.1", "--baseline", "{}"), "no measure is called 'f2'"),
        (("--alert", "f1=-1", "--baseline", "{}"), "expected a drop of 0 or more"),
    ],
)
def test_meaningless_alerts_are_refused(
    tmp_path: Path, truth: str, options: tuple[str, ...], said: str
) -> None:
    (tmp_path / "none.json").write_text("[1]")
    good = baseline(tmp_path, truth, TRUTH_AS_FOUND)
    files = {"{}": good, "[1]": str(tmp_path / "none.json")}
    result = pipe(truth, "", *[files.get(word, word) for word in options])
    assert result.exit_code == ExitCode.USAGE
    assert said in result.stderr


def test_hours_are_scored_by_their_own_frames(tmp_path: Path, truth: str) -> None:
    """The hour from 3600 has frames 0 and 1 of a; that from 7200 frame 2 of a and 5 of b."""
    plain = report_of(well(pipe(truth, lines(DETECTIONS), "--format", "json")))
    report = report_of(well(pipe(truth, lines(DETECTIONS), "--format", "json", "--hours")))
    assert report.rows() == plain.rows()
    values = []
    for row, chosen in enumerate((TRUTH[:2], TRUTH[2:4])):
        keys = [(one["sequence"], one["frame"]) for one in chosen]
        part = tmp_path / f"hour-{row}.jsonl"
        part.write_text(lines(chosen))
        found = [one for one in DETECTIONS if (one["sequence"], one["frame"]) in keys]
        values.append(
            report_of(well(pipe(str(part), lines(found), "--format", "json"))).value("f1")
        )
    assert report.curve("f1_by_hour").columns == {
        "hour_start_s": (3600, 7200), "f1": tuple(values)
    }  # fmt: skip
