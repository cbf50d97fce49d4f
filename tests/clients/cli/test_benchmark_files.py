"""What an organiser writes and uploads: the file of a benchmark, shapes, names, truth."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.clients.cli.helpers import BENCHMARK, Call, run, well

from vidscore_cli.session import ExitCode
from vidscore_evaluators.presets import preset_names
from vidscore_evaluators.registry import evaluator_names
from vidscore_server.domain.definition import definition_from_dict


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = ", "line 1"),
        ('colour = "red"', "colour: found an unknown key"),
        (BENCHMARK + "minimum_frames = 0", "policy.minimum_frames: found 0, expected"),
        (BENCHMARK.replace("spotgeo", "spotgio"), "did you mean spotgeo"),
    ],
)
def test_a_file_that_defines_no_benchmark_is_an_input_error_with_the_place(
    text: str, said: str, folder: Path, organiser: Call
) -> None:
    (folder / "wrong.toml").write_text(text)
    result = organiser("benchmark", "create", "wrong", "wrong.toml")
    assert result.exit_code == ExitCode.INPUT
    assert said in result.stderr


@pytest.mark.slow
def test_the_template_of_any_evaluator_or_preset_is_a_valid_benchmark(
    folder: Path, organiser: Call
) -> None:
    """With every default uncommented it still defines the same benchmark."""
    for name in dict.fromkeys([*evaluator_names(), *preset_names()]):
        text = well(run("benchmark", "new", name, "--title", "A 'title'"))
        definition = definition_from_dict(tomllib.loads(text))
        assert [entry.name for entry in definition.specification.evaluators] == [name]
        assert definition.specification.title == "A 'title'"
        policy = text[text.index("[policy]") :]
        said = re.sub(r"(?m)^# (?=[a-z_]+ = )", "", policy)
        assert definition_from_dict({**tomllib.loads(text), **tomllib.loads(said)}) == definition
    written = run("benchmark", "new", "map", "--file", "new.toml")
    assert well(written) == ""
    again = run("benchmark", "new", "map", "--file", "new.toml")
    assert again.exit_code == ExitCode.USAGE
    well(organiser("benchmark", "create", "from-template", str(folder / "new.toml")))


def test_every_fault_of_a_benchmarks_file_is_reported_at_once(
    folder: Path, organiser: Call
) -> None:
    (folder / "wrong.toml").write_text(
        BENCHMARK.replace("title", "titel")
        .replace('visibility = "final"', 'visibility = "finale"\nsubmission_per_day = 3')
        .replace('detection_geometry = "point"', 'detection_geometry = "points"')
        + '\n[[sequences]]\nname = "1"\nframecount = 5\n[[domains]]\nname = "x"\nclasses = []\n'
    )
    result = organiser("benchmark", "create", "wrong", "wrong.toml")
    assert result.exit_code == ExitCode.INPUT
    told = result.stderr
    assert "titel: found an unknown key, expected one of title, evaluators, domains, " in told
    assert (
        "sequences, classes, description, truth_geometry, detection_geometry, open_time, " in told
    )
    assert "public_names, policy, live; did you mean title?" in told
    assert "policy.visibility: found 'finale'" in told
    assert "policy.submission_per_day" in told
    assert "submissions_per_day" in told
    assert "detection_geometry: found 'points'" in told
    assert "did you mean point?" in told
    assert "sequences[0].framecount" in told
    assert "did you mean frame_count?" in told
    assert "domains[0].classes: found [], expected at least one label" in told


def test_shapes_that_the_evaluator_leaves_open_follow_from_the_truth(
    folder: Path, organiser: Call, falcon: Call
) -> None:
    """Until truth is uploaded nobody can submit, and no unspecified geometry is shown."""
    (folder / "open.toml").write_text('title = "Open"\n[[evaluators]]\nname = "f1"\n')
    (folder / "boxes.csv").write_text("sequence,frame,x1,y1,x2,y2\na,1,0,0,9,9\na,2,5,5,9,9\n")
    well(organiser("benchmark", "create", "open", "open.toml"))
    sent = ("submit", "open", "--detections", "boxes.csv")
    early = falcon(*sent)
    assert early.exit_code == ExitCode.INPUT
    assert "takes no detections yet" in early.stderr
    well(organiser("benchmark", "truth", "open", "--truth", "boxes.csv"))
    shown = organiser("benchmark", "show", "open")
    assert "box" in well(shown)
    assert "UNSPECIFIED" not in early.stderr + shown.stdout
    well(falcon(*sent))
    well(organiser("benchmark", "update", "open", "open.toml"))


def test_names_that_a_benchmark_lacks_are_refused_or_warned_about_on_standard_error(
    folder: Path, organiser: Call, falcon: Call
) -> None:
    """`street.mp4` instead of `street`, `Car` beside `car`; correct names give no output."""
    (folder / "named.toml").write_text('title = "Named"\n[[evaluators]]\nname = "f1"\n')
    rows = "sequence,frame,x1,y1,x2,y2,class\nstreet,1,0,0,9,9,car\n"
    for name, text in {
        "right": rows,
        "sequence": rows.replace("street", "street.mp4"),
        "label": rows + "street,1,0,0,9,9,Car\n",
    }.items():
        (folder / f"{name}.csv").write_text(text)
    well(organiser("benchmark", "create", "named", "named.toml"))
    well(organiser("benchmark", "truth", "named", "--truth", "right.csv"))
    right = falcon("submit", "named", "--detections", "right.csv")
    assert well(right)
    assert "Warning" not in right.stderr
    refused = falcon("submit", "named", "--detections", "sequence.csv")
    assert refused.exit_code == ExitCode.INPUT
    assert "did you mean street?" in refused.stderr
    sent = ("submit", "named", "--detections", "label.csv", "--name", "label", "--format", "csv")
    doubtful = falcon(*sent)
    assert "Warning" not in well(doubtful)
    assert doubtful.stderr.count("Warning: label 'Car' is not in") == 1
    assert "did you mean car?" in doubtful.stderr
    shown = falcon("submission", "show", "named/label", "--format", "json")
    assert len(json.loads(well(shown))["warnings"]) == 1


def test_uploaded_truth_is_described_and_warned_about_if_it_looks_like_detections(
    folder: Path, organiser: Call
) -> None:
    (folder / "named.toml").write_text('title = "Named"\n[[evaluators]]\nname = "f1"\n')
    (folder / "odd.csv").write_text(
        "sequence,frame,x1,y1,x2,y2,class,confidence\n"
        "a,1,0,0,9,9,car,1\na,1,20,20,29,29,car,0.5\nb,7,0,0,9,9,bus,0.25\n"
    )
    well(organiser("benchmark", "create", "odd", "named.toml"))
    result = organiser("benchmark", "truth", "odd", "--truth", "odd.csv", "--incomplete")
    assert well(result).splitlines() == [
        "revision 1 of the truth of odd: 2 frames, not complete yet",
        "uploaded: 3 objects (car 2, bus 1), 2 sequences, 2 frames",
    ]
    assert "objects of the ground truth have confidences" in result.stderr


def test_the_budget_that_follows_from_the_truth_is_shown_as_the_default(
    folder: Path, organiser: Call
) -> None:
    """The organiser is warned if one object counts more than a step, or without a limit."""
    (folder / "bounded.toml").write_text(BENCHMARK)
    (folder / "free.toml").write_text(BENCHMARK + "submissions_in_all = 0\n")
    well(organiser("benchmark", "create", "bounded", "bounded.toml"))
    early = well(organiser("benchmark", "show", "bounded"))
    assert "5 submissions (default until the ground truth is complete)" in early
    told = organiser("benchmark", "truth", "bounded", "--truth", "truth.json")
    assert "a team may have 5 submissions (default) scored in all" in well(told)
    assert "Warning: one of the 3 objects of the ground truth changes f1" in told.stderr
    shown = json.loads(well(organiser("benchmark", "show", "bounded", "--format", "json")))
    assert shown["submission_budget"] == {"maximum": 5, "default": True}
    free = organiser("benchmark", "create", "free", "free.toml")
    assert "Warning: a team may have any number of submissions in all" in free.stderr
    assert "any number of submissions" in well(organiser("benchmark", "show", "free"))
