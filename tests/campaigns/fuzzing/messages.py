"""Targets that read messages: batches, specifications, masks, bodies of HTTP, lines of `pipe`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError, Message
from tests.campaigns.fuzzing.documents import of_json, of_json_lines, of_message
from tests.campaigns.fuzzing.scenes import SIZE, sample_masks, sample_sides
from tests.campaigns.fuzzing.targets import Target
from tests.campaigns.fuzzing.trees import Tree
from tests.support.tree import ROOT

from vidscore_evaluators.annotations import Annotations, Side, concatenate
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import Fault, InputError, VidscoreError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.json_lines import LineReader, with_arity
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.mask_forms import (
    compressed_texts,
    masks_from_compressed,
    masks_from_counts,
    masks_from_label_image,
    masks_from_polygons,
)
from vidscore_evaluators.masks import Masks, concatenate_masks, merged, shared_areas
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_server.api.batches import (
    ARITY_OF_GEOMETRY,
    data_of,
    read_alike_batches,
    read_batch,
    read_stored_batch,
    write_batch,
)
from vidscore_server.api.convert import write_specification
from vidscore_server.api.definitions import read_definition, write_definition
from vidscore_server.api.http.protojson import read_json, write_json
from vidscore_server.api.local_calls import request_class
from vidscore_server.domain.access import ROLES_BY_RPC
from vidscore_server.domain.batches import BatchRules, NotAlikeError
from vidscore_server.settings import Settings

COUNTED_AS = "inputs of message readers"
LONE = ""
"""Name of what is no file."""

SMALL = Settings()

_PAIRS = 64
"""Most masks of which every pair is looked at."""


def _changed(change: Any) -> Any:
    def of_file(name: str, data: bytes, chance: Random) -> bytes:
        del name
        found: bytes = change(data, chance)
        return found

    return of_file


# --- batches ---------------------------------------------------------------------------------


def _batch_seeds() -> Iterator[Tree]:
    for sides in sample_sides():
        for side in sides:
            yield {LONE: data_of(write_batch(side))}


def _read_batch(files: Tree, folder: Path) -> None:
    """A batch reads alone, with another one, and out of the store as it was sent."""
    del folder
    for data in files.values():
        try:
            message = annotations_pb2.AnnotationBatch.FromString(data)
        except DecodeError:
            return
        arity = ARITY_OF_GEOMETRY.get(message.geometry, 4)
        rules = BatchRules(arity, SMALL)
        data = data_of(message)
        joined = _joined(message, data, rules)
        try:
            found = read_batch(message, "batch", rules)
        except VidscoreError:
            assert joined is None, "refused alone, and accepted with another one"
            raise
        expected = fingerprint(found)
        assert fingerprint(read_stored_batch(data, arity)) == expected
        again = read_batch(write_batch(found), "batch", rules)
        assert fingerprint(again) == expected, "what is written is another batch"
        assert joined is None or fingerprint(joined) == expected


def _joined(
    message: annotations_pb2.AnnotationBatch, data: bytes, rules: BatchRules
) -> Annotations | None:
    """The batch as it reads together with an empty one; None where it is refused."""
    empty = annotations_pb2.AnnotationBatch(geometry=message.geometry)
    try:
        found, counts = read_alike_batches([message, empty], [data, data_of(empty)], "joined", rules)
    except (NotAlikeError, VidscoreError):
        return None
    assert counts == [found.frame_count, 0]
    return found


# --- specifications and bodies ---------------------------------------------------------------


def _recorded_requests() -> Iterator[tuple[str, bytes]]:
    """The RPC and a request of each call that was recorded of the last release."""
    release = max((ROOT / "tests/golden/wire").iterdir())
    for path in sorted(release.glob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        for request in document["requests"]:
            yield document["method"].rpartition("/")[2], bytes.fromhex(request)


def _definition_seeds() -> Iterator[Tree]:
    for rpc, data in _recorded_requests():
        if rpc in {"CreateBenchmark", "UpdateBenchmark"}:
            request: Any = _class_of(rpc).FromString(data)
            yield {LONE: request.benchmark.SerializeToString(deterministic=True)}


def _read_definition(files: Tree, folder: Path) -> None:
    del folder
    for data in files.values():
        try:
            message = benchmark_pb2.Benchmark.FromString(data)
        except DecodeError:
            return
        definition = read_definition(message)
        written = write_definition(definition)
        assert write_definition(read_definition(written)) == written
        write_specification(to_dict(definition.specification))


def _class_of(rpc: str) -> type[Message]:
    return _CLASSES[rpc]


_CLASSES = {name.rpartition("/")[2]: request_class(name) for name in ROLES_BY_RPC}


def _body_seeds() -> Iterator[Tree]:
    for rpc, data in _recorded_requests():
        if rpc in _CLASSES:
            yield {rpc: write_json(_class_of(rpc).FromString(data))}


def _read_body(files: Tree, folder: Path) -> None:
    """Whatever is read of a body is written and read again as the same message."""
    del folder
    for rpc, data in files.items():
        if rpc not in _CLASSES:
            return
        message, again = _class_of(rpc)(), _class_of(rpc)()
        read_json(data, message, "body")
        read_json(write_json(message), again, "body")
        one, other = (part.SerializeToString(deterministic=True) for part in (message, again))
        assert one == other, "what is written is another message"


# --- masks -----------------------------------------------------------------------------------


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
    image = [[0, 0, 1, 1], [0, 2, 2, 1], [3, 3, 3, 3]]
    yield {LONE: json.dumps({"kind": "image", "sizes": [], "given": image}).encode()}


def _read_masks(files: Tree, folder: Path) -> None:
    """Masks of every form have areas that agree with each other, and come back as they were."""
    del folder
    try:
        document = json.loads(files[LONE])
        sizes = np.array(document["sizes"], dtype=np.int64).reshape(-1, 2)
        kind, given = document["kind"], document["given"]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return
    if (sizes < 0).any() or not isinstance(given, list) or kind != "image" and len(given) != len(sizes):
        return  # what callers answer for
    masks = _masks_of(kind, given, sizes)
    if masks is None:
        return
    assert compressed_texts(masks_from_compressed(compressed_texts(masks), masks.sizes)) == (
        compressed_texts(masks)
    )
    _hold_areas(masks)


def _masks_of(kind: str, given: list[Any], sizes: Any) -> Masks | None:
    """Masks of a form, of values of the types that callers answer for."""
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
        return masks_from_label_image(image)[1]
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
        yield {LONE: convert(source, "json-lines", Side.TRUTH, image_size=SIZE).files[""]}


def _read_lines(files: Tree, folder: Path) -> None:
    """Lines give the same frames and faults however their bytes come."""
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


def message_targets() -> list[Target]:
    """Targets of messages."""
    target = partial(Target, counted_as=COUNTED_AS)
    batch = of_message(annotations_pb2.AnnotationBatch)
    definition = of_message(benchmark_pb2.Benchmark)
    return [
        target("append-batch", seeds=_batch_seeds, change=_changed(batch), read=_read_batch),
        target(
            "definition",
            seeds=_definition_seeds,
            change=_changed(definition),
            read=_read_definition,
        ),
        target("http-body", seeds=_body_seeds, change=_changed(of_json), read=_read_body),
        target("masks", seeds=_mask_seeds, change=_changed(of_json), read=_read_masks),
        target("pipe-lines", seeds=_line_seeds, change=_changed(of_json_lines), read=_read_lines),
    ]
