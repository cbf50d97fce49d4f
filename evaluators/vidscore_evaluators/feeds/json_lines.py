"""vidscore's own JSON lines: a message is one or several lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds.frames import (
    MAXIMUM_MESSAGE_BYTES,
    FeedColumns,
    FeedFrame,
    Schema,
    Unsaid,
    json_object,
)
from vidscore_evaluators.formats._json import no_garbage_collection
from vidscore_evaluators.formats._line_columns import columns_of_lines, documents_of_lines
from vidscore_evaluators.formats._line_rules import line_faults, name_of


def read(message: bytes) -> list[FeedFrame]:
    """The frames of a message.

    Raises:
        InputError: With every fault of its lines.
    """
    frames, faults = [], []
    for number, line in enumerate(message.splitlines(), 1):
        if not line or line.isspace():
            continue
        document = json_object(line, "an object, one frame per line")
        found = [replace(fault, line=number) for fault in line_faults(document, None)]
        faults.extend(found)
        if not found:
            frames.append(_frame(document))
    if faults:
        raise InputError(faults)
    return frames


def _frame(line: dict[str, Any]) -> FeedFrame:
    return FeedFrame(
        sensor=name_of(line["sequence"]),
        number=int(line["frame"]),
        time_s=line.get("time_s"),
        objects=line["objects"],
        domain=name_of(line.get("domain", "")) or "",
    )


def read_many(messages: Sequence[bytes], arity: int) -> FeedColumns:
    """The frames of messages of one line each.

    Raises:
        ValueError: If a message is anything else, or breaks a rule.
    """
    lines = [message.rstrip(b"\r\n") for message in messages]
    if any(b"\n" in line or b"\r" in line for line in lines):
        raise ValueError
    if max(map(len, lines)) > MAXIMUM_MESSAGE_BYTES:
        raise ValueError
    with no_garbage_collection():
        frames = columns_of_lines(documents_of_lines(lines), arity, np.nan)
    unsaid = frozenset({Unsaid.RESOLUTION})
    if frames.frame_times_s is None or np.isnan(frames.frame_times_s).any():
        unsaid = unsaid | {Unsaid.FRAME_TIME}
    if np.isnan(frames.confidences).any():
        unsaid = unsaid | {Unsaid.CONFIDENCE}
    return FeedColumns(frames, unsaid)


SCHEMA = Schema(
    "jsonl", "JSON lines of vidscore, as `vidscore pipe` reads them", read, read_many=read_many
)
