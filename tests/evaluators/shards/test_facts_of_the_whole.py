"""Facts of the whole data, or of the moment: shards, executors and run folders give equal bits.

Of two shards, sequence 0000 belongs to one and 0002 to the other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

import vidscore
from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import AUTO, index_folder
from vidscore_evaluators.formats._files import SEQUENCE_INDEX as INDEX
from vidscore_evaluators.preparation import DataChoice, judged_by
from vidscore_evaluators.report import FrameExample, report_to_json
from vidscore_evaluators.runtime import spawn_context
from vidscore_evaluators.shards.dealing import Shard, shard_number
from vidscore_evaluators.shards.merging import merge_shards
from vidscore_evaluators.shards.tasks import ScoringTask, score_by, score_shard

TRUTH, FOUND = "t", "d"
HEADER = "sequence,frame,class,x1,y1,x2,y2"


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def task(root: Path, evaluator: str, sides: tuple[str, str], **parameters: Any) -> ScoringTask:
    specification = judged_by(evaluator, specification=None, manifest=None, parameters=parameters)
    truth, detections = (str(root / side) for side in sides)
    return ScoringTask(specification, truth, detections, DataChoice(AUTO))


def whole(root: Path, evaluator: str, sides: tuple[str, str], **parameters: Any) -> str:
    truth, detections = (root / side for side in sides)
    return report_to_json(vidscore.score(evaluator, truth, detections, **parameters))


def merged(scoring: ScoringTask) -> str:
    """The report of two shards, each read separately."""
    tallies = {str(shard): partial(score_shard, scoring, shard) for shard in Shard.all_of(2)}
    return report_to_json(merge_shards(tallies).reports[0])


def test_the_two_sequences_belong_to_different_shards() -> None:
    keys = [SequenceKey("", name) for name in ("0000", "0002")]
    assert len({shard_number(key, 2) for key in keys}) == 2


def test_types_of_kitti_are_spelt_as_in_the_truth_of_any_shard(tmp_path: Path) -> None:
    rest = "0 0 -1.57 10 10 50 40 1.5 1.6 3.9 1 1.5 20 -1.5"
    write(
        tmp_path,
        {
            "t/0000.txt": f"0 1 Car {rest}\n",
            "t/0002.txt": f"0 1 Pedestrian {rest}\n",
            **{f"d/{name}.txt": f"0 1 car {rest} 0.9\n" for name in ("0000", "0002")},
        },
    )
    wanted = whole(tmp_path, "map", (TRUTH, FOUND))
    assert '"Car"' in wanted
    assert '"car"' not in wanted
    assert merged(task(tmp_path, "map", (TRUTH, FOUND))) == wanted


def test_a_confidence_of_minus_one_means_the_same_whatever_other_files_contain(
    tmp_path: Path,
) -> None:
    boxes = ("1,1,10,10,40,30", "1,2,100,10,40,30", "1,3,300,10,40,30")
    write(
        tmp_path,
        {
            "t/0000/gt/gt.txt": f"{boxes[0]},1,1,1\n{boxes[1]},1,1,1\n",
            "t/0002/gt/gt.txt": f"{boxes[0]},1,1,1\n",
            "d/0000.txt": f"{boxes[0]},-1\n{boxes[1]},.5\n{boxes[2]},.7\n",
            "d/0002.txt": f"{boxes[0]},50\n",
        },
    )
    wanted = whole(tmp_path, "map", (TRUTH, FOUND))
    assert merged(task(tmp_path, "map", (TRUTH, FOUND))) == wanted
    found = vidscore.read(tmp_path / FOUND, side="detections")
    assert found.confidences.tolist() == [1.0, 0.5, 0.7, 50.0]


def test_shards_of_which_only_some_have_masks_are_not_added(tmp_path: Path) -> None:
    """The whole has none then: its digests are of boxes only."""
    columns: dict[str, list[Any]] = {
        "sequence": ["0000", "0002"],
        "frame": [0, 0],
        **{name: [1.0, 1.0] for name in ("x1", "y1")},
        **{name: [4.0, 4.0] for name in ("x2", "y2")},
        "mask_height": [6, None],
        "mask_width": [8, None],
        "mask_counts": ["8240l0", None],
    }
    for name, more in (("t", {}), ("d", {"confidence": [0.9, 0.8]})):
        table = pa.table(columns | more)
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=1)
    sides = ("t.parquet", "d.parquet")
    expected = r"^2/2, masks of the truth: found objects without masks, expected masks, as the "
    with pytest.raises(InputError, match=expected + "objects of 1/2 have them; give each"):
        merged(task(tmp_path, "coco", sides))


@pytest.mark.parametrize(
    ("first", "second", "differs"),
    [
        (
            DataChoice(),
            DataChoice(confidence_scale="0,100"),
            "confidence scale: found 0,100, expected none",
        ),
        (
            DataChoice(image_size=(640, 480)),
            DataChoice(image_size=(64, 48)),
            "image size: found 64x48, expected 640x480",
        ),
    ],
)
def test_shards_that_were_read_in_other_ways_are_not_added(
    tmp_path: Path, first: DataChoice, second: DataChoice, differs: str
) -> None:
    """Of parts, only names and sizes of the files are known to be equal."""
    box = "0 0.5 0.5 0.25 0.25"
    for name in ("0000", "0002"):
        write(tmp_path, {f"t/{name}/0.txt": f"{box}\n", f"d/{name}/0.txt": f"{box} 0.5\n"})
    scoring = task(tmp_path, "f1", (TRUTH, FOUND))
    tallies = {}
    for shard, choice in zip(Shard.all_of(2), (first, second), strict=True):
        read = replace(choice, format_name="yolo-text", image_size=choice.image_size or (64, 48))
        tallies[str(shard)] = partial(score_shard, replace(scoring, choice=read), shard)
    with pytest.raises(InputError, match=f"^2/2, {differs}, as in 1/2$"):
        merge_shards(tallies)


@pytest.mark.parametrize("evaluator", ["f1", "spotgeo"])
def test_a_file_without_objects_has_the_shape_of_the_others(tmp_path: Path, evaluator: str) -> None:
    frame = '{"sequence":"%s","frame":%d,"objects":[%s]}\n'
    point = '{"point":[1,1]}'
    frames = "".join(frame % ("0000", number, point) for number in range(1, 6))
    empty = "".join(frame % ("0002", number, "") for number in range(1, 6))
    for side, kind in ((TRUTH, Side.TRUTH), (FOUND, Side.DETECTIONS)):
        write(tmp_path, {f"{side}/a.jsonl": frames, f"{side}/b.jsonl": empty})
        write(tmp_path, {f"{side}/{INDEX}": index_folder(tmp_path / side, kind).decode()})
        write(tmp_path, {f"one/{side}.jsonl": frames + empty})
    parameters = {"base": "euclidean"} if evaluator == "f1" else {}
    wanted = whole(tmp_path / "one", evaluator, (f"{TRUTH}.jsonl", f"{FOUND}.jsonl"), **parameters)
    assert whole(tmp_path, evaluator, (TRUTH, FOUND), **parameters) == wanted
    assert merged(task(tmp_path, evaluator, (TRUTH, FOUND), **parameters)) == wanted


# --- run folders -----------------------------------------------------------------------------


def by_run_folder(
    root: Path, evaluator: str, cut_frames: int | None = None, **parameters: Any
) -> tuple[str, dict[Any, str]]:
    """The report, and the places of the frames that warnings may cite."""
    with ThreadPoolExecutor(1) as executor:
        scoring = task(root, evaluator, ("t.csv", "d.csv"), **parameters)
        scoring = replace(scoring, choice=DataChoice(AUTO, cut_frames=cut_frames))
        found = score_by(executor, scoring, shards=2, run_folder=root / "kept")
    return report_to_json(found.reports[0]), dict(found.places)


def test_a_run_folder_depends_on_the_order_of_the_rows_of_a_frame(tmp_path: Path) -> None:
    """With ties by row order, it decides which of two equal confidences comes first."""
    hit, miss = "0000,0,car,10,10,50,50,.5\n", "0000,0,car,210,10,250,50,.5\n"
    write(tmp_path, {"t.csv": f"{HEADER}\n0000,0,car,10,10,50,50\n"})
    found = []
    for rows in (hit + miss, miss + hit):
        write(tmp_path, {"d.csv": f"{HEADER},confidence\n{rows}"})
        report, _ = by_run_folder(tmp_path, "map", ties="row")
        assert report == whole(tmp_path, "map", ("t.csv", "d.csv"), ties="row")
        found.append(report)
    assert found[0] != found[1]


def test_a_run_folder_distinguishes_0_from_a_missing_value(tmp_path: Path) -> None:
    write(tmp_path, {"d.csv": f"{HEADER},confidence\n0000,1,car,10,10,50,50,.5\n"})
    found = []
    for visibility in ("", "0"):
        rows = f"0000,0,car,10,10,50,50,{visibility}\n0000,1,car,10,10,50,50,1\n"
        write(tmp_path, {"t.csv": f"{HEADER},visibility\n{rows}"})
        report, _ = by_run_folder(tmp_path, "f1", minimum_visibility=0.5)
        wanted = whole(tmp_path, "f1", ("t.csv", "d.csv"), minimum_visibility=0.5)
        assert report == wanted
        found.append(report)
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("name", "other"),
    [("car", "bus"), ("1,car", "1,van"), ("0000", "0001"), ("visibility", "occlusion")],
)
def test_a_run_folder_distinguishes_names_from_what_is_below_them(
    tmp_path: Path, name: str, other: str
) -> None:
    """Of all of a class, of one object, of a sequence of the same shard, of a further column."""
    rows = [
        f"0000,{frame},{label},10,10,50,50" for frame, label in enumerate(("car", "car", "van"))
    ]
    truth = "\n".join([f"{HEADER},visibility", *(f"{row},1" for row in rows), ""])
    detections = "\n".join([f"{HEADER},confidence", *(f"{row},.5" for row in rows), ""])
    found = []
    for new in (name, other):
        write(tmp_path, {"t.csv": truth.replace(name, new), "d.csv": detections.replace(name, new)})
        report, _ = by_run_folder(tmp_path, "f1")
        assert report == whole(tmp_path, "f1", ("t.csv", "d.csv"))
        found.append(report)
    assert found[0] != found[1]


@pytest.mark.parametrize("cut_frames", [None, 2])
def test_a_run_folder_names_the_lines_of_sampled_frames_as_they_are_now(
    tmp_path: Path, cut_frames: int | None
) -> None:
    """The third run finds all tallies of the second."""
    write(tmp_path, {"d.csv": f"{HEADER},confidence\n0000,6,car,10,10,50,50,.5\n"})
    for blank_lines in (0, 2, 2):
        blank = "\n" * blank_lines
        write(tmp_path, {"t.csv": f"{HEADER}\n{blank}0000,6,car,10,10,50,50\n"})
        _, places = by_run_folder(tmp_path, "f1", cut_frames)
        example = FrameExample(Side.TRUTH, SequenceKey("", "0000"), 6)
        assert places[example] == f"{tmp_path / 't.csv'}, line {2 + blank_lines}"


@pytest.mark.parametrize("cited", ["0000", "0002"])
def test_a_run_folder_cites_lines_as_they_are_now(tmp_path: Path, cited: str) -> None:
    """Objects of one sequence lie beyond its images; the other shard is unchanged and kept."""
    other = {"0000": "0002", "0002": "0000"}[cited]
    beyond = [f"{cited},{frame},car,1000,110,1009,150" for frame in range(8)]
    write(
        tmp_path, {"d.csv": "\n".join([f"{HEADER},confidence", *(f"{row},.5" for row in beyond)])}
    )
    specification = judged_by("f1", specification=None, manifest=None, parameters={})
    sides = (str(tmp_path / "t.csv"), str(tmp_path / "d.csv"))
    choice = DataChoice(AUTO, image_size=(100, 100))
    for blank_lines in (0, 2):
        rows = [f"{other},0,car,10,10,50,50", *[""] * blank_lines, *beyond]
        write(tmp_path, {"t.csv": "\n".join([HEADER, *rows, ""])})
        with ThreadPoolExecutor(1) as executor:
            scoring = ScoringTask(specification, *sides, choice)
            found = score_by(executor, scoring, shards=2, run_folder=tmp_path / "kept")
        places = {
            place
            for example, place in found.places.items()
            if (example.side, *example.sequence, example.frame) == (Side.TRUTH, "", cited, 0)
        }
        assert places == {f"{sides[0]}, line {3 + blank_lines}"}


# --- executors -------------------------------------------------------------------------------

PRESET = """
title = "x"
benchmark = "S"
version = "1.0.0"
scorer = "o"
[[evaluators]]
name = "f1"
parameters = {{threshold = {}}}
"""


def write_preset(root: Path, threshold: float) -> None:
    write(root, {"my.toml": PRESET.format(threshold)})


def write_pair(root: Path) -> None:
    write(root, {"t.csv": "sequence,frame,x1,y1,x2,y2\n0000,0,10,10,50,50\n"})
    write(root, {"d.csv": "sequence,frame,x1,y1,x2,y2,confidence\n0000,0,18,10,52,50,.9\n"})


def test_an_executor_reads_a_preset_that_has_changed_again(tmp_path: Path) -> None:
    write_pair(tmp_path)
    preset, sides = str(tmp_path / "my.toml"), (tmp_path / "t.csv", tmp_path / "d.csv")
    with ThreadPoolExecutor(1) as executor:
        for threshold, f1 in ((0.5, 1.0), (0.95, 0.0)):
            write_preset(tmp_path, threshold)
            report = vidscore.score(preset, *sides, executor=executor, shards=2)
            assert (report.value("f1"), report.preset) == (f1, "my.toml")


@pytest.mark.slow
def test_a_worker_elsewhere_finds_a_preset_by_the_callers_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pair(tmp_path)
    write_preset(tmp_path, 0.5)
    monkeypatch.chdir(tmp_path)
    pool = ProcessPoolExecutor(1, mp_context=spawn_context(), initializer=os.chdir, initargs=("/",))
    with pool as executor:
        report = vidscore.score("my.toml", "t.csv", "d.csv", executor=executor, shards=2)
    assert (report.value("f1"), report.preset) == (1.0, "my.toml")


def test_a_folder_is_named_as_in_this_process_however_it_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``d/`` is d, and any other "d" of a warning stays a letter."""
    row = "1,1,10,10,40,30,1,1,1\n"
    write(tmp_path, {"t/0000/gt/gt.txt": row, "t/0001/gt/gt.txt": row, "d/0000.txt": row})
    monkeypatch.chdir(tmp_path)
    whole = vidscore.score("clear", "t/", "./d/")
    assert "sequences without a detection file" in whole.warnings[0].message
    with ThreadPoolExecutor(1) as executor:
        parts = vidscore.score("clear", "t/", "./d/", executor=executor, shards=2)
    assert report_to_json(parts) == report_to_json(whole)


def test_statistics_that_do_not_count_nulls_prove_no_single_sequence(tmp_path: Path) -> None:
    """The domains of a row group are then between a and a, or null; here they are both."""
    domains = [None, *["a"] * 2, *["b"] * 3]
    columns = {"domain": domains, "sequence": ["0000"] * 6, "frame": [0, 0, 1, 0, 1, 2]}
    boxes = dict.fromkeys(("x1", "y1"), [0.0] * 6) | dict.fromkeys(("x2", "y2"), [9.0] * 6)
    table = pl.DataFrame(columns | boxes)
    for side in (TRUTH, FOUND):
        counted = {"min": True, "max": True, "null_count": False}
        table.write_parquet(tmp_path / side, statistics=counted, row_group_size=3)
    wanted = whole(tmp_path, "f1", (TRUTH, FOUND))
    assert merged(task(tmp_path, "f1", (TRUTH, FOUND))) == wanted
