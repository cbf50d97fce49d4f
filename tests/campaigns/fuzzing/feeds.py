"""Targets that read messages of live systems, one per schema."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from random import Random

from msgspec.structs import replace
from tests.campaigns.fuzzing.changing import Change, of_bytes, of_markup, of_rows
from tests.campaigns.fuzzing.documents import of_json, of_message
from tests.campaigns.fuzzing.scenes import SIZE
from tests.campaigns.fuzzing.targets import MESSAGES, Target
from tests.campaigns.fuzzing.trees import LONE, Tree
from tests.evaluators.feeds.test_binary_schemas import (
    CSV,
    NV_FRAME,
    SCALE,
    detection_array,
    onvif,
    onvif_object,
)
from tests.evaluators.feeds.test_json_schemas import DEEPSTREAM, DLSTREAMER, FRIGATE, VISION

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds import schema_of_name
from vidscore_evaluators.feeds.blocks import read_block
from vidscore_evaluators.feeds.mapping import FrameMap
from vidscore_evaluators.feeds.nvidia import frame_class

_NUMBERED = FrameMap(size_px=SIZE)
_TIMED = replace(_NUMBERED, rate_hz=25.0)

_ONVIF = onvif(
    f'<tt:Frame UtcTime="2026-01-31T12:00:00.040Z" Source="north">{SCALE}{onvif_object("")}'
    "</tt:Frame>"
)


def _changed_cdr(data: bytes, chance: Random) -> bytes:
    """Change a number of a CDR message, where a count or a length may be, or any bytes."""
    place = 4 * chance.randrange(1 + len(data) // 4)
    if chance.random() < 0.5:
        return of_bytes(data, chance)
    number = chance.choice((0, 1, 2, 3, 255, 1 << 16, (1 << 31) - 1, (1 << 32) - 1))
    return data[:place] + number.to_bytes(4, "little") + data[place + 4 :]


def _read(name: str, naming: FrameMap, files: Tree, folder: Path) -> None:
    """A message is read as frames that a benchmark accepts, or is refused."""
    del folder
    for data in files.values():
        try:
            block = read_block(schema_of_name(name), naming, [(data, "north")], 4)
        except InputError as error:  # The caller knows which message it is.
            raise InputError(
                [replace(fault, source="message") for fault in error.faults]
            ) from error
        assert len(block.messages) == block.frames.frame_count


def _target(name: str, change: Change, *messages: bytes) -> Target:
    seeds = [{LONE: message} for message in messages]
    naming = _NUMBERED if name == "supervision-csv" else _TIMED
    read = partial(_read, name, naming)
    return Target(name, MESSAGES, seeds=lambda: seeds, changes={"": change}, read=read)


TARGETS = (
    _target("nvidia-json", of_json, json.dumps(DEEPSTREAM).encode()),
    _target("dlstreamer", of_json, json.dumps(DLSTREAMER).encode()),
    _target("frigate", of_json, json.dumps(FRIGATE).encode()),
    _target("vision-msgs-json", of_json, json.dumps(VISION).encode()),
    _target("nvidia-protobuf", of_message(frame_class()), NV_FRAME),
    _target("vision-msgs", _changed_cdr, detection_array()),
    _target("onvif", of_markup, _ONVIF),
    _target("supervision-csv", of_rows, CSV.encode()),
)
