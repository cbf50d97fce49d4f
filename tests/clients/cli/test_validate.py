"""`vidscore validate` lists all faults of a file or folder."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.cli.conftest import neovision2_row, spotgeo_entry, write_neovision2
from tests.clients.cli.helpers import run

from vidscore_cli.session import ExitCode


def test_a_file_without_faults_gets_a_summary(data: Path) -> None:
    result = run("validate", str(data / "truth.json"))
    assert result.exit_code == 0
    assert result.stdout == (
        f"{data / 'truth.json'}: nothing is wrong\n"
        "  format     spotgeo-json\n"
        "  shape      points (x, y)\n"
        "  sequences  1\n"
        "  frames     5\n"
        "  empty      3 frames without objects\n"
        "  objects    3\n"
        "  classes    none\n"
    )


def test_a_folder_without_faults_gets_a_summary_as_json(data: Path) -> None:
    document = json.loads(run("validate", str(data / "truth"), "--format", "json").stdout)
    assert document["format"] == "neovision2-csv"
    assert (document["sequences"], document["frames"], document["objects"]) == (2, 3, 3)
    assert sorted(document["classes"]) == ["Boat", "Car"]
    assert document["faults"] == []


def test_faults_are_listed_with_file_line_and_column(data: Path) -> None:
    rows = [neovision2_row(frame, 0, "Car").replace("10,0", "x,0", 1) for frame in range(3)]
    write_neovision2(data / "truth", "Tower", "001", rows)
    result = run("validate", str(data / "truth"))
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0] == f"{data / 'truth'}: 3 faults"
    assert len(lines) == 4
    assert "001.csv, line 2, column BoundingBox_X2: found 'x', expected a finite" in lines[1]


def test_faults_as_json_have_their_place_in_parts(data: Path) -> None:
    path = data / "truth.json"
    path.write_text(json.dumps([{**spotgeo_entry(1), "num_objects": 4}]))
    result = run("validate", str(path), "--format", "json")
    assert result.exit_code == 1
    (fault,) = json.loads(result.stdout)["faults"]
    assert (fault["source"], fault["entry"], fault["field"]) == (str(path), 0, "num_objects")


def test_detections_in_frames_that_the_truth_lacks_give_a_warning_as_in_a_score(
    tmp_path: Path,
) -> None:
    """For example, if one side counts frames from 1 and the other from 0."""
    header = "sequence,frame,x1,y1,x2,y2\n"
    truth, detections = tmp_path / "t.csv", tmp_path / "d.csv"
    truth.write_text(header + "a,0,10,10,50,50\na,1,10,10,50,50\n")
    detections.write_text(header + "a,1,10,10,50,50\na,2,10,10,50,50\n")
    checked = run("validate", str(detections), "--truth", str(truth))
    scored = run("score", "f1", "--truth", str(truth), "--detections", str(detections))
    assert checked.stdout.startswith(f"{detections}: readable, but 1 thing looks wrong")
    assert (
        "1 x detections lie in frames that are not evaluated, the first of them in frame 2 of "
        "sequence a; check that both sides are numbered from the same first frame, and that the "
        "ground truth lists frames without objects, too"
    ) in checked.stderr
    assert checked.stderr == scored.stderr


def test_a_sequence_that_the_truth_lacks_is_a_fault_as_in_a_score(tmp_path: Path) -> None:
    header = "sequence,frame,x1,y1,x2,y2\n"
    truth, detections = tmp_path / "t.csv", tmp_path / "d.csv"
    truth.write_text(header + "street,0,10,10,50,50\n")
    detections.write_text(header + "street.mp4,0,10,10,50,50\n")
    checked = run("validate", str(detections), "--truth", str(truth))
    scored = run("score", "f1", "--truth", str(truth), "--detections", str(detections))
    assert checked.exit_code == scored.exit_code == ExitCode.INPUT
    said = f"{detections}, line 2: found sequence street.mp4, expected a sequence of the truth"
    assert said in checked.stdout
    assert "frames that are not evaluated" not in checked.stderr
    assert said in scored.stderr


def test_a_sequence_that_the_truth_lacks_is_a_fault_beside_invalid_rows(tmp_path: Path) -> None:
    header = "sequence,frame,x1,y1,x2,y2\n"
    truth, detections = tmp_path / "t.csv", tmp_path / "d.csv"
    truth.write_text(header + "street,0,10,10,50,50\n")
    detections.write_text(header + "street,0,10,10,50,z\nroad,0,10,10,50,50\n")
    result = run("validate", str(detections), "--truth", str(truth))
    assert "line 2, column y2: found 'z'" in result.stdout
    assert "line 3: found sequence road, expected a sequence of the truth" in result.stdout


def test_a_side_is_checked_by_its_own_rules(data: Path) -> None:
    write_neovision2(data / "truth", "Tower", "001", ["0,,,,,,,,,,,,,,"])
    as_truth = run("validate", str(data / "truth"))
    as_detections = run("validate", str(data / "truth"), "--side", "detections")
    assert (as_truth.exit_code, as_detections.exit_code) == (0, 1)


def test_an_evaluator_adds_its_own_rules(data: Path) -> None:
    path = data / "truth.json"
    path.write_text(json.dumps([spotgeo_entry(frame, (9000.0, 1.0)) for frame in range(1, 6)]))
    assert run("validate", str(path)).exit_code == 0
    result = run("validate", str(path), "--evaluator", "spotgeo")
    assert result.exit_code == 1
    assert "5 times, first at " in result.stdout
    every = run("validate", str(path), "--evaluator", "spotgeo", "--all-faults")
    assert len(every.stdout.splitlines()) == 6
    assert "entry 4" in every.stdout


def test_a_shape_that_an_evaluator_cannot_use_is_a_fault(data: Path) -> None:
    result = run("validate", str(data / "truth.json"), "--evaluator", "neovision2")
    assert result.exit_code == 1
    assert "found points (x, y), expected corners or upright boxes" in result.stdout


def test_json_lines_without_objects_have_the_shape_that_an_evaluator_needs(tmp_path: Path) -> None:
    """As for `vidscore score`."""
    path = tmp_path / "found.jsonl"
    path.write_text('{"sequence": "1", "frame": 1, "objects": []}\n')
    for evaluator in ("spotgeo", "neovision2", "clear"):
        result = run("validate", str(path), "--side", "detections", "--evaluator", evaluator)
        assert (result.exit_code, result.stdout.splitlines()[0]) == (0, f"{path}: nothing is wrong")


def test_a_fault_of_many_entries_is_reported_once_unless_all_are_requested(data: Path) -> None:
    entries = [{**spotgeo_entry(1, sequence=number), "num_objects": 1} for number in range(60)]
    path = data / "truth.json"
    path.write_text(json.dumps(entries))
    some, every = run("validate", str(path)), run("validate", str(path), "--all-faults")
    assert [line.strip() for line in some.stdout.splitlines()] == [
        f"{path}: 60 faults",
        (
            f"60 times, first at {path}, entry 0, num_objects: found 1, expected 0, the number of "
            "coordinates"
        ),
        "--all-faults lists every one of them",
    ]
    assert len(every.stdout.splitlines()) == 61


def test_a_confidence_scale_is_for_detections_only(tmp_path: Path) -> None:
    """Confidences of the truth are not read."""
    path = tmp_path / "found.csv"
    path.write_text("sequence,frame,x1,y1,x2,y2,confidence\na,0,0,0,9,9,50\n", encoding="utf-8")
    options = ("--evaluator", "neovision2", "--confidence-scale", "0,100")
    refused = run("validate", str(path), *options)
    assert (refused.exit_code, "needs --side detections" in refused.stderr) == (2, True)
    detections = ("--side", "detections")
    assert run("validate", str(path), *options[:2], *detections).exit_code == 1
    assert run("validate", str(path), *options, *detections).exit_code == 0


def test_no_file_name_controls_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J\nb.csv"
    path.write_text("sequence,frame,x,y\na,1,2,3\n")
    target = tmp_path / "c\x1b[2J\nd.jsonl"
    for result in (
        run("validate", str(path)),
        run("convert", str(path), str(target), "--to", "jsonl"),
    ):
        assert result.exit_code == 0
        assert "\x1b" not in result.output
        assert "\\x1b[2J\\x0a" in result.stdout.splitlines()[0]


def test_equal_confidences_give_a_warning_if_the_evaluator_ranks_by_them(tmp_path: Path) -> None:
    """If no evaluator is named, tracks are a sign that nothing is ranked."""
    header = "sequence,frame,track_id,class,x1,y1,x2,y2,confidence\n"
    doubted = set()
    for track in ("7", "-1"):
        file = tmp_path / f"{track}.csv"
        rows = [f"1,{frame},{track},car,10,10,20,20,0.5\n" for frame in range(5)]
        file.write_text(header + "".join(rows))
        for named in ((), ("--evaluator", "map"), ("--evaluator", "f1")):
            result = run("validate", str(file), "--side", "detections", *named)
            if "all have the confidence 0.5" in result.stderr:
                doubted.add((track, named[-1:]))
    assert doubted == {("-1", ()), ("7", ("map",)), ("-1", ("map",))}
