"""Formats are recognised by content, and anything else gets one clear error."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Literal

import pytest
from tests.evaluators.formats.helpers import validate_file, write

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import (
    _files,
    detect_format,
    find_format,
    read_pair,
    read_source,
    source,
)
from vidscore_evaluators.formats._files import are_worth_a_thread_each
from vidscore_evaluators.formats.neovision2 import HEADER
from vidscore_evaluators.formats.source import FaultList, ReadLimits

POINTS = "sequence,frame,x,y\n1,1,2,3\n"
JSON = '[{"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": [[2, 3]]}]'


def tree(root: Path) -> Path:
    write(root / "Tower" / "001.csv", ",".join(HEADER) + "\n0,0,0,1,0,1,1,0,1,Car,,,1,,\n")
    return root


@pytest.mark.parametrize(
    ("name", "text", "format_name"),
    [
        ("a.txt", JSON, "spotgeo-json"),
        ("a.csv", " \n " + JSON, "spotgeo-json"),
        ("a.json", POINTS, "generic-csv"),
        ("b.csv", "\ufeff" + POINTS.replace("\n", "\r\n"), "generic-csv"),
        ("c.csv", '"frame","sequence","x","y"\n', "generic-csv"),
    ],
)
def test_a_file_is_recognised_by_its_content_and_not_by_its_name(
    tmp_path: Path, name: str, text: str, format_name: str
) -> None:
    assert detect_format(write(tmp_path / name, text)).name == format_name


def test_a_folder_of_folders_with_csv_files_is_neovision2(tmp_path: Path) -> None:
    assert detect_format(tree(tmp_path)).name == "neovision2-csv"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "an empty file"),
        ("  \n", "an empty file"),
        ("hello", "text without data, beginning with 'hello'"),
        ("\x00\x01", "a binary file"),
        ("sep=;\n" + POINTS.replace(",", ";"), "the line 'sep=;' of a spreadsheet"),
        ('\ufeff"sep=,"\r\n' + POINTS, "the line 'sep=,' of a spreadsheet"),
    ],
)
def test_a_file_similar_to_no_format_is_refused_with_a_description(
    tmp_path: Path, text: str, found: str
) -> None:
    with pytest.raises(InputError) as caught:
        detect_format(write(tmp_path / "a", text))
    (fault,) = caught.value.faults
    assert (fault.found, fault.expected) == (found, "")
    assert fault.advice


KITTI_ROW = "0 1 Car 0 0 -1.5 1 2 3 4 1 1 1 1 1 1 1\n"


@pytest.mark.parametrize(
    ("format_name", "name", "text"),
    [
        ("dota", "P1.txt", "P_0706 0.25 10 20 30 25 28 40 8 35\n"),  # A row of Task1_plane.txt.
        ("dota", "Task1_plane.txt", "hello\n"),
        ("dota", "P1.txt", "1 2 3 4 5 6 7 8\n"),  # Four corners without a class.
        ("pascal-voc", "car.txt", "000012 0.75 10 30 20 40\n"),  # Of comp3_det_test_car.txt.
        ("pascal-voc", "comp3_det_test_car.txt", "hello\n"),
        ("visdrone-det", "1.txt", "1,2,3,x,1,4,0,0\n"),
        ("visdrone-mot", "a.txt", "1,1,x,10,40,30,1,4,0,0\n"),
        ("mots", "a.txt", "0 1005 1 6 8.5 8240l0\n"),
        ("motchallenge", "a.txt", "1,1,1,2,3,4\n"),
        ("motchallenge", "a.txt", "1,1,1,2,3,4,1,-1,-1,-1,-1\n"),
        ("motchallenge", "a.txt", "1,1.5,1,2,3,4,1\n"),
        ("motchallenge", "a.txt", "1,1,x,2,3,4,1\n"),
        ("kitti-tracking", "a.txt", KITTI_ROW.removesuffix(" 1\n")),
        ("kitti-tracking", "a.txt", KITTI_ROW.replace("0 1 Car 0", "x 1 Car 0")),
        ("kitti-tracking", "a.txt", KITTI_ROW.replace("0 1 Car 0", "0 1 Car x")),
    ],
)
def test_a_name_or_most_of_a_row_is_not_enough_to_recognise_a_format(
    tmp_path: Path, format_name: str, name: str, text: str
) -> None:
    path = write(tmp_path / name, text)
    assert not find_format(format_name).matches(path, text.encode())


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        ("kitti-tracking", KITTI_ROW),
        ("kitti-tracking", KITTI_ROW.replace("\n", " 0.5\n")),
        ("motchallenge", "1,1,1.5,2,3,4,1\n"),
        ("motchallenge", "1,1,1.5,2,3,4,1,-1,-1,-1\n"),
    ],
)
def test_a_row_is_enough_to_recognise_a_file_and_a_folder(
    tmp_path: Path, format_name: str, text: str
) -> None:
    path, known = write(tmp_path / "a.txt", text), find_format(format_name)
    assert known.matches(path, text.encode())
    assert known.matches(tmp_path, b"")


@pytest.mark.parametrize(
    ("text", "format_name"), [("{}", "coco-json"), ("frame,x,y\n", "generic-csv")]
)
def test_a_file_similar_to_a_format_is_refused_by_the_rules_of_that_format(
    tmp_path: Path, text: str, format_name: str
) -> None:
    path = write(tmp_path / "a", text)
    assert detect_format(path).name == format_name
    (fault, *_) = validate_file(path)
    assert f"it looks most like {format_name}; --input-format chooses" in str(fault)
    (same, *_) = validate_file(path, format_name=format_name)
    assert "it looks most like" not in str(same)


def test_a_file_of_another_format_than_the_requested_one_is_refused_with_its_own(
    tmp_path: Path,
) -> None:
    """For example, if a preset reads the format of its benchmark and the data is of another."""
    line = '{"sequence": "a", "frame": 0, "objects": [{"label": "car", "box": [0, 0, 1, 1]}]}\n'
    path = write(tmp_path / "a.jsonl", line)
    (first, *others) = validate_file(path, format_name="coco-json")
    assert str(first).endswith(
        "it was read as coco-json and looks like jsonl: "
        "read it as that (--input-format jsonl), or convert it (vidscore convert)"
    )
    assert others
    assert not any(fault.advice for fault in others)
    odd = write(tmp_path / "b.jsonl", line.replace("[0, 0, 1, 1]", "[0]"))
    (own, *_) = validate_file(odd, format_name="jsonl")
    assert "looks like" not in str(own)


def test_a_subfolder_of_the_requested_format_is_named(tmp_path: Path) -> None:
    """As in TrackEval, whose trackers keep their files in a folder data."""
    row = "0 1 Car -1 -1 -10 1 2 30 40 -1 -1 -1 -1000 -1000 -1000 -10 0.9\n"
    for name in ("0001", "0002"):
        write(tmp_path / "tracker" / "data" / f"{name}.txt", row)
    (fault,) = validate_file(tmp_path / "tracker", format_name="kitti-tracking")
    right = tmp_path / "tracker" / "data"
    assert str(fault).endswith(f"did you mean {right}, which looks like kitti-tracking?")
    document = write(tmp_path / "coco" / "instances.json", '{"images": [], "annotations": []}')
    (fault,) = validate_file(document.parent, format_name="coco-json")
    assert str(fault).endswith(f"did you mean {document}, which looks like coco-json?")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an empty folder"):
        detect_format(tmp_path)


def test_a_folder_of_no_known_format_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "README.md", "Hello")
    with pytest.raises(InputError, match="a folder of no known format; give the file or folder"):
        detect_format(tmp_path)


def test_a_missing_path_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    (fault,) = validate_file(tmp_path / "nothing")
    assert str(fault) == f"{tmp_path}/nothing: file not found"
    write(tmp_path / "truth.csv", POINTS)
    (fault,) = validate_file(tmp_path / "truths.csv")
    assert fault.advice == f"did you mean {tmp_path}/truth.csv?"
    (fault,) = validate_file(tmp_path / "no" / "truths.csv")
    assert fault.advice == f"there is no folder {tmp_path}/no"


@pytest.mark.parametrize("name", ["motchallenge", "coco-json", "parquet"])
@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_an_archive_that_is_not_read_is_named_if_a_format_is_requested(
    tmp_path: Path, name: str, mode: Literal["w", "w:gz", "w:xz"]
) -> None:
    """As by a preset; its first line used to be called a faulty row."""
    path = write(tmp_path / "a.txt", "1,1,1,2,9,9,0.5,-1,-1,-1\n")
    archive = tmp_path / "a"
    with tarfile.open(archive, mode) as packed:
        packed.add(path, arcname="a.txt")
    (first, *_) = validate_file(archive, format_name=name)
    kind = "a file packed with xz" if mode == "w:xz" else "a tar archive"
    assert f"this is {kind}: unpack it, or pack it as zip or gzip" in str(first)


@pytest.mark.parametrize("name", ["spotgeo-json", "generic-csv"])
def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    (fault,) = validate_file(tmp_path, format_name=name)
    assert (fault.source, fault.found) == (str(tmp_path), "a folder")


@pytest.mark.parametrize("name", ["neovision2-csv", "yolo-text"])
def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    (fault,) = validate_file(write(tmp_path / "a.csv", POINTS), format_name=name)
    assert fault.found == "a file"


@pytest.mark.parametrize("name", ["coco-json", "spotgeo-json", "neovision2-csv", "generic-csv"])
def test_an_empty_file_is_refused_if_its_format_needs_content(tmp_path: Path, name: str) -> None:
    """Formats without a header are not among these: a file without rows has no objects."""
    path = write(tmp_path / "a.csv", "")
    if name == "neovision2-csv":
        path = write(tmp_path / "tree" / "Tower" / "001.csv", "").parents[1]
    (fault,) = validate_file(path, format_name=name)
    assert fault.found == "an empty file"


ROWS = {
    "dota": "1 2 3 2 3 4 1 4 plane 0\n",
    "kitti-tracking": KITTI_ROW,
    "mots": "0 1001 1 4 4 0`0\n",
    "visdrone-det": "1,2,3,4,1,4,0,0\n",
    "visdrone-mot": "1,1,1,2,3,4,1,4,0,0\n",
    "yolo-text": "0 0.5 0.5 0.25 0.25\n",
}
"""A row of each format whose truth is a folder of text files."""


def faults_of_files(
    folder: Path, name: str, files: dict[str, bytes], limits: ReadLimits = ReadLimits()
) -> list[Fault]:
    folder.mkdir()
    for file, content in files.items():
        (folder / file).write_bytes(content)
    return validate_file(folder, format_name=name, limits=limits, image_size=(4, 4))


@pytest.mark.parametrize("name", ROWS)
def test_the_number_of_files_in_a_folder_is_limited(tmp_path: Path, name: str) -> None:
    files = {f"frame_{number}.txt": ROWS[name].encode() for number in (1, 2, 3)}
    assert faults_of_files(tmp_path / "few", name, files, ReadLimits(maximum_files=3)) == []
    (fault,) = faults_of_files(tmp_path / "many", name, files, ReadLimits(maximum_files=2))
    assert (fault.found, fault.expected) == ("3 files", "at most maximum_files = 2")


@pytest.mark.parametrize("name", ROWS)
def test_a_folder_without_a_file_of_the_format_is_refused(tmp_path: Path, name: str) -> None:
    (fault,) = faults_of_files(tmp_path / "folder", name, {"notes.md": b"none"})
    assert (fault.source, fault.found) == (str(tmp_path / "folder"), "nothing of the kind")


@pytest.mark.parametrize("name", ROWS)
def test_every_unreadable_file_is_named(tmp_path: Path, name: str) -> None:
    wrong = ROWS[name].encode("utf-16")
    files = {"frame_1.txt": wrong, "frame_2.txt": ROWS[name].encode(), "frame_3.txt": wrong}
    faults = faults_of_files(tmp_path / "folder", name, files)
    assert [(Path(fault.source or "").name, fault.found) for fault in faults] == [
        ("frame_1.txt", "text in UTF-16"),
        ("frame_3.txt", "text in UTF-16"),
    ]


@pytest.mark.parametrize(
    ("name", "seqmap"),
    [
        ("kitti-tracking", ("evaluate_tracking.seqmap", "a empty 0 1\nb empty 0 3\n")),
        ("mots", ("evaluate_mots.seqmap.val", "a empty 0 0\nb empty 0 2\n")),
        ("visdrone-mot", None),
    ],
)
def test_a_fault_of_a_frame_without_a_row_names_the_first_line_of_its_sequences_file(
    tmp_path: Path, name: str, seqmap: tuple[str, str] | None
) -> None:
    if seqmap is not None:
        write(tmp_path / seqmap[0], seqmap[1])
    write(tmp_path / "a.txt", ROWS[name])
    first = int(ROWS[name][0])
    write(tmp_path / "b.txt", f"\n{first + 2}{ROWS[name][1:]}")
    source = read_source(tmp_path, Side.TRUTH, format_name=name)
    places = [source.place_of(SequenceKey("", "b"), first + row) for row in range(3)]
    assert places == [f"{tmp_path}/b.txt, line {line}" for line in (1, 1, 2)]


def test_an_unknown_format_name_gets_a_suggestion() -> None:
    with pytest.raises(InputError, match="did you mean spotgeo-json"):
        find_format("spotgeo-jsn")


@pytest.fixture(params=[1, 2])
def _threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two processors and a lower threshold, files are large enough to be read in parallel."""
    monkeypatch.setattr(_files, "LEAST_SIDE_BYTES", 0)
    monkeypatch.setattr("os.cpu_count", lambda: request.param)


@pytest.mark.usefixtures("_threads")
def test_two_invalid_sides_are_reported_at_once(tmp_path: Path) -> None:
    left = write(tmp_path / "t.csv", "sequence,frame,x,y\na,0,x,1\n")
    right = write(tmp_path / "d.csv", "sequence,frame,x,y\na,0,1,y\n")
    with pytest.raises(InputError) as caught:
        read_pair(left, right)
    assert [fault.source for fault in caught.value.faults] == [str(left), str(right)]


@pytest.mark.parametrize("broken", ["truth", "detections"])
@pytest.mark.usefixtures("_threads")
def test_an_invalid_side_is_reported_beside_a_valid_one(broken: str, tmp_path: Path) -> None:
    paths = {name: write(tmp_path / f"{name}.csv", POINTS) for name in ("truth", "detections")}
    write(paths[broken], "sequence,frame,x,y\na,0,x,1\n")
    with pytest.raises(InputError) as caught:
        read_pair(paths["truth"], paths["detections"])
    assert [fault.source for fault in caught.value.faults] == [str(paths[broken])]


def test_files_are_read_in_parallel_if_each_is_large_and_both_fit_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "LEAST_SIDE_BYTES", 4)
    monkeypatch.setattr(_files, "MOST_BYTES_AT_ONCE", 10)
    small, fitting, large = (write(tmp_path / str(size), "x" * size) for size in (3, 5, 6))
    assert are_worth_a_thread_each(fitting, fitting)
    for other in (small, large, tmp_path, tmp_path / "missing", Path("-"), None):
        assert not are_worth_a_thread_each(fitting, other)
        assert not are_worth_a_thread_each(other, fitting)


def test_two_formats_of_two_benchmarks_cannot_be_mixed(tmp_path: Path) -> None:
    left, right = write(tmp_path / "t.json", JSON), tree(tmp_path / "d")
    with pytest.raises(InputError, match="found neovision2-csv, expected spotgeo-json"):
        read_pair(left, right)


@pytest.mark.usefixtures("_threads")
def test_generic_csv_can_be_mixed_with_any_format(tmp_path: Path) -> None:
    generic, other = write(tmp_path / "a.csv", POINTS), write(tmp_path / "b.json", JSON)
    for left, right in ((generic, other), (other, generic)):
        pair = read_pair(left, right)
        assert pair.truth.annotations.object_count == 1
        assert pair.detections.annotations.object_count == 1


def test_a_fault_found_by_an_evaluator_is_placed_in_the_file(tmp_path: Path) -> None:
    left = write(tmp_path / "t.csv", "sequence,frame,x,y\na,3,1,1\na,1,1,1\n")
    right = write(tmp_path / "d.json", JSON.replace('"sequence_id": 1', '"sequence_id": 0'))
    source = read_source(left, Side.TRUTH)
    fault = source.locate(Fault("x", "y", source="truth", entry=0, field="frame_numbers"))
    assert str(fault) == f"{left}, line 3: found x, expected y"
    located = read_source(right, Side.DETECTIONS).locate(Fault("x", "y", entry=0))
    assert str(located) == f"{right}, entry 0: found x, expected y"


def test_more_faults_than_can_be_listed_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAXIMUM_FAULTS", 3)
    first, second = FaultList(), FaultList()
    for line in range(5):
        first.add(Fault("a", "b", line=line))
    second.add(Fault("c", "d", line=9))
    second.absorb(first)
    assert second.total == 6
    assert [fault.found for fault in second.listed()] == ["a", "a", "c", "3 more faults"]


def test_an_unreadable_file_is_an_error_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    (fault,) = validate_file(write(tmp_path / "a.csv", POINTS))
    assert fault.found == "permission denied"


def test_an_impossible_file_name_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    (fault,) = validate_file(tmp_path / ("a" * 5000))
    assert fault.found == "file name too long"


def test_an_unlistable_folder_is_an_error_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    root = tree(tmp_path)
    monkeypatch.setattr(Path, "iterdir", refuse)
    (fault,) = validate_file(root)
    assert (fault.source, fault.found) == (str(root), "permission denied")


def test_a_column_of_invalid_fields_is_listed_up_to_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAXIMUM_FAULTS", 2)
    path = write(tmp_path / "a.csv", "sequence,frame,x,y\n" + "a,-1,1,1\n" * 5)
    assert [fault.found for fault in validate_file(path)] == ["-1", "-1", "3 more faults"]
