"""Masks in Parquet: they are read back to the last run, and faults name their row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.formats.helpers import detections_of, truth_of, validate_file
from tests.evaluators.formats.test_parquet import save, scene, written

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.mask_forms import compressed_texts, masks_from_label_image
from vidscore_evaluators.masks import concatenate_masks
from vidscore_evaluators.testing.examples import example_count

MASK_COLUMNS: dict[str, Any] = {
    "sequence": ["a", "a", "a"],
    "frame": [0, 0, 1],
    "x1": [None, 0.25, None],
    "y1": [None, 0.5, None],
    "x2": [None, 1.5, None],
    "y2": [None, 2.75, None],
    "mask_height": [2, 2, None],
    "mask_width": [3, 3, None],
    "mask_counts": ["123", "123", None],
}
"""Two objects with the upper left pixel clear and the next two set, one with its own box."""


def masked_scene(random: np.random.Generator) -> Annotations:
    """The frames of `scene` with a mask for each object, in images of two sizes."""
    made = scene(random, 4)
    sizes = np.where(made.object_frames[:, None] % 2, [6, 4], [5, 7]).astype(np.int64)
    masks = [
        masks_from_label_image(random.integers(0, 2, size) * 2 + [[1], *[[0]] * (size[0] - 1)])[1]
        for size in sizes
    ]
    runs = concatenate_masks([one.run(one.count - 1, one.count) for one in masks])
    return replace(made, masks=runs)


@settings(max_examples=example_count(20), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_masks_are_read_back_to_the_last_run(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    given_ = masked_scene(np.random.default_rng(seed))
    path = tmp_path_factory.mktemp("parquet") / "written"
    path.write_bytes(written(given_, Side.DETECTIONS))
    back = detections_of(path).annotations
    assert fingerprint(back) == fingerprint(given_)
    if given_.object_count:
        assert given_.masks is not None
        assert back.masks is not None
        np.testing.assert_array_equal(back.masks.runs, given_.masks.runs)
        np.testing.assert_array_equal(back.masks.sizes, given_.masks.sizes)


def test_a_mask_without_a_box_gets_its_bounding_box(tmp_path: Path) -> None:
    found = detections_of(save(tmp_path / "a.parquet", MASK_COLUMNS)).annotations
    assert found.coordinates.tolist() == [[0, 0, 2, 2], [0.25, 0.5, 1.5, 2.75]]
    assert found.masks is not None
    assert found.masks.runs.tolist() == [1, 2, 3, 1, 2, 3]
    assert found.object_counts.tolist() == [2, 0]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_masks_are_texts_or_bytes_and_need_no_columns_of_boxes(tmp_path: Path, kind: Any) -> None:
    """Also as dictionaries, whose texts stand for any number of rows."""
    texts = pa.array(["123", "123", None]).cast(kind)
    for counts in (texts, texts.dictionary_encode()):
        columns = {name: one for name, one in MASK_COLUMNS.items() if name[0] not in "xy"}
        path = save(tmp_path / "a.parquet", columns | {"mask_counts": counts})
        found = detections_of(path).annotations
        assert found.coordinates.tolist() == [[0, 0, 2, 2], [0, 0, 2, 2]]
        assert found.masks is not None


def test_masks_of_only_some_objects_are_read_as_their_boxes(tmp_path: Path) -> None:
    changed = {"x1": [1.0] * 3, "y1": [1.0] * 3, "x2": [2.0] * 3, "y2": [2.0] * 3}
    found = detections_of(save(tmp_path / "a.parquet", MASK_COLUMNS | changed)).annotations
    assert found.object_count == 3
    assert found.masks is None


@pytest.mark.parametrize(
    ("changed", "column", "problem"),
    [
        ({"mask_counts": ["123", "12", None]}, "mask_counts", "found runs of 3 pixels"),
        ({"mask_counts": ["123", "1\x7f", None]}, "mask_counts", "found a character that no"),
        ({"mask_counts": ["123", b"\xff".decode("latin-1"), None]}, "mask_counts", "found a char"),
        ({"mask_counts": ["123", None, None]}, "mask_counts", "found nothing, expected all"),
        ({"mask_width": [3, None, None]}, "mask_width", "found nothing, expected all"),
        ({"mask_height": [2, 0, None]}, "mask_height, mask_width", "found 0 by 3"),
        ({"mask_height": [2, 1.5, None]}, "mask_height", "found 1.5"),
        (
            {"mask_height": [2, 3, None], "mask_width": [3, 2, None]},
            "mask_height, mask_width",
            "found 3 by 2, expected 2 by 3, as the first mask of the frame",
        ),
    ],
)
def test_a_fault_of_a_mask_is_named_with_file_row_and_column(
    tmp_path: Path, changed: dict[str, Any], column: str, problem: str
) -> None:
    path = save(tmp_path / "a.parquet", MASK_COLUMNS | changed)
    faults = validate_file(path)
    assert {(fault.source, fault.entry) for fault in faults} == {(str(path), 1)}
    [fault] = [one for one in faults if (one.field or "").split(" ", 1)[1] == column]
    assert fault.description.startswith(problem)
    assert read_source(path, Side.TRUTH, on_error="skip").annotations.object_count == 1


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"mask_width": None}, "column mask_width: missing; masks are the columns mask_height, "),
        ({"mask_counts": [1, 2, 3]}, "column mask_counts: found type int64, expected a column of"),
        (
            {"mask_height": ["2", "2", "2"]},
            "column mask_height: found type string",
        ),
        (
            {"x3": [1.0] * 3, "y3": [1.0] * 3, "x4": [1.0] * 3, "y4": [1.0] * 3},
            "found masks beside the coordinates x1, x2, x3, x4, y1, y2, y3, y4, expected x1, y1",
        ),
    ],
)
def test_incomplete_mask_columns_are_named(
    tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    columns = {name: one for name, one in (MASK_COLUMNS | changed).items() if one is not None}
    [fault] = validate_file(save(tmp_path / "a.parquet", columns))
    assert problem in str(fault)


def test_a_small_file_of_very_many_runs_is_refused(tmp_path: Path) -> None:
    """One text for all rows: 20,000 times 1,000 runs of 4 bytes."""
    text = "111" + "0" * 997
    count = 20_000
    columns = {
        "sequence": ["a"] * count,
        "frame": list(range(count)),
        "mask_height": [10] * count,
        "mask_width": [100] * count,
        "mask_counts": [text] * count,
    }
    path = save(tmp_path / "a.parquet", columns)
    (fault,) = validate_file(path, limits=ReadLimits(maximum_unpacked_bytes=64 << 20))
    assert (fault.found, fault.field) == ("masks of 80000000 bytes", "column mask_counts")


def test_convert_keeps_masks_between_all_formats_that_have_them(tmp_path: Path) -> None:
    """Between all pairs of the four: the same masks, classes and tracks in the same frames."""
    rows = ["1 1005 1 6 8 8240l0", "1 2001 2 6 8 j0240:", "3 1005 1 6 8 8240l0"]
    (tmp_path / "mots.txt").write_text("".join(f"{row}\n" for row in rows))
    names = ("mots", "jsonl", "parquet", "coco-json")
    paths = {"mots": tmp_path / "mots.txt"}
    for name in names[1:]:
        paths[name] = _saved(tmp_path, paths["mots"], name)
    for name, path in paths.items():
        for other in names:
            back = truth_of(_saved(tmp_path / f"of-{name}", path, other)).annotations
            assert back.masks is not None
            assert compressed_texts(back.masks) == ["8240l0", "j0240:", "8240l0"]
            assert back.masks.sizes.tolist() == [[6, 8]] * 3
            assert [back.labels[one] for one in back.label_indices] == ["car", "pedestrian", "car"]
            assert back.track_ids.tolist() == [1005, 2001, 1005]
            assert back.object_frames.tolist() == [0, 0, 1]


def _saved(folder: Path, path: Path, name: str) -> Path:
    converted = convert(truth_of(path), name, Side.TRUTH)
    assert [remark for remark in converted.remarks if "mask" in remark] == []
    [content] = converted.files.values()
    target = folder / f"to-{name}.dat"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    return target
