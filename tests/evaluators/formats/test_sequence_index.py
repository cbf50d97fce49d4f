"""An index says which file of a folder has which sequences; a wrong index is refused."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.formats.helpers import validate_file
from tests.evaluators.shards.test_parts import (
    NAMES,
    merged,
    opened_below,
    scene,
    task_of,
    texts,
    whole,
)

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import index_folder, read_source, reads_by_sequence
from vidscore_evaluators.formats._files import SEQUENCE_INDEX as NAME
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.shards.dealing import Shard, shard_number
from vidscore_evaluators.shards.tasks import score_shard

FORMATS = ("generic-csv", "jsonl", "parquet", "arrow")
INDEX = """sequence,file,domain
s0,a.csv,Tower
s1,a.csv,Tower
s2,b.csv,Tower
"""
ROWS = "domain,sequence,frame,x,y\n"
FILES = {
    "a.csv": f"{ROWS}Tower,s0,0,1,2\nTower,s1,0,1,2\nTower,s1,1,3,4\n",
    "b.csv": f"{ROWS}Tower,s2,0,1,2\n",
}


def divided(folder: Path, side: Side, format_name: str) -> Path:
    """The scene of the shards in three files of several sequences each, with an index."""
    made = scene(side).annotations
    root = folder / side.value
    root.mkdir(parents=True)
    for owner in range(3):
        rows = [NAMES.index(made.sequences[row].sequence) for row in made.frame_sequences.tolist()]
        part = made.take_frames(np.flatnonzero(np.array(rows) % 3 == owner))
        source = Source(part.with_used_tables(), "given")
        written = convert(source, format_name, side).files[""]
        (root / f"part-{owner}.{format_name.replace('generic-', '')}").write_bytes(written)
    (root / NAME).write_bytes(index_folder(root, side))
    return root


def small(folder: Path, index: str = INDEX, **changed: str) -> Path:
    root = folder / "t"
    root.mkdir()
    (root / NAME).write_text(index)
    for name, text in (
        FILES | {name.replace("_", "."): one for name, one in changed.items()}
    ).items():
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize("name", FORMATS)
def test_files_of_an_index_are_one_side(tmp_path: Path, name: str) -> None:
    root = divided(tmp_path, Side.DETECTIONS, name)
    side = read_source(root, Side.DETECTIONS)
    assert fingerprint(side.annotations) == fingerprint(scene(Side.DETECTIONS).annotations)
    assert reads_by_sequence(root)
    assert side.format == name
    place = side.place_of(SequenceKey("Tower", "s4"), 2)
    assert place.startswith(f"{root}/part-1.")


@pytest.mark.parametrize("name", FORMATS)
def test_shards_read_the_files_of_their_sequences_and_merge_to_the_whole(
    tmp_path: Path, name: str
) -> None:
    sides = tuple(divided(tmp_path, side, name) for side in Side)
    task = task_of((sides[0], sides[1]), "auto", "f1", "map")
    assert texts(merged(tmp_path, task)) == whole(task)
    mine = Shard(shard_number(SequenceKey("Tower", "s0"), 97), 97)
    with opened_below(tmp_path) as opened:
        score_shard(task, mine)
    numbers = {int(path.partition("part-")[2][0]) for path in opened if "part-" in path}
    owned = {
        int(key[1:]) % 3
        for key in NAMES
        if shard_number(SequenceKey("Tower", key), 97) == mine.number
    }
    assert numbers == owned == {0}


def test_an_index_is_made_by_reading_each_file(tmp_path: Path) -> None:
    root = small(tmp_path)
    (root / NAME).unlink()
    assert index_folder(root, Side.TRUTH).decode() == (
        "file,sequence,domain\na.csv,s0,Tower\na.csv,s1,Tower\nb.csv,s2,Tower\n"
    )


@pytest.mark.parametrize("above", ["", "parts/"])
def test_a_packed_folder_with_an_index_is_one_side(tmp_path: Path, above: str) -> None:
    """Even if it is the only folder of the archive."""
    root = small(tmp_path)
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in root.iterdir():
            archive.write(file, f"{above}{file.name}")
    sides = (read_source(path, Side.TRUTH).annotations for path in (root, packed))
    plain, unpacked = map(fingerprint, sides)
    assert plain == unpacked


def test_no_index_can_be_written_for_a_packed_folder(tmp_path: Path) -> None:
    """It cannot be written into a zip."""
    packed = tmp_path / "parts.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.csv", "sequence,frame,x,y\na,1,2,3\n")
    with pytest.raises(InputError, match=r"parts\.zip: found an archive, expected a folder"):
        index_folder(packed, Side.TRUTH)


def test_a_packed_file_in_a_folder_is_reported_as_such(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"sequence,frame,x,y\na,1,2,3\n"))
    with pytest.raises(InputError, match=r"a\.csv\.gz: a gzip file within a folder or an archive"):
        index_folder(tmp_path, Side.TRUTH)


def test_circular_links_are_named(tmp_path: Path) -> None:
    """Two of them would be followed a million million times."""
    root = small(tmp_path)
    (root / NAME).unlink()
    for name in ("x", "y"):
        (root / name).symlink_to(root)
    with pytest.raises(InputError, match=r"/x: a link to a folder that it is in"):
        index_folder(root, Side.TRUTH)


def test_folders_are_searched_to_a_limited_depth(tmp_path: Path) -> None:
    root = small(tmp_path)
    (root / NAME).unlink()
    root.joinpath(*"d" * 70).mkdir(parents=True)
    with pytest.raises(InputError, match="a folder more than 64 folders deep"):
        index_folder(root, Side.TRUTH)


def test_a_sequence_in_two_files_cannot_be_indexed(tmp_path: Path) -> None:
    root = small(tmp_path, b_csv=FILES["a.csv"])
    (root / NAME).unlink()
    with pytest.raises(InputError, match=r"b\.csv: found sequence Tower/s0, expected in one file"):
        index_folder(root, Side.TRUTH)


@pytest.mark.parametrize(
    ("index", "place", "found"),
    [
        ("", "line 1", "an empty file"),
        ("file,name\n", "line 1", "file, name"),
        (INDEX + "s3,c.csv,Tower\n", "line 5, column file", "'c.csv'"),
        (INDEX + "s3,../a.csv,Tower\n", "line 5, column file", "'../a.csv'"),
        (INDEX + ",a.csv,Tower\n", "line 5, column sequence", "nothing"),
        (INDEX + "s0,b.csv,Tower\n", "line 5, column sequence", "sequence Tower/s0"),
        (INDEX + "s3,b.csv\n", "line 5", "2 fields"),
    ],
)
def test_a_fault_of_an_index_is_named_with_line_and_column(
    tmp_path: Path, index: str, place: str, found: str
) -> None:
    root = small(tmp_path, index)
    faults = validate_file(root)
    assert f"{root}/{NAME}, {place}: found {found}" in " ".join(map(str, faults))


def test_a_file_that_the_index_lacks_is_refused(tmp_path: Path) -> None:
    root = small(tmp_path, c_csv=FILES["b.csv"])
    (fault,) = validate_file(root)
    assert str(fault).startswith(f"{root}/c.csv: found a file that no line names")


@pytest.mark.parametrize("wanted", [None, lambda key: key.sequence == "s2"])
def test_a_wrong_index_is_refused_when_the_file_is_read(tmp_path: Path, wanted: object) -> None:
    """The file has another sequence than listed; files that are not read are not checked."""
    root = small(tmp_path, b_csv=FILES["b.csv"].replace("s2", "s9"))
    faults = [str(fault) for fault in validate_file(root, wanted=wanted)]
    assert len(faults) == 2
    assert f"{root}/b.csv: found sequence Tower/s9, expected Tower/s2" in " ".join(faults)
    assert f"{root}/{NAME}, line 4, column sequence: found sequence Tower/s2, which b.csv" in (
        " ".join(faults)
    )
    assert not validate_file(root, wanted=lambda key: key.sequence == "s0")


def test_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    text = "domain,sequence,frame,x,y,area\nTower,s2,0,1,2,9\n"
    root = small(tmp_path, b_csv=text)
    (fault,) = validate_file(root)
    assert str(fault) == f"{root}/b.csv: found columns: area, expected none, as {root}/a.csv has"


def test_files_of_which_only_one_has_masks_are_refused(tmp_path: Path) -> None:
    line = (
        '{"domain": "Tower", "sequence": "s%d", "frame": 0, "objects": [{"box": [0, 0, 2, 1]%s}]}\n'
    )
    mask = ', "mask": {"size": [2, 2], "counts": [0, 4]}'
    root = small(tmp_path, a_csv=line % (0, mask) + line % (1, mask), b_csv=line % (2, ""))
    (fault,) = validate_file(root)
    assert (
        str(fault)
        == f"{root}/b.csv: found masks: none, expected those of all objects, as {root}/a.csv has"
    )


def test_files_of_formats_with_meaningful_names_cannot_be_indexed(tmp_path: Path) -> None:
    root = small(tmp_path, b_csv="[]")
    (fault,) = validate_file(root)
    assert "a file of spotgeo-json in a folder with an index" in str(fault)
