"""Masks are the same, bit by bit, after every form that they pass through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from tests.server.api.test_batches import mask_lists

from vidscore_cli.remote import to_annotations, to_frames
from vidscore_client._encoding import encode_frames
from vidscore_client._truth import decode_frames
from vidscore_evaluators.annotations import Annotations, ObjectFlag, Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.mask_forms import masks_from_counts, masks_from_label_image
from vidscore_evaluators.masks import concatenate_masks
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.batches import data_of, read_batch, read_stored_batches, write_batch
from vidscore_server.api.http.protojson import read_json, write_json
from vidscore_server.domain.batches import BatchRules
from vidscore_server.settings import Settings

FRAMES, OBJECTS = 12, 4
RULES = BatchRules(arity=4, settings=Settings())


@pytest.fixture(scope="module")
def given_truth() -> Annotations:
    """Masks of images of two sizes: rough ones, an empty one, a full one, and one of a pixel."""
    random = np.random.default_rng(22)
    masks = []
    for frame in range(FRAMES):
        height, width = (9, 14) if frame % 2 else (31, 6)
        pixels, size = height * width, np.array([[height, width]])
        _, rough = masks_from_label_image(random.integers(0, 2, (height, width)))
        plain = [[pixels], [0, pixels], [pixels // 2, 1, pixels - pixels // 2 - 1]]
        special = masks_from_counts([plain[frame % 3]], size)
        masks += [rough, special, masks_from_counts([[1, 2, pixels - 3]], size)]
    flags = (ObjectFlag.CROWD, 0, ObjectFlag.IGNORE, 0)
    things = [
        [
            Thing((number, 1.5, number + 2.25, 4.0), "ab"[number % 2], 1.0, number, flags[number])
            for number in range(OBJECTS)
        ]
        for _ in range(FRAMES)
    ]
    side = make_annotations({("", "video"): dict(enumerate(things))})
    return replace(side, masks=concatenate_masks(masks))


def through_file(format_name: str) -> Callable[[Annotations, Path], Annotations]:
    def through(given: Annotations, folder: Path) -> Annotations:
        written = convert(Source(given, "given"), format_name, Side.TRUTH).files
        [(name, data)] = written.items()
        path = folder / (name or "truth")
        path.write_bytes(data)
        return read_source(path, Side.TRUTH, format_name=format_name).annotations

    return through


def through_http(given: Annotations, _: Path) -> Annotations:
    message = annotations_pb2.AnnotationBatch()
    read_json(write_json(write_batch(given)), message)
    return read_batch(message, "truth", RULES)


def through_store(given: Annotations, _: Path) -> Annotations:
    """One frame per batch, as a live system sends them."""
    batches = [data_of(write_batch(given.frame_run(row, row + 1))) for row in range(FRAMES)]
    return read_stored_batches(batches, 4)


def through_client(given: Annotations, _: Path) -> Annotations:
    """From an organiser's program to the server, and back by download."""
    sent = read_batch(encode_frames(to_frames(given)), "truth", RULES)
    message = annotations_pb2.AnnotationBatch.FromString(data_of(write_batch(sent)))
    return to_annotations(decode_frames(message))


WAYS: dict[str, Callable[[Annotations, Path], Annotations]] = {
    "jsonl": through_file("jsonl"),
    "parquet": through_file("parquet"),
    "coco-json": through_file("coco-json"),
    "http": through_http,
    "store": through_store,
    "client": through_client,
}


@pytest.mark.parametrize("way", WAYS)
def test_masks_are_read_back_to_the_last_run(
    given_truth: Annotations, tmp_path: Path, way: str
) -> None:
    """Their objects come back too: the digest of everything is the same."""
    back = WAYS[way](given_truth, tmp_path)
    assert mask_lists(back) == mask_lists(given_truth)
    if way != "coco-json":  # This form numbers its images anew.
        assert fingerprint(back) == fingerprint(given_truth)


def test_masks_come_back_through_all_forms_in_turn(
    given_truth: Annotations, tmp_path: Path
) -> None:
    passed = given_truth
    for number, way in enumerate(WAYS):
        folder = tmp_path / str(number)
        folder.mkdir()
        passed = WAYS[way](passed, folder)
    assert mask_lists(passed) == mask_lists(given_truth)
