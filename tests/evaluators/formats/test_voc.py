"""PASCAL VOC: handwritten annotations and results, hostile XML, and every fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.evaluators.formats.helpers import (
    detections_of,
    frames_of,
    objects_of,
    truth_of,
    validate_file,
    write,
)

from vidscore_evaluators.annotations import ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import detect_format, read_pair
from vidscore_evaluators.formats.convert import convert

CAT = """\
<annotation>
  <folder>VOC2012</folder>
  <filename>2008_000007.jpg</filename>
  <size><width>500</width><height>333</height><depth>3</depth></size>
  <object>
    <name>cat</name>
    <part><name>head</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox></part>
    <bndbox><xmax>20</xmax><xmin>10.5</xmin><ymax>40</ymax><ymin>30</ymin></bndbox>
    <difficult>1</difficult>
  </object>
  <object><name>dog &amp; co</name>
    <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>6</ymax></bndbox>
  </object>
</annotation>
"""
NOTHING = "<?xml version='1.0'?>\n<annotation><filename>x</filename></annotation>\n"
RESULT = "2008_000007 0.75 10 30 20 40\n"


def kit(root: Path, text: str = CAT) -> Path:
    write(root / "Annotations" / "2008_000007.xml", text)
    write(root / "Annotations" / "2008_000003.xml", NOTHING)
    return root


def test_truth_is_read_as_written(tmp_path: Path) -> None:
    """Corners are in any order of elements, parts are not objects, difficult is ignored, every file
    lists its frame.
    """
    source = truth_of(kit(tmp_path))
    assert source.format == "pascal-voc"
    assert frames_of(source.annotations) == [("2008", 3), ("2008", 7)]
    assert objects_of(source.annotations) == [
        ("2008", 7, "cat", (10.5, 30.0, 20.0, 40.0), 1.0, -1, ObjectFlag.IGNORE),
        ("2008", 7, "dog & co", (1.0, 1.0, 5.0, 6.0), 1.0, -1, 0),
    ]
    assert truth_of(tmp_path / "Annotations").annotations.object_count == 2
    assert truth_of(tmp_path / "Annotations" / "2008_000007.xml").annotations.frame_count == 1


def test_an_image_may_be_one_pixel_high_and_31_bits_wide(tmp_path: Path) -> None:
    text = CAT.replace("<width>500", "<width>2147483647").replace("<height>333", "<height>1")
    source = truth_of(kit(tmp_path, text) / "Annotations" / "2008_000007.xml")
    assert source.image_sizes == {SequenceKey("", "2008"): (2147483647, 1)}


@pytest.mark.parametrize("height", ["0", "-333", "2147483648", "18446744073709551616"])
def test_an_impossible_size_counts_as_unknown(tmp_path: Path, height: str) -> None:
    text = CAT.replace("<height>333", f"<height>{height}")
    source = truth_of(kit(tmp_path, text) / "Annotations" / "2008_000007.xml")
    assert source.image_sizes == {}
    [written] = convert(source, "pascal-voc", Side.TRUTH).files.values()
    assert b"<size>" not in written


def test_sizes_are_known_if_all_files_have_one(tmp_path: Path) -> None:
    whole = truth_of(kit(tmp_path) / "Annotations" / "2008_000007.xml")
    assert whole.image_sizes == {SequenceKey("", "2008"): (500, 333)}
    assert truth_of(tmp_path).image_sizes == {}
    write(
        tmp_path / "Annotations" / "2008_000003.xml",
        CAT.replace("500", "300").replace("333", "600"),
    )
    assert truth_of(tmp_path).image_sizes == {SequenceKey("", "2008"): (500, 600)}


def test_an_image_has_its_own_size_in_other_formats_or_none(tmp_path: Path) -> None:
    [written] = convert(truth_of(kit(tmp_path)), "coco-json", Side.TRUTH).files.values()
    sizes = [(image.get("width"), image.get("height")) for image in json.loads(written)["images"]]
    assert sizes == [(None, None), (500, 333)]
    again = convert(truth_of(tmp_path), "pascal-voc", Side.TRUTH).files
    size = b"<size><width>500</width><height>333</height></size>"
    assert {name: size in data for name, data in again.items()} == {
        "Annotations/2008_000003.xml": False,
        "Annotations/2008_000007.xml": True,
    }


def test_the_class_of_results_is_in_the_name_of_the_file(tmp_path: Path) -> None:
    """One file per class; images without a year belong to one sequence."""
    write(tmp_path / "comp3_det_test_cat.txt", RESULT + "000012 -1.5 1 2 3 4\n")
    write(tmp_path / "comp4_uuid_det_val_fire_truck.txt", RESULT)
    write(tmp_path / "comp3_det_test_dog.txt", "")
    source = detections_of(tmp_path)
    assert source.format == "pascal-voc"
    box = (10.0, 30.0, 20.0, 40.0)
    assert objects_of(source.annotations) == [
        ("2008", 7, "cat", box, 0.75, -1, 0),
        ("2008", 7, "fire_truck", box, 0.75, -1, 0),
        ("images", 12, "cat", (1.0, 2.0, 3.0, 4.0), -1.5, -1, 0),
    ]


def test_empty_results_have_no_frames(tmp_path: Path) -> None:
    write(tmp_path / "comp3_det_test_cat.txt", "")
    assert detections_of(tmp_path, format_name="pascal-voc").annotations.frame_count == 0


def test_rows_of_a_frame_stay_in_their_order(tmp_path: Path) -> None:
    rows = [f"000001 0.5 {x} 1 9 9\n" for x in (5, 3, 4)]
    path = write(tmp_path / "comp3_det_test_cat.txt", "".join(rows))
    assert detections_of(path).annotations.coordinates[:, 0].tolist() == [5.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<!DOCTYPE annotation [<!ENTITY a "b">]>\n' + NOTHING[22:], "a document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><annotation/>', "a document type"),
        ("<annotation>&a;</annotation>", "invalid XML (undefined entity)"),
        ("<annotation>", "invalid XML (no element found)"),
        ("<annotation/><annotation/>", "invalid XML (junk after document element)"),
        ("", "invalid XML (no element found)"),
        ("\0\1\2", "invalid XML (not well-formed (invalid token))"),
        ("<html></html>", "the element 'html'"),
        ("<annotation>" + "<a>" * 40, "elements within elements"),
        (CAT.replace("cat", "c" * 2000), "a long text"),
        (
            CAT.replace("<ymax>40</ymax>", "<ymax>40</ymax><ymax>41</ymax>"),
            "the element 'ymax' again",
        ),
        (
            "<?xml version='1.0' encoding='nonsense'?><annotation/>",
            "invalid XML (an unknown encoding)",
        ),
    ],
)
def test_hostile_or_invalid_xml_is_refused(tmp_path: Path, text: str, found: str) -> None:
    """With its file; nothing is expanded, fetched or kept beyond its bounds."""
    kit(tmp_path, text)
    faults = validate_file(tmp_path, format_name="pascal-voc")
    assert [(Path(fault.source or "").name, fault.found) for fault in faults] == [
        ("2008_000007.xml", found)
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<xmin>10.5", "<xmin>" + " " * 996 + "10.5"),  # 1,000 characters.
        ("</name>", "</name>" + " " * 1001),
        ("<folder>", "<folder>" + "<a>" * 30 + "</a>" * 30),  # 32 levels.
    ],
)
def test_xml_within_the_bounds_is_read(tmp_path: Path, old: str, new: str) -> None:
    assert truth_of(kit(tmp_path, CAT.replace(old, new))).annotations.object_count == 2


@pytest.mark.parametrize(
    ("old", "new", "field", "found"),
    [
        ("<xmin>10.5</xmin>", "", "xmin", "nothing"),
        ("<xmin>10.5</xmin>", "<xmin>nan</xmin>", "xmin", "'nan'"),
        ("<xmin>10.5</xmin>", "<xmin>2e9</xmin>", "column xmin", "2000000000.0"),
        ("<name>cat</name>", "", "name", "nothing"),
        ("<name>cat</name>", "<name>cat<b/></name>", "name", "nothing"),
        ("<difficult>1</difficult>", "<difficult>yes</difficult>", "difficult", "'yes'"),
    ],
)
def test_an_invalid_object_is_named(
    tmp_path: Path, old: str, new: str, field: str, found: str
) -> None:
    """File and first line of the object; without it the rest is read."""
    (fault,) = validate_file(kit(tmp_path, CAT.replace(old, new)))
    assert (Path(fault.source or "").name, fault.line) == ("2008_000007.xml", 5)
    assert (fault.field, fault.found) == (field, found)
    rest = truth_of(tmp_path, on_error="skip")
    assert rest.annotations.object_count == 1
    assert [(warning.code, warning.count) for warning in rest.warnings] == [("skipped_rows", 1)]


@pytest.mark.parametrize(
    ("row", "field", "found"),
    [
        (RESULT.replace("2008_000007", "cat"), "column image", "'cat'"),
        (RESULT.replace("0.75", "x"), "column confidence", "'x'"),
        (RESULT.replace("0.75", "nan"), "column confidence", "'nan'"),
        (RESULT.replace("40", "2e9"), "column ymax", "2000000000.0"),
        (RESULT.replace("40", ""), None, "5 columns"),
    ],
)
def test_an_invalid_row_is_named(tmp_path: Path, row: str, field: str | None, found: str) -> None:
    path = write(tmp_path / "comp3_det_test_cat.txt", RESULT + row + RESULT)
    (fault,) = validate_file(path, side=Side.DETECTIONS)
    assert (fault.source, fault.line) == (str(path), 2)
    assert (fault.field, fault.found) == (field, found)
    assert detections_of(path, on_error="skip").annotations.object_count == 2


def test_names_of_files_must_give_image_and_class(tmp_path: Path) -> None:
    write(tmp_path / "a" / "cat.xml", NOTHING)
    write(tmp_path / "b" / "x_1.xml", NOTHING)
    write(tmp_path / "b" / "x_01.xml", NOTHING)
    write(tmp_path / "c" / "comp3_det_test_cat.txt", RESULT)
    write(tmp_path / "c" / "comp4_det_test_cat.txt", RESULT)
    founds = [validate_file(tmp_path / name)[0].found for name in "ab"]
    assert founds == ["the name 'cat.xml'", "'x_1.xml', frame 1 of x again"]
    (fault,) = validate_file(tmp_path / "c", side=Side.DETECTIONS)
    assert fault.found == "class 'cat' again"


def test_a_missing_voc_file_is_reported(tmp_path: Path) -> None:
    for side in Side:
        (fault,) = validate_file(tmp_path / "b", side=side, format_name="pascal-voc")
        assert fault.found == "file not found"


def test_exchanged_sides_are_reported(tmp_path: Path) -> None:
    write(tmp_path / "comp3_det_test_cat.txt", RESULT)
    for folder, side in ((tmp_path, Side.TRUTH), (kit(tmp_path / "kit"), Side.DETECTIONS)):
        (fault,) = validate_file(folder, side=side, format_name="pascal-voc")
        assert "the other side" in (fault.advice or "")


def test_written_files_are_read_back(tmp_path: Path) -> None:
    truth = truth_of(kit(tmp_path))
    write(tmp_path / "found" / "comp3_det_test_cat.txt", RESULT)
    found = detections_of(tmp_path / "found")
    for source, side in ((truth, Side.TRUTH), (found, Side.DETECTIONS)):
        files = convert(source, "pascal-voc", side).files
        for name, data in files.items():
            write(tmp_path / side / name, data.decode())
        again = (truth_of if side is Side.TRUTH else detections_of)(tmp_path / side)
        assert objects_of(again.annotations) == objects_of(source.annotations)
    assert read_pair(tmp_path / "truth", tmp_path / "detections").warnings == ()


def test_a_sequence_whose_name_could_not_be_read_back_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "truth.csv", "sequence,frame,x1,y1,x2,y2\ncam_,1,0,0,1,1\n")
    with pytest.raises(InputError, match="'cam_'"):
        convert(truth_of(path), "pascal-voc", Side.TRUTH)


def test_the_format_is_recognised(tmp_path: Path) -> None:
    """Results are rows of six numbers, like YOLO's: the names of the files distinguish them."""
    path = write(tmp_path / "comp3_det_test_cat.txt", RESULT.replace("2008_", ""))
    for place in (path, tmp_path, kit(tmp_path / "kit")):
        assert detect_format(place).name == "pascal-voc"
