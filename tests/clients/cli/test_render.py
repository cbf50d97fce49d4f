"""`vidscore render` draws the outcomes of `vidscore outcomes`, completely or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.clients.cli.helpers import run, well

HEADER = "sequence,frame,class,x1,y1,x2,y2,track_id\n"
TRUTH = [("a", 1, 20), ("a", 2, 20), ("a", 2, 60), ("a", 3, 20), ("b", 1, 20)]
DETECTIONS = [("a", 1, 20), ("a", 2, 90), ("a", 3, 20), ("b", 1, 90)]
"""Mistakes: none in frames 1 and 3 of a, two misses and a false positive in frame 2, two in b."""


def rows(places: list[tuple[str, int, int]]) -> str:
    return HEADER + "".join(
        f"{sequence},{frame},car,{x},10,{x + 20},30,{track}\n"
        for track, (sequence, frame, x) in enumerate(places)
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Truth, detections and images of two sequences."""
    (tmp_path / "truth.csv").write_text(rows(TRUTH))
    (tmp_path / "detections.csv").write_text(rows(DETECTIONS))
    for name in ("a_1", "a_2", "a_3", "b_1"):
        (tmp_path / "images").mkdir(exist_ok=True)
        image = np.full((60, 120, 3), 100, dtype=np.uint8)
        cv2.imwrite(str(tmp_path / "images" / f"{name}.png"), image)
    monkeypatch.chdir(tmp_path)
    return tmp_path


INPUTS = ["detections.csv", "images", "truth.csv"]
DATA = ("--truth", "truth.csv", "--detections", "detections.csv")


def pictures(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


def test_a_folder_gets_a_picture_of_every_frame(folder: Path) -> None:
    said = well(run("render", "clear", *DATA, "--media", "images", "--output", "out"))
    assert said == "out: written\n  outcomes  clear\n  frames    4, 2 sequences\n"
    assert pictures(folder / "out") == [
        "a/000001.png",
        "a/000002.png",
        "a/000003.png",
        "b/000001.png",
    ]
    picture = cv2.imread("out/a/000002.png")
    assert picture is not None
    # Images of 120 px are enlarged six times: the left edge of the false positive is at 540 px.
    orange = (picture[60:180, 536:545] == (0x00, 0x4A, 0xB8)).all(axis=2)
    assert orange.any()
    assert not (picture[60:180, 300:340] == (0x00, 0x4A, 0xB8)).all(axis=2).any()


def test_frames_without_objects_are_large_enough_for_the_words_below(folder: Path) -> None:
    empty = '{"sequence": "a", "frame": 1, "objects": []}\n'
    (folder / "empty.jsonl").write_text(empty)
    words = ("--truth", "empty.jsonl", "--detections", "empty.jsonl", "--output", "out")
    assert run("render", "f1", *words).exit_code == 0
    picture = cv2.imread("out/a/000001.png")
    assert picture is not None
    assert min(picture.shape[:2]) >= 640


def test_a_video_has_a_frame_for_each_frame(folder: Path) -> None:
    wanted = ("--media", "images", "--sequence", "a", "--output", "a.mp4")
    well(run("render", "clear", *DATA, *wanted))
    capture = cv2.VideoCapture(str(folder / "a.mp4"))
    shapes = []
    while True:
        decoded, image = capture.read()
        if not decoded:
            break
        shapes.append(image.shape[1])
    assert shapes == [720] * 3
    assert capture.get(cv2.CAP_PROP_FPS) == 25.0


def test_the_worst_frames_are_drawn_and_listed_in_their_order(folder: Path) -> None:
    said = well(run("render", "clear", *DATA, "--worst", "2", "--output", "out"))
    assert pictures(folder / "out") == ["a/000002.png", "b/000001.png"]
    assert said.splitlines()[-2:] == [
        "  worst     a frame 2: 1 false alarm, 2 missed",
        "  worst     b frame 1: 1 false alarm, 1 missed",
    ]
    assert "  media     none: drawn on a blank canvas, of the size that its objects need" in said


def test_the_list_can_be_json(folder: Path) -> None:
    wanted = ("--worst", "1", "--output", "out", "--format", "json")
    assert json.loads(well(run("render", "clear", *DATA, *wanted))) == {
        "output": "out",
        "evaluator": "clear",
        "frames": [
            {
                "domain": "",
                "sequence": "a",
                "frame": 2,
                "picture": "a/000002.png",
                "hit": 0,
                "false_alarm": 1,
                "miss": 2,
                "id_switch": 0,
                "ignored": 0,
            }
        ],
    }
    assert (folder / "out" / "a" / "000002.png").is_file()


def test_only_selected_frames_are_drawn_but_all_are_scored(folder: Path) -> None:
    """The object of frame 3 was matched with another track in frame 1: an id switch."""
    (folder / "truth.csv").write_text(
        HEADER + "".join(f"a,{n},car,20,10,40,30,1\n" for n in (1, 3))
    )
    wanted = ("--frames", "3:9", "--output", "out")
    said = well(run("render", "clear", *DATA, *wanted, "--sequence", "a", "--format", "json"))
    [frame] = json.loads(said)["frames"]
    assert (frame["frame"], frame["id_switch"]) == (3, 1)


def test_a_manifest_gives_the_size_of_a_blank_canvas(folder: Path) -> None:
    (folder / "m.toml").write_text(
        '[[sequences]]\nname = "a"\nimage_width = 800\nimage_height = 300\n'
    )
    wanted = ("--manifest", "m.toml", "--sequence", "a", "--output", "out")
    assert "objects need" not in well(run("render", "clear", *DATA, *wanted))
    picture = cv2.imread("out/a/000001.png")
    assert picture is not None
    assert picture.shape[1] == 800
    assert picture[299].tolist() == [[0x96, 0x91, 0x8D]] * 800
    assert (picture[300] > 240).all()


def test_a_frame_without_an_image_is_named_and_nothing_is_written(folder: Path) -> None:
    (folder / "images" / "a_2.png").unlink()
    result = run("render", "clear", *DATA, "--media", "images", "--output", "out")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: images: no image of frame 2 of sequence a\n"
    assert sorted(path.name for path in folder.iterdir()) == INPUTS


@pytest.mark.parametrize("output", ["out", "out.mp4"])
def test_an_invalid_image_leaves_nothing_behind(folder: Path, output: str) -> None:
    (folder / "images" / "b_1.png").write_text("no image")
    result = run("render", "clear", *DATA, "--media", "images", "--output", output)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: images/b_1.png: found an image that is broken")
    assert sorted(path.name for path in folder.iterdir()) == INPUTS


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (("--output", "out.avi"), "neither a video with the suffix .mp4"),
        (("--output", "images"), "images exists, expected a new folder"),
        (("--output", "-"), "- is standard output; name a file or folder"),
        (("--output", "no/out"), "there is no folder"),
        (("--output", "out", "--sequence", "c"), "sequence 'c'"),
        (("--output", "out", "--outcomes-of", "hota"), "'hota' does not score"),
    ],
)
def test_an_invalid_option_is_reported_before_anything_is_written(
    folder: Path, wanted: tuple[str, ...], said: str
) -> None:
    result = run("render", "clear", *DATA, *wanted)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (folder / "out").exists()


def test_a_part_without_frames_is_refused(folder: Path) -> None:
    result = run("render", "clear", *DATA, "--frames", "99", "--output", "out")
    assert result.exit_code == 2
    assert "no frame in the chosen part" in result.stderr
    assert not (folder / "out").exists()


def test_without_opencv_the_command_says_how_to_install_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    result = run("render", "clear", *DATA, "--output", "out")
    assert result.exit_code == 2
    assert "pip install 'vidscore[video]'" in result.stderr
    assert not (folder / "out").exists()


def test_the_help_does_not_import_opencv() -> None:
    program = (
        "import sys\nfrom vidscore_cli.main import cli\n"
        "try:\n    cli.main(['render', '--help'], 'vidscore')\n"
        "except SystemExit:\n    pass\n"
        "assert not {'cv2', 'vidscore_evaluators.scoring'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def test_the_format_decides_the_first_number_of_frames_and_pixels(
    data: Path, tmp_path: Path
) -> None:
    """MOTChallenge counts frames and pixels from 1: the box from 20 to 50 is drawn from 19 to 49.

    Images of 80 px are enlarged eight times.
    """
    video = cv2.VideoWriter(
        str(tmp_path / "a.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 30.0, (80, 90)
    )
    for level in (0, 100, 200):
        video.write(np.full((90, 80, 3), level, dtype=np.uint8))
    video.release()
    gt, tracks = str(data / "gt"), str(data / "tracks")
    wanted = ("--media", str(tmp_path / "a.avi"), "--frames", "2", "--hide", "plates")
    place = tmp_path / "out"
    well(
        run(
            "render",
            "mot17",
            "--truth",
            gt,
            "--detections",
            tracks,
            *wanted,
            "--output",
            str(place),
        )
    )
    picture = cv2.imread(str(place / "MOT17-02" / "000002.png"))
    assert picture is not None
    assert abs(int(picture[700, 600, 0]) - 100) < 3  # The second image.
    blue = (picture[300] == (0xB8, 0x6B, 0x0B)).all(axis=1)
    assert blue[19 * 8]
    assert blue[49 * 8]
    assert not blue[20 * 8 : 48 * 8].any()


def test_outcomes_are_those_of_the_first_evaluator_of_a_preset_or_of_the_named_one(
    data: Path, tmp_path: Path
) -> None:
    files = ("--truth", str(data / "gt"), "--detections", str(data / "tracks"))
    for name, of in ((None, "hota"), ("identity", "identity")):
        named = () if name is None else ("--outcomes-of", name)
        place = str(tmp_path / of)
        said = well(run("render", "mot17", *files, *named, "--output", place))
        assert f"  outcomes  {of} of mot17\n" in said


def test_images_of_coco_are_found_by_their_names(tmp_path: Path) -> None:
    image = np.full((60, 120, 3), 100, dtype=np.uint8)
    (tmp_path / "val").mkdir()
    for name, level in (("x", 50), ("y", 150)):
        cv2.imwrite(str(tmp_path / "val" / f"{name}.png"), image // 100 * level)
    document = {
        "images": [
            {"id": 7, "file_name": "y.png", "width": 120, "height": 60},
            {"id": 9, "file_name": "x.png", "width": 120, "height": 60},
        ],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": [{"id": 1, "image_id": 9, "category_id": 1, "bbox": [10, 10, 20, 20]}],
    }
    found = [{"image_id": 9, "category_id": 1, "bbox": [10, 10, 20, 20], "score": 0.5}]
    (tmp_path / "gt.json").write_text(json.dumps(document))
    (tmp_path / "dt.json").write_text(json.dumps(found))
    files = ("--truth", str(tmp_path / "gt.json"), "--detections", str(tmp_path / "dt.json"))
    place = tmp_path / "out"
    media = str(tmp_path / "val")
    well(run("render", "f1", *files, "--media", media, "--output", str(place)))
    for number, level in ((7, 150), (9, 50)):
        picture = cv2.imread(str(place / "images" / f"{number:06d}.png"))
        assert picture is not None
        assert picture[300, 600].tolist() == [level] * 3


def test_masks_are_drawn_on_canvases_of_the_size_of_their_images(folder: Path) -> None:
    """20 by 30 px, enlarged 16 times: one that is found, and one false positive."""
    found, wrong = [200, 100, 300], [500, 40, 60]
    for name, masks in (("truth.jsonl", [found]), ("detections.jsonl", [found, wrong])):
        objects = [
            {"label": "car", "mask": {"size": [20, 30], "counts": counts}} for counts in masks
        ]
        (folder / name).write_text(
            json.dumps({"sequence": "a", "frame": 1, "objects": objects}) + "\n"
        )
    data = ("--truth", "truth.jsonl", "--detections", "detections.jsonl")
    said = well(run("render", "f1", *data, "--output", "out"))
    assert "guess" not in said
    picture = cv2.imread(str(folder / "out/a/000001.png"))
    assert picture is not None
    assert picture.shape[1] == 480
    # Columns 10 to 14 and 25 to 26, mixed half with the canvas, #8d9196 as red, green and blue.
    for x, colour in ((200, (0x0B, 0x6B, 0xB8)), (416, (0xB8, 0x4A, 0x00))):
        mixed = [(one + other) / 2 for one, other in zip(colour, (0x8D, 0x91, 0x96), strict=True)]
        assert np.abs(picture[200, x, ::-1] - mixed).max() <= 1
    assert picture[200, 320].tolist() == [0x96, 0x91, 0x8D]
