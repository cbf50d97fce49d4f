"""An upload of truth: what its batches have together, and what is refused."""

from __future__ import annotations

import re
from contextlib import closing
from typing import Any

import pytest

from vidscore_evaluators.annotations import Annotations, ObjectFlag, SequenceKey
from vidscore_evaluators.errors import GeometryError, InputError, LimitError
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.truth_upload import TruthUpload
from vidscore_server.settings import Settings

DATA = bytes(range(100))


def begun(evaluator: str = "f1", **limits: Any) -> closing[TruthUpload]:
    definition = definition_from_dict({"evaluators": [{"name": evaluator}]})
    return closing(TruthUpload(definition, Settings(**limits)))


def batch(sequence: str, *frames: int, label: str = "car") -> Annotations:
    """Frames with three judged boxes each, one that is ignored, and a region."""
    flags = (0, 0, 0, ObjectFlag.IGNORE, ObjectFlag.REGION)
    things = [Thing((0.0, 0.0, 2.0, 2.0), label, flags=int(flag)) for flag in flags]
    return make_annotations({("", sequence): dict.fromkeys(frames, things)}, arity=4)


def test_contents_are_those_of_all_batches() -> None:
    """Of each frame three objects are judged; a sequence without objects is one, too."""
    with begun() as upload:
        upload.add(batch("a", 1, 2), DATA)
        upload.add(batch("a", 3, label="bus"), DATA)
        upload.add(make_annotations({("", "b"): {1: []}}, arity=4), DATA)
        found = upload.contents
    assert dict(found.judged) == {SequenceKey("", "a"): 9, SequenceKey("", "b"): 0}
    assert (found.objects, sorted(found.labels)) == (15, ["bus", "car"])


def test_frames_and_bytes_are_limited_over_all_batches() -> None:
    with begun() as upload:
        upload.add(batch("a", 1), DATA)
        size = upload.payloads.held_bytes
    cases: list[tuple[dict[str, Any], str]] = [
        ({"maximum_frames": 2}, "3 frames of truth"),
        ({"maximum_buffered_bytes": 3 * size - 1}, f"{3 * size} bytes of truth, compressed"),
    ]
    for limits, message in cases:
        with begun(**limits) as upload:
            upload.add(batch("a", 1), DATA)
            upload.add(batch("a", 2), DATA)
            with pytest.raises(LimitError, match=re.escape(message)):
                upload.add(batch("a", 3), DATA)
    with begun(maximum_frames=1, maximum_buffered_bytes=size) as upload:
        upload.add(batch("a", 1), DATA)


def test_the_first_batch_settles_a_shape_that_the_benchmark_leaves_open() -> None:
    with begun() as upload:
        with pytest.raises(InputError, match="geometry: found blob, expected the shape of its"):
            upload.arity_for(None, "blob")
        assert [upload.arity_for(arity, "") for arity in (8, 4)] == [8, 4]
        upload.add(batch("a", 1), DATA)
        assert upload.arity_for(8, "") == 4
    with begun("neovision2") as upload, pytest.raises(GeometryError):
        upload.arity_for(2, "point")
