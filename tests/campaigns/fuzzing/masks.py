"""Targets that read masks in every form, and JSON lines as `vidscore pipe` gets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.campaigns.fuzzing.documents import of_json, of_json_lines
from tests.campaigns.fuzzing.scenes import SIZE, sample_masks, sample_sides
from tests.campaigns.fuzzing.targets import MESSAGES, Target
from tests.campaigns.fuzzing.trees import LONE, Tree

from vidscore_evaluators.annotations import Annotations, Side, concatenate, with_arity
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.json_lines import NAME as JSON_LINES
from vidscore_evaluators.formats.json_lines import LineReader
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.mask_forms import (
    compressed_texts,
    masks_from_compressed,
    masks_from_counts,
    masks_from_label_image,
    masks_from_polygons,
)
from vidscore_evaluators.masks import Masks, concatenate_masks, merged, shared_areas

_PAIRS = 64
"""Upper bound on the masks of which every pair is compared."""


def _mask_seeds() -> Iterator[Tree]:
    masks = sample_masks(3)
    sizes = masks.sizes.tolist()
    runs = [masks.runs[a:b].tolist() for a, b in zip(masks.starts, masks.starts[1:], strict=False)]
    square = [[[1, 1, 5, 1, 5, 4, 1, 4], [0.5, 0.25, 7.9, 5, 2, 5.5]], [[2, 2, 6, 3, 3, 5]]]
    for kind, given in (
        ("counts", runs),
        ("compressed", compressed_texts(masks)),
        ("polygons", [*square, square[0]]),
    ):
        yield {LONE: json.dumps({"kind": kind, "sizes": sizes, "given": given}).encode()}
    small = {"kind": "counts", "sizes": [[8, 6], [8, 6]], "given": [[5, 4, 39], [0, 12, 30, 6]]}
    yield {LONE: json.dumps(small).encode()}
    image = [[0, 0, 1, 1], [0, 2, 2, 1], [3, 3, 3, 3]]
    yield {LONE: json.dumps({"kind": "image", "sizes": [], "given": image}).encode()}


def _read_masks(files: Tree, folder: Path) -> None:
    """In every form masks have consistent areas and are read back as they were."""
    del folder
    try:
        document = json.loads(files[LONE])
        sizes = np.array(document["sizes"], dtype=np.int64).reshape(-1, 2)
        kind, given = document["kind"], document["given"]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return
    if (
        (sizes < 0).any()
        or not isinstance(given, list)
        or (kind != "image" and len(given) != len(sizes))
    ):
        return  # What callers are responsible for.
    masks = _masks_of(kind, given, sizes)
    if masks is None:
        return
    assert compressed_texts(masks_from_compressed(compressed_texts(masks), masks.sizes)) == (
        compressed_texts(masks)
    )
    _hold_areas(masks)


def _masks_of(kind: str, given: list[Any], sizes: Any) -> Masks | None:
    """Masks of a form, with values of the types that callers are responsible for."""
    if kind == "counts" and all(isinstance(entry, list) for entry in given):
        if all(type(run) is int and abs(run) < 1 << 63 for entry in given for run in entry):
            return masks_from_counts(given, sizes)
    elif kind == "compressed" and all(isinstance(entry, str) for entry in given):
        return masks_from_compressed(given, sizes)
    elif kind == "polygons" and all(_are_polygons(entry) for entry in given):
        return masks_from_polygons(given, sizes)
    elif kind == "image":
        try:
            image = np.array(given, dtype=np.int64)
        except (ValueError, TypeError, OverflowError):
            return None
        return masks_from_label_image(image)[1] if image.ndim == 2 else None
    return None


def _are_polygons(entry: Any) -> bool:
    return isinstance(entry, list) and all(
        isinstance(part, list) and all(type(number) in (int, float) for number in part)
        for part in entry
    )


def _hold_areas(masks: Masks) -> None:
    count = min(masks.count, _PAIRS)
    masks, areas, pixels = masks.run(0, count), masks.areas()[:count], masks.pixels()[:count]
    assert (areas >= 0).all()
    assert (areas <= pixels).all()
    boxes = masks.boxes()
    assert (areas <= (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).all()
    left, right = (part.reshape(-1) for part in np.indices((count, count), dtype=np.int64))
    alike = (masks.sizes[left] == masks.sizes[right]).all(axis=1)
    left, right = left[alike], right[alike]
    shared = shared_areas(masks, left, masks, right)
    assert (shared <= np.minimum(areas[left], areas[right])).all()
    assert (shared[left == right] == areas).all()
    if count and (masks.sizes == masks.sizes[0]).all():
        united = merged(concatenate_masks([masks, masks]), np.array([0, 2 * count], dtype=np.int64))
        assert areas.max() <= united.areas()[0] <= areas.sum()


# --- lines -----------------------------------------------------------------------------------


def _line_seeds() -> Iterator[Tree]:
    for sides in sample_sides():
        source = Source(sides[0], "lines")
        yield {LONE: convert(source, JSON_LINES, Side.TRUTH, image_size=SIZE).files[""]}


def _read_lines(files: Tree, folder: Path) -> None:
    """JSON lines give the same frames and errors however their bytes are split."""
    del folder
    data = files[LONE]
    whole, faults = _fed([data])
    places = [len(data) // 3, len(data) // 2 + 1]
    parts, others = _fed([data[: places[0]], data[places[0] : places[1]], data[places[1] :]])
    assert [(fault.line, fault.field) for fault in faults] == [
        (fault.line, fault.field) for fault in others
    ]
    assert fingerprint(whole) == fingerprint(parts)
    if faults:
        raise InputError(faults)


def _fed(blocks: list[bytes]) -> tuple[Annotations, list[Fault]]:
    reader = LineReader("lines")
    found = [*map(reader.feed, blocks), reader.finish()]
    faults = [fault for block in found for fault in block.faults]
    arity = reader.arity or 4
    return concatenate([with_arity(block.frames, arity) for block in found]), faults


TARGETS = (
    Target("masks", MESSAGES, seeds=_mask_seeds, changes={"": of_json}, read=_read_masks),
    Target(
        "pipe-lines", MESSAGES, seeds=_line_seeds, changes={"": of_json_lines}, read=_read_lines
    ),
)
