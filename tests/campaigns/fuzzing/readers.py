"""Targets that read files: each format, and files whose format is recognised from their content."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from tests.campaigns.fuzzing.changing import (
    Change,
    of_markup,
    of_png,
    of_rows,
    of_zip,
    png_of_chunks,
)
from tests.campaigns.fuzzing.documents import of_json, of_json_lines
from tests.campaigns.fuzzing.scenes import SIZE, sample_sides
from tests.campaigns.fuzzing.targets import FILES, Target
from tests.campaigns.fuzzing.trees import Tree, saved

from vidscore_evaluators.annotations import Annotations, Side, frame_keys
from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import AUTO, FORMATS, read_pair, read_source
from vidscore_evaluators.formats._format import in_order
from vidscore_evaluators.formats.convert import convert, fit
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.mask_forms import compressed_texts

NAMES = {Side.TRUTH: "truth", Side.DETECTIONS: "detections"}

_CHANGES: dict[str, Change] = {
    ".json": of_json,
    ".jsonl": of_json_lines,
    ".xml": of_markup,
    ".png": of_png,
    ".zip": of_zip,
    "": of_rows,
}
_LONE_FILES = {
    "coco-json": "json",
    "spotgeo-json": "json",
    "generic-csv": "csv",
    "jsonl": "jsonl",
    "parquet": "parquet",
    "arrow": "arrow",
}
"""File names of the formats that are a single file."""


def seeds_of(format_name: str) -> Iterator[Tree]:
    """Small scenes, the truth alone and both sides, written by the format's own writer."""
    suffix = _LONE_FILES.get(format_name, "txt")
    for truth, detections in sample_sides():
        files: dict[str, bytes] = {}
        for side, annotations in zip(Side, (truth, detections), strict=True):
            source = Source(annotations, NAMES[side])
            try:
                made = convert(
                    source, format_name, side, truth=Source(truth, "truth"), image_size=SIZE
                )
            except InputError:  # The format cannot hold the shape of this scene.
                break
            name = NAMES[side]
            files |= {
                f"{name}/{key}" if made.folder else f"{name}.{suffix}": content
                for key, content in made.files.items()
            }
            if files:
                yield dict(files)


def size_for(format_name: str) -> tuple[int, int] | None:
    """The image size for the one format whose coordinates are relative to it.

    Other formats state the size themselves, and then that size is used.
    """
    return SIZE if format_name == "yolo-text" else None


def read_files(format_name: str, files: Tree, folder: Path) -> None:
    """Read each side, compare the sides, and write and read again what was read."""
    given = folder / "given"
    if not saved(files, given):
        return
    found: dict[Side, Source] = {}
    faults: list[Fault] = []
    for side in Side:
        for path in sorted(given.glob(f"{NAMES[side]}*"))[:1]:
            try:
                found[side] = read_source(
                    path, side, format_name=format_name, image_size=size_for(format_name)
                )
            except InputError as error:
                faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    if Side.TRUTH in found:
        comes_back(found, Side.TRUTH, folder)
    if len(found) == len(Side):
        pair = read_pair(found[Side.TRUTH], found[Side.DETECTIONS], format_name=format_name)
        comes_back(
            {Side.TRUTH: pair.truth, Side.DETECTIONS: pair.detections}, Side.DETECTIONS, folder
        )


def comes_back(sources: Mapping[Side, Source], side: Side, folder: Path) -> None:
    """Check that a side reads the same after it is written."""
    source, truth = sources[side], sources[Side.TRUTH]
    name = source.format
    assert name is not None
    try:
        made = convert(source, name, side, truth=truth, image_size=size_for(name))
    except InputError:  # For example a sequence whose name cannot be a file name.
        return
    if not made.files:  # A folder without sequences is no data.
        return
    place = folder / "written"
    lone = f"{NAMES[side]}.{_LONE_FILES.get(name, 'txt')}"
    saved(made.files if made.folder else {lone: made.files[""]}, place)
    try:
        again = read_source(
            place if made.folder else place / lone,
            side,
            format_name=name,
            image_size=size_for(name),
        )
        if side is Side.DETECTIONS:
            again = read_pair(truth, again, format_name=name).detections
    except InputError as error:
        raise AssertionError(f"what {name} has written cannot be read: {error}") from error
    capacity = FORMATS[name].writer.capacity[side]
    # Of both sides, since reading may add frames between others that no row can hold.
    (found, _), (expected, _) = (fit(one.annotations, capacity) for one in (again, source))
    assert_same(found, expected)


def assert_same(found: Annotations, expected: Annotations) -> None:
    """Check that two sides are the same.

    The order of classes, the last bits of coordinates, and empty frames between others may differ:
    the length of a sequence lists such frames as well.
    """
    assert set(frame_keys(found)) >= set(frame_keys(expected))
    listed = set(frame_keys(expected))
    known = np.array([key in listed for key in frame_keys(found)], dtype=np.bool_)
    found, expected = (
        by_class(found.take_frames(known | (found.object_counts > 0))),
        by_class(expected),
    )
    assert frame_keys(found) == frame_keys(expected)
    assert found.frame_flags.tolist() == expected.frame_flags.tolist()
    assert found.object_counts.tolist() == expected.object_counts.tolist()
    names = [[side.labels[row] for row in side.label_indices] for side in (found, expected)]
    if "" not in names[1]:  # Objects without a class get one if the files need it.
        assert names[0] == names[1]
    for column in ("track_ids", "flags", "confidences"):
        assert getattr(found, column).tolist() == getattr(expected, column).tolist(), column
    size = np.abs(expected.coordinates).max(axis=1, initial=1.0)
    apart = np.abs(found.coordinates - expected.coordinates).max(axis=1, initial=0.0)
    assert (apart <= 1e-9 * size).all(), f"coordinates differ by {apart.max()} of {size.max()}"
    assert (found.masks is None) == (expected.masks is None)
    if found.masks is not None and expected.masks is not None:
        assert compressed_texts(found.masks) == compressed_texts(expected.masks)
        assert found.masks.sizes.tolist() == expected.masks.sizes.tolist()


def by_class(side: Annotations) -> Annotations:
    """A side with its frames in order, and the objects sorted by class."""
    side = in_order(side)
    labels = np.array([side.labels[row] for row in side.label_indices], dtype=np.str_)
    return side.gather_objects(np.lexsort((labels, side.object_frames)))


def _label_images() -> Iterator[Tree]:
    """MOTS label images: two objects, and none."""
    image = np.zeros((6, 10), dtype=">u2")
    image[1:4, 2:5], image[3:, 6:] = 1000, 2001
    folder = "truth/instances/0002"
    yield {
        f"{folder}/000000.png": png_of(image),
        f"{folder}/000001.png": png_of(np.zeros_like(image)),
    }
    yield {f"{folder}/000000.png": png_of(np.zeros((6, 10), dtype="u1"))}


def png_of(image: AnyArray) -> bytes:
    """A grey PNG."""
    depth = 8 * image.dtype.itemsize
    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], depth, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + row.tobytes() for row in image))
    return png_of_chunks([(b"IHDR", header), (b"IDAT", rows), (b"IEND", b"")])


def _archives() -> Iterator[Tree]:
    for files in _recognised("kitti-tracking"):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                if name.startswith("truth/"):
                    archive.writestr(name.removeprefix("truth/"), content)
        yield {"truth.zip": packed.getvalue()}


def _one_of_each() -> Iterator[Tree]:
    for name in sorted(set(FORMATS) - {"yolo-text"}):
        yield next(_recognised(name))


def _recognised(format_name: str) -> Iterator[Tree]:
    """Seeds of a recognisable format; empty files match every format with a file per sequence."""
    return (files for files in seeds_of(format_name) if any(files.values()))


def _target(name: str, format_name: str, seeds: Callable[[], Iterator[Tree]]) -> Target:
    return Target(name, FILES, seeds=seeds, changes=_CHANGES, read=partial(read_files, format_name))


TARGETS = (
    *(_target(name, name, partial(seeds_of, name)) for name in FORMATS),
    _target("label-images", "mots", _label_images),
    _target("archives", AUTO, _archives),
    _target("any-format", AUTO, _one_of_each),
)
"""One target per format, and some for several formats."""
