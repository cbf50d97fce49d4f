"""Packed files and streams are read like their content, and bounded; hostile ones are refused."""

from __future__ import annotations

import gzip
import io
import os
import struct
import sys
import threading
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators.formats.helpers import (
    detections_of,
    objects_of,
    truth_of,
    validate_file,
    write,
)
from tests.support.requirements import missing

from vidscore_evaluators import score
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import read_pair, read_source
from vidscore_evaluators.formats.neovision2 import HEADER
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.shards.merging import merge_files

CSV = "sequence,frame,class,x1,y1,x2,y2\na,1,car,0,0,10,10\nb,3,bus,5,5,9,9\n"
JSON = '[{"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": [[2, 3]]}]'
COCO = (
    '{"images": [{"id": 7}], "categories": [{"id": 1, "name": "car"}],'
    ' "annotations": [{"image_id": 7, "category_id": 1, "bbox": [0, 0, 5, 5]}]}'
)
MOT = "1,1,10,10,40,30,1,-1,-1,-1\n2,1,11,10,40,30,1,-1,-1,-1\n"
NEOVISION = ",".join(HEADER) + "\n0,0,0,1,0,1,1,0,1,Car,,,1,,\n"
KITTI = "0 1 Car 0 0 -1.8 360 196 446 252 1.6 1.6 4.0 -5.8 2.2 20.4 -1\n"

TREES: Mapping[str, Mapping[str, str]] = {
    "motchallenge": {
        "A/gt/gt.txt": MOT,
        "A/seqinfo.ini": "[Sequence]\nseqLength=4\n",
        "B/gt/gt.txt": MOT,
    },
    "neovision2-csv": {"Tower/001.csv": NEOVISION, "Park/001.csv": NEOVISION},
    "kitti-tracking": {"label_02/0000.txt": KITTI, "label_02/0001.txt": KITTI},
    "yolo-text": {"000.txt": "0 0.5 0.5 0.1 0.1\n", "001.txt": "", "classes.txt": "car\n"},
    "dota": {"labelTxt/P1.txt": "gsd:1\n1 2 3 2 3 9 1 9 ship 0\n", "labelTxt/P2.txt": ""},
}


def zipped(path: Path, files: Mapping[str, str | bytes], prefix: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(prefix + name, content)
    return path


def gzipped(path: Path, content: str) -> Path:
    path.write_bytes(gzip.compress(content.encode()))
    return path


def problem(path: Path, **options: object) -> str:
    """The only fault of reading a path as the truth."""
    with pytest.raises(InputError) as caught:
        truth_of(path, **options)
    (fault,) = caught.value.faults
    return str(fault)


@pytest.mark.parametrize("content", [CSV, JSON, COCO, MOT, KITTI])
def test_a_packed_file_is_read_like_the_file(tmp_path: Path, content: str) -> None:
    plain = truth_of(write(tmp_path / "a" / "0001.txt", content))
    packed = [
        gzipped(tmp_path / "0001.txt.gz", content),
        zipped(tmp_path / "0001.zip", {"0001.txt": content}),
        zipped(tmp_path / "more.zip", {"deep/er/0001.txt": content, "__MACOSX/x": "", ".a": ""}),
    ]
    for path in packed:
        source = truth_of(path)
        assert fingerprint(source.annotations) == fingerprint(plain.annotations)
        assert source.format == plain.format
        assert source.name.startswith(str(path))


@pytest.mark.parametrize("format_name", TREES)
@pytest.mark.parametrize("prefix", ["", "truth/"])
def test_a_zip_of_a_folder_is_read_like_the_folder(
    tmp_path: Path, format_name: str, prefix: str
) -> None:
    if format_name == "yolo-text" and prefix:
        pytest.skip("a folder within a YOLO folder is a sequence, in a zip as well")
    files = TREES[format_name]
    for name, content in files.items():
        write(tmp_path / "plain" / name, content)
    archive = zipped(tmp_path / "plain.zip", files, prefix)
    options = {"image_size": (100, 100)}
    plain = truth_of(tmp_path / "plain", **options)
    for chosen in ("auto", format_name):
        packed = truth_of(archive, format_name=chosen, **options)
        assert packed.format == format_name
        assert fingerprint(packed.annotations) == fingerprint(plain.annotations)
        assert objects_of(packed.annotations) == objects_of(plain.annotations)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 50)), max_size=30
    ),
    crlf=st.booleans(),
)
def test_any_rows_are_read_the_same_however_they_are_packed(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, int]], crlf: bool
) -> None:
    folder = tmp_path_factory.mktemp("packed")
    lines = ["sequence,frame,x,y", *(f"{name},{frame},{x},0.5" for name, frame, x in rows)]
    text = ("\r\n" if crlf else "\n").join(lines) + "\n"
    paths = [
        write(folder / "a.csv", text),
        gzipped(folder / "a.csv.gz", text),
        zipped(folder / "a.zip", {"a.csv": text}),
    ]
    assert len({str(fingerprint(truth_of(path).annotations)) for path in paths}) == 1


def test_faults_in_an_archive_name_archive_file_and_line(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "t.zip", {"A/gt/gt.txt": "1,1,10,10,x,30,1\n", "B/gt/gt.txt": MOT})
    expected = f"{archive}/A/gt/gt.txt, line 1, column width: found 'x', expected a finite number"
    assert problem(archive) == expected
    packed = gzipped(tmp_path / "t.csv.gz", CSV.replace("bus", "bus,"))
    assert problem(packed) == f"{packed}, line 3: found 8 columns, expected 7 columns"


def test_a_gzip_file_keeps_its_name_and_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "A" / "gt").mkdir(parents=True)
    write(tmp_path / "A" / "seqinfo.ini", "[Sequence]\nseqLength=5\n")
    source = truth_of(gzipped(tmp_path / "A" / "gt" / "gt.txt.gz", MOT))
    assert [key.sequence for key in source.annotations.sequences] == ["A"]
    assert source.annotations.frame_count == 5


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(CSV[:40].encode()) + gzip.compress(CSV[40:].encode()))
    assert truth_of(path).annotations.object_count == 2


def test_a_pipe_is_read_once_and_may_be_packed(tmp_path: Path) -> None:
    for content in (CSV.encode(), gzip.compress(CSV.encode())):
        pipe = tmp_path / f"pipe{len(content)}"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        assert truth_of(pipe).annotations.object_count == 2
        writer.join()


class _Standard:
    """Standard input as a program sees it."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = write(tmp_path / "t.csv", CSV)
    archive = zipped(tmp_path / "t.zip", {"t.csv": CSV}).read_bytes()
    for content in (CSV.encode(), gzip.compress(CSV.encode()), archive):
        monkeypatch.setattr(sys, "stdin", _Standard(content))
        assert score("f1", truth, "-").value("f1") == 1.0
    monkeypatch.setattr(sys, "stdin", _Standard(b"sequence,frame\n"))
    assert problem(Path("-")).startswith("standard input, line 1: found no coordinates")


def test_only_one_side_may_be_standard_input() -> None:
    with pytest.raises(InputError, match="standard input for both sides"):
        read_pair(Path("-"), Path("-"))


# --- hostile inputs --------------------------------------------------------------------------


def test_the_unpacked_size_of_gzip_is_bounded(tmp_path: Path) -> None:
    path = gzipped(tmp_path / "bomb.gz", CSV + "0" * 20_000_000)
    assert path.stat().st_size < 50_000
    limits = ReadLimits(maximum_file_bytes=1 << 20)
    assert problem(path, limits=limits) == (
        f"{path}: found more bytes, expected at most maximum_file_bytes = 1048576"
    )


def test_the_size_of_a_pipe_is_bounded() -> None:
    limits = ReadLimits(maximum_file_bytes=1 << 20)
    assert "found more bytes" in problem(Path("/dev/zero"), limits=limits)


def test_the_unpacked_size_of_a_zip_is_bounded_per_file_and_in_all(tmp_path: Path) -> None:
    files = {f"{name}/gt/gt.txt": MOT + "0" * 1_000_000 for name in "ABC"}
    path = zipped(tmp_path / "bomb.zip", files)
    assert "expected at most maximum_unpacked_bytes = 2000000" in problem(
        path, limits=ReadLimits(maximum_unpacked_bytes=2_000_000)
    )
    with pytest.raises(InputError, match="maximum_file_bytes = 500000"):
        truth_of(path, limits=ReadLimits(maximum_file_bytes=500_000))
    assert "found 3 files, expected at most maximum_files = 2" in problem(
        path, limits=ReadLimits(maximum_files=2)
    )


def _patched(path: Path, mark: bytes, offset: int, value: bytes) -> Path:
    """A zip with some bytes changed in its first record of a kind."""
    content = bytearray(path.read_bytes())
    place = content.index(mark) + offset
    content[place : place + len(value)] = value
    path.write_bytes(content)
    return path


LISTED, END = b"PK\x01\x02", b"PK\x05\x06"


def test_a_huge_declared_size_is_refused_before_unpacking(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.csv": CSV})
    _patched(path, LISTED, 24, struct.pack("<I", 0xFFFFFFF0))
    limits = ReadLimits(maximum_unpacked_bytes=1 << 30)
    assert "expected at most maximum_unpacked_bytes" in problem(path, limits=limits)


def test_a_declared_size_that_is_too_small_limits_unpacking(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.csv": CSV})
    _patched(path, LISTED, 24, struct.pack("<I", 20))
    assert "broken packed data (Bad CRC-32" in problem(path)


def test_a_huge_list_of_files_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.csv": CSV})
    _patched(path, END, 12, struct.pack("<I", 0x7FFFFFFF))
    assert "a list of files of 2147483647 bytes" in problem(path)


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.csv": CSV})
    _patched(path, LISTED, 8, b"\x01\x00")
    assert problem(path) == f"{path}/a.csv: an encrypted file"


def test_an_unknown_compression_method_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.csv": CSV})
    _patched(path, LISTED, 10, b"\x63\x00")
    _patched(path, b"PK\x03\x04", 8, b"\x63\x00")
    assert "packed in an unknown way" in problem(path)


@pytest.mark.parametrize("name", ["../a.csv", "/etc/a.csv", "a/../../b.csv", "..\\a.csv", "a/.."])
def test_a_name_that_leads_out_of_an_archive_is_refused(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "a.zip", {name: CSV, "b.csv": CSV})
    assert "a name that leads out of the archive" in problem(path)


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a.csv")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert problem(tmp_path / "a.zip").endswith("a.csv: a link, which is not followed")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a.csv", "a.csv"), "a file that occurs twice"),
        (("a.csv", "./a.csv"), "a file that occurs twice"),
        (("a", "a/b.csv"), "a file and a folder of one name"),
        (("x/" * 70 + "a.csv",), "more than 64 folders deep"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_no_folder_can_have_are_refused(
    tmp_path: Path, names: tuple[str, ...], said: str
) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in names:
            archive.writestr(name, CSV)
    assert said in problem(tmp_path / "a.zip")


def test_a_doubly_packed_file_is_named(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"a.csv": CSV})
    outer = zipped(tmp_path / "outer.zip", {"inner.zip": inner.read_bytes()})
    assert problem(outer) == (
        f"{outer}/inner.zip: a zip within a folder or an archive; unpack it first"
    )
    twice = tmp_path / "a.csv.gz.gz"
    twice.write_bytes(gzip.compress(gzip.compress(CSV.encode())))
    assert "a gzip file within a folder or an archive" in problem(twice)


def test_an_empty_zip_is_an_empty_folder(tmp_path: Path) -> None:
    assert problem(zipped(tmp_path / "a.zip", {})) == f"{tmp_path}/a.zip: an empty folder"


def test_an_office_document_is_named(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.xlsx", {"[Content_Types].xml": "", "xl/a.xml": ""})
    assert problem(path) == f"{path}: an Office document; save it as CSV"


@pytest.mark.parametrize("packed", ["gz", "zip"])
def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path: Path, packed: str) -> None:
    whole = tmp_path / f"whole.{packed}"
    if packed == "gz":
        gzipped(whole, CSV)
    else:
        zipped(whole, {"a.csv": CSV})
    content = whole.read_bytes()
    for length in range(4, len(content)):
        cut = tmp_path / "cut"
        cut.write_bytes(content[:length])
        assert validate_file(cut), length


def test_changed_bytes_never_cause_anything_but_an_input_error(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"a.csv": CSV, "b/c.csv": CSV}).read_bytes()
    random = np.random.default_rng(5)
    for content in (archive, gzip.compress(CSV.encode())):
        for _ in range(150):
            changed = bytearray(content)
            for place in random.integers(4, len(content), 3).tolist():
                changed[place] = int(random.integers(0, 256))
            path = tmp_path / "changed"
            path.write_bytes(changed)
            with suppress(InputError):  # Anything else fails the test.
                read_source(path, Side.TRUTH)


def test_detections_and_truth_may_be_packed_differently(tmp_path: Path) -> None:
    truth = zipped(tmp_path / "t.zip", {"A/gt/gt.txt": MOT})
    detections = gzipped(tmp_path / "A.txt.gz", MOT)
    assert score("clear", truth, detections).value("mota") == 1.0
    assert detections_of(detections).annotations.object_count == 2


def test_a_dangling_link_is_reported_as_such(tmp_path: Path) -> None:
    """The error used to be `file not found; did you mean` with the same name."""
    link = tmp_path / "found.csv"
    link.symlink_to("gone.csv")
    [fault] = validate_file(link)
    assert (fault.found, fault.source) == ("a link that leads nowhere", str(link))


def test_a_tally_file_must_not_be_a_pipe() -> None:
    """It is read twice."""
    reading, writing = os.pipe()
    try:
        with pytest.raises(InputError, match=r"fd/.*: found a pipe or device, expected a tally fi"):
            merge_files([Path(f"/dev/fd/{reading}")])
    finally:
        os.close(reading)
        os.close(writing)


def test_a_read_error_of_the_disk_is_named() -> None:
    """The memory of the process is a file whose first bytes cannot be read."""
    broken = Path("/proc/self/mem")
    if not broken.exists():
        missing("/proc")
    with pytest.raises(InputError, match="/proc/self/mem: input/output error"):
        truth_of(broken)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("street\t1", {"street\t1/gt/gt.txt": MOT}),
        ("2\n", {"0001.txt": KITTI, "2\n.txt": KITTI}),
        ("Tower\t1", {"Park/001.csv": NEOVISION, "Tower\t1/001.csv": NEOVISION}),
        (" a", {"Park/001.csv": NEOVISION, "Tower/ a.csv": NEOVISION}),
    ],
)
def test_a_name_that_no_sequence_may_have_is_shown_with_its_file(
    name: str, files: Mapping[str, str], tmp_path: Path
) -> None:
    """The name of a sequence may be that of a folder."""
    for file, content in files.items():
        write(tmp_path / file, content)
    with pytest.raises(InputError) as caught:
        truth_of(tmp_path)
    [fault] = caught.value.faults
    assert fault.found == repr(name)
    assert fault.source == str(tmp_path / list(files)[-1])
