"""vidscore's own JSON lines: a message is a line, or several."""

from __future__ import annotations

from typing import Any

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import FeedFrame, Schema, Unsaid, json_object
from vidscore_evaluators.formats._line_rules import line_problems

_UNSAID = frozenset({Unsaid.RESOLUTION})


def read(message: bytes) -> list[FeedFrame]:
    """The frames of a message.

    Raises:
        InputError: With everything that is wrong with its lines.
    """
    frames, faults = [], []
    for number, line in enumerate(message.splitlines(), 1):
        if not line or line.isspace():
            continue
        document = json_object(line, "an object, one frame a line")
        found = [
            Fault(problem.found, problem.expected, None, number, None, problem.field,
                  problem.advice)
            for problem in line_problems(document, None)
        ]  # fmt: skip
        faults.extend(found)
        if not found:
            frames.append(_frame(document))
    if faults:
        raise InputError(faults)
    return frames


def _frame(line: dict[str, Any]) -> FeedFrame:
    unsaid = _UNSAID
    if line.get("time_s") is None:
        unsaid = unsaid | {Unsaid.FRAME_TIME}
    if not all("confidence" in entry for entry in line["objects"]):
        unsaid = unsaid | {Unsaid.CONFIDENCE}
    return FeedFrame(
        sensor=str(line["sequence"]),
        number=int(line["frame"]),
        time_s=line.get("time_s"),
        objects=line["objects"],
        unsaid=unsaid,
        domain=str(line.get("domain", "")),
    )


SCHEMA = Schema(
    "jsonl", "JSON lines of vidscore, as `vidscore pipe` reads them", read, checks_objects=True
)
