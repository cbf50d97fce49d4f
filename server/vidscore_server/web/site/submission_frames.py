"""Outcomes of a submission as a table, and its frames as pictures, as far as they may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
from starlette.responses import Response

from vidscore_evaluators.annotations import Annotations, Side, sequence_name
from vidscore_evaluators.explanation.answer import figure
from vidscore_evaluators.figures.overlay import Mark, Overlay
from vidscore_evaluators.outcome_table import OUTCOMES, SIDES, Outcomes
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.submission_files import (
    ACCEPT,
    accepts_cost,
    asked,
    benchmark_of,
    submission_name,
)
from vidscore_server.web.site.submission_words import short
from vidscore_server.web.site.visit import Visit

ROWS = 100
"""Rows of outcomes on a page."""

MOST_MARKS = 400
"""Objects of a frame that are drawn and listed."""

_KINDS = {"true_positive": "tp", "false_negative": "fn", "ignored": "ig"}
_LARGEST = 1 << 62


@dataclass(frozen=True)
class OutcomeRow:
    """One row of outcomes."""

    side: str
    sequence: str
    frame: int
    row: int
    label: str
    confidence: str
    outcome: str
    kind: str


async def show_outcomes(visit: Visit) -> Response:
    """A page of outcomes of the newest score."""
    query = visit.request.query_params
    evaluator = query.get("evaluator", "")
    offset = _number(query.get("offset", "0"))
    name = submission_name(visit)
    if not await accepts_cost(visit):
        return await visit.render("outcomes.html", name=name, short_name=short(name), ask=True)
    rows: list[OutcomeRow] = []
    more = False
    shown = evaluator
    answers = asked(visit, "ReadOutcomes", submission=name, evaluator=evaluator, offset=offset)
    async with aclosing(answers) as found:
        async for answer in found:
            shown = answer["evaluator"]
            outcomes: Outcomes = answer["outcomes"]
            room = ROWS - len(rows)
            rows += _rows(outcomes.take(np.arange(min(room, len(outcomes)))))
            more = len(outcomes) > room
            if more:
                break
    chosen = {"evaluator": evaluator, ACCEPT: "yes"} if evaluator else {ACCEPT: "yes"}
    after = {**chosen, "offset": str(offset + len(rows))}
    return await visit.render(
        "outcomes.html",
        name=name,
        short_name=short(name),
        ask=False,
        evaluator=shown,
        rows=rows,
        first=offset + 1,
        last=offset + len(rows),
        begin_url=f"/{name}/outcomes?{urlencode(chosen)}" if offset else "",
        after_url=f"/{name}/outcomes?{urlencode(after)}" if more else "",
        csv_url=f"/{name}/outcomes.csv?{urlencode(chosen)}",
    )


async def show_frame(visit: Visit) -> Response:
    """One frame of a submission: its detections, drawn where they are."""
    query = visit.request.query_params
    name = submission_name(visit)
    stream, offset = query.get("stream", "")[:63], _number(query.get("offset", "0"))
    submission = (await visit.call("SubmissionService/GetSubmission", name=name))["submission"]
    streams = sorted(one["stream"] for one in submission["streams"] if one["next_offset"])
    if not streams:
        raise ServiceError("FAILED_PRECONDITION", "NO_FRAMES", "There is no frame yet.")
    stream = stream if stream in streams else streams[0]
    counts = {one["stream"]: one["next_offset"] for one in submission["streams"]}
    offset = min(offset, counts[stream] - 1)
    answers = asked(visit, "ReadDetections", submission=name, stream=stream, offset=offset)
    async with aclosing(answers) as found:
        answer = await anext(found)
    frame = answer["detections"].frame_run(0, 1)
    key = frame.sequences[int(frame.frame_sequences[0])]
    sequence, number = sequence_name(key), int(frame.frame_numbers[0])
    benchmark = await benchmark_of(visit)
    size = _image_size(benchmark["specification"], key, frame)
    account = await visit.account()
    may_judge = submission["state"] == "scored" and (
        account.is_organiser or benchmark["policy"]["outcomes"] == "own"
    )
    wanted = query.get(ACCEPT) == "yes" and may_judge
    kinds = await _kinds_of(visit, name, sequence, number) if wanted else {}
    chosen = {ACCEPT: "yes"} if wanted else {}
    return await visit.render(
        "frame.html",
        name=name,
        short_name=short(name),
        sequence=sequence,
        number=number,
        count=frame.object_count,
        rows=_objects(frame, kinds),
        left_out=max(0, frame.object_count - MOST_MARKS),
        svg=_picture(frame, kinds, size, f"frame {number} of {sequence}"),
        judge_url=_frame_url(name, stream, offset, {ACCEPT: "yes"})
        if may_judge and not wanted
        else "",
        judged=bool(kinds),
        costs=not account.is_organiser,
        place=offset + 1,
        total=counts[stream],
        stream=stream if len(streams) > 1 else "",
        before_url=_frame_url(name, stream, offset - 1, chosen) if offset else "",
        after_url=_frame_url(name, stream, offset + 1, chosen)
        if offset + 1 < counts[stream]
        else "",
        streams=[(one, _frame_url(name, one, 0, chosen)) for one in streams if one != stream],
    )


def _rows(outcomes: Outcomes) -> list[OutcomeRow]:
    names = [sequence_name(key) for key in outcomes.sequence_keys]
    columns = (
        outcomes.sides,
        outcomes.sequences,
        outcomes.frames,
        outcomes.rows,
        outcomes.labels,
        outcomes.confidences,
        outcomes.outcomes,
        outcomes.id_switches,
    )
    rows = []
    for side, sequence, frame, row, label, confidence, outcome, switches in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        word = OUTCOMES[outcome].value
        is_truth = SIDES[side] is Side.TRUTH
        rows.append(
            OutcomeRow(
                side="ground truth" if is_truth else "detection",
                sequence=names[sequence],
                frame=frame,
                row=row,
                label=outcomes.label_names[label],
                confidence="" if is_truth else figure(confidence),
                outcome="id switch" if switches else word.replace("_", " "),
                kind="sw" if switches else _KINDS.get(word, "fp"),
            )
        )
    return rows


async def _kinds_of(visit: Visit, name: str, sequence: str, number: int) -> dict[int, str]:
    """What became of each detection of a frame, by its place in the frame."""
    kinds: dict[int, str] = {}
    async with aclosing(asked(visit, "ReadOutcomes", submission=name)) as found:
        async for answer in found:
            outcomes: Outcomes = answer["outcomes"]
            keys = outcomes.sequence_keys
            own = [row for row, key in enumerate(keys) if sequence_name(key) == sequence]
            here = np.isin(outcomes.sequences, own) & (outcomes.frames == number)
            chosen = outcomes.take(here & outcomes.of_side(Side.DETECTIONS))
            kinds.update((row.row, row.kind) for row in _rows(chosen))
            if kinds and not here[-1]:
                break  # rows of a frame follow each other
    return kinds


def _objects(frame: Annotations, kinds: Mapping[int, str]) -> list[tuple[int, str, str, str, str]]:
    """Number, label, confidence, place and outcome of each object that is listed."""
    listed = frame.take_objects(np.arange(min(MOST_MARKS, frame.object_count)))
    return [
        (
            number,
            frame.labels[label],
            figure(confidence),
            ", ".join(f"{value:g}" for value in place),
            kinds.get(number - 1, ""),
        )
        for number, (label, confidence, place) in enumerate(
            zip(
                listed.label_indices.tolist(),
                listed.confidences.tolist(),
                listed.coordinates.tolist(),
                strict=True,
            ),
            1,
        )
    ]


def _picture(
    frame: Annotations, kinds: Mapping[int, str], size: tuple[float, float], where: str
) -> str:
    marks = [
        Mark(kind or "own", place, number, " ".join(filter(None, (label, confidence))))
        for (number, label, confidence, _, kind), place in zip(
            _objects(frame, kinds), frame.coordinates[:MOST_MARKS].tolist(), strict=True
        )
    ]
    overlay = Overlay(*size, marks=marks)
    return overlay.svg(f"Detections in {where}", "Each is a row of the table below.", "frame")


def _image_size(
    specification: Mapping[str, Any], key: tuple[str, str], frame: Annotations
) -> tuple[float, float]:
    """Width and height of the image, where the benchmark tells; otherwise what holds all."""
    for entry in specification["sequences"]:
        own = (entry["domain"], entry["name"])
        if own == tuple(key) and entry["image_width"] and entry["image_height"]:
            return float(entry["image_width"]), float(entry["image_height"])
    points = frame.coordinates.reshape(-1, 2)
    ends = points.max(axis=0) if len(points) else np.array([1.0, 1.0])
    return max(1.0, 1.05 * float(ends[0])), max(1.0, 1.05 * float(ends[1]))


def _frame_url(name: str, stream: str, offset: int, chosen: Mapping[str, str]) -> str:
    return f"/{name}/frames?{urlencode({'stream': stream, 'offset': offset, **chosen})}"


def _number(text: str) -> int:
    """A count out of an address; 0 where it is none."""
    return min(int(text), _LARGEST) if text.isdecimal() and len(text) < 20 else 0


_OF_SUBMISSION = "/benchmarks/{benchmark}/submissions/{submission}"

ROUTES = (
    (f"{_OF_SUBMISSION}/outcomes", show_outcomes, "GET"),
    (f"{_OF_SUBMISSION}/frames", show_frame, "GET"),
)
