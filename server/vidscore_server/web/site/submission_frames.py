"""Outcomes of a submission as a table, and its frames as sent."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import urlencode

import numpy as np
from msgspec import Struct
from starlette.responses import Response

from vidscore_evaluators.annotations import Side, sequence_name
from vidscore_evaluators.explanation.answer import figure
from vidscore_evaluators.outcome_table import OUTCOMES, SIDES, Outcomes
from vidscore_server.web.site.frame_objects import KINDS, image_size, object_rows, picture
from vidscore_server.web.site.phrases import last_part
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.submission_files import (
    ACCEPT,
    accept,
    acceptance,
    accepts_cost,
    has_accepted,
)
from vidscore_server.web.site.submission_pictures import (
    judge_of,
    judges_of,
    refusing_unknown,
    show_pictures,
)
from vidscore_server.web.site.visit import Visit
from vidscore_server.web.view import require_known

ROWS = 100
"""Number of rows of outcomes on a page."""

NOT_SCORED = "NOT_SCORED"
"""Reason of a refusal if there is no score to explain."""

_LARGEST = 1 << 62


class OutcomeRow(Struct, frozen=True):
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
    name = visit.submission
    if not await accepts_cost(visit):
        return await visit.render(
            "outcomes.html", name=name, short_name=last_part(name), ask=True, evaluator=evaluator
        )
    rows: list[OutcomeRow] = []
    more = False
    shown = evaluator
    answers = visit.ask(
        "SubmissionService/ReadOutcomes", submission=name, evaluator=evaluator, offset=offset
    )
    async with aclosing(answers) as found:
        async for answer in found:
            shown = answer["evaluator"]
            outcomes: Outcomes = answer["outcomes"]
            room = ROWS - len(rows)
            rows += _rows(outcomes.take(np.arange(min(room, len(outcomes)))))
            more = len(outcomes) > room
            if more:
                break
    chosen = {"evaluator": evaluator, ACCEPT: await acceptance(visit, evaluator)}
    after = {**chosen, "offset": str(offset + len(rows))}
    return await visit.render(
        "outcomes.html",
        name=name,
        short_name=last_part(name),
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
    """Frames of a submission: with outcomes if they are visible, otherwise as sent."""
    name = visit.submission
    submission = (await visit.call("SubmissionService/GetSubmission", name=name))["submission"]
    benchmark = await visit.hosted()
    account = await visit.account()
    shown = account.is_organiser or benchmark["policy"]["outcomes"] == "own"
    judges = judges_of(benchmark) if submission["state"] == "scored" else []
    accepted = account.is_organiser or await has_accepted(visit)
    if shown and judges and accepted:
        try:
            return await show_pictures(visit, benchmark, submission, judges)
        except ServiceError as error:
            if error.reason != NOT_SCORED:
                raise
            why = "There is no score by the present rules yet, so there is nothing to explain."
            return await _sent_frame(visit, benchmark, submission, why=why)
    judge = judge_of(visit, judges) if shown and judges else ""
    return await _sent_frame(visit, benchmark, submission, judge, hidden=not shown)


async def _sent_frame(
    visit: Visit,
    benchmark: Mapping[str, Any],
    submission: Mapping[str, Any],
    judge: str = "",
    *,
    hidden: bool = False,
    why: str = "",
) -> Response:
    """One frame with its detections as a picture.

    Args:
        visit: The visit.
        benchmark: The benchmark.
        submission: The submission.
        judge: Evaluator whose outcomes may be requested; empty for none.
        hidden: Whether the policy hides them.
        why: Why there are none, if they were requested.
    """
    query, name = visit.request.query_params, submission["name"]
    counts = {one["stream"]: one["next_offset"] for one in submission["streams"]}
    streams = sorted(stream for stream, count in counts.items() if count)
    if not streams:
        raise ServiceError("FAILED_PRECONDITION", "NO_FRAMES", "There is no frame yet.")
    stream = query.get("stream") or streams[0]
    with refusing_unknown():
        require_known("stream", stream, streams)
    offset = min(_number(query.get("offset", "0")), counts[stream] - 1)
    answers = visit.ask(
        "SubmissionService/ReadDetections", submission=name, stream=stream, offset=offset
    )
    async with aclosing(answers) as found:
        answer = await anext(found)
    frame = answer["detections"].frame_run(0, 1)
    key = frame.sequences[int(frame.frame_sequences[0])]
    sequence, number = sequence_name(key), int(frame.frame_numbers[0])
    size = image_size(benchmark["specification"], key, None, frame)
    rows = object_rows(frame, {})
    svg, note = picture(rows, frame, size, f"frame {number} of {sequence}")
    last = offset + 1 == counts[stream]
    return await visit.render(
        "frame.html",
        name=name,
        short_name=last_part(name),
        sequence=sequence,
        number=number,
        count=frame.object_count,
        rows=rows,
        left_out=frame.object_count - len(rows),
        svg=svg,
        note=note,
        judge=judge,
        hidden=hidden,
        why=why,
        place=offset + 1,
        total=counts[stream],
        stream=stream if len(streams) > 1 else "",
        before_url=_frame_url(name, stream, offset - 1) if offset else "",
        after_url="" if last else _frame_url(name, stream, offset + 1),
        streams=[(one, _frame_url(name, one, 0)) for one in streams if one != stream],
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
                kind="sw" if switches else KINDS.get(word, "fp"),
            )
        )
    return rows


def _frame_url(name: str, stream: str, offset: int) -> str:
    return f"/{name}/frames?{urlencode({'stream': stream, 'offset': offset})}"


def _number(text: str) -> int:
    """A count from an address; 0 if it is not a number."""
    return min(int(text), _LARGEST) if text.isdecimal() and len(text) < 20 else 0


_OF_SUBMISSION = "/benchmarks/{benchmark}/submissions/{submission}"

ROUTES = (
    (f"{_OF_SUBMISSION}/outcomes", show_outcomes, "GET"),
    (f"{_OF_SUBMISSION}/outcomes", accept, "POST"),
    (f"{_OF_SUBMISSION}/frames", show_frame, "GET"),
    (f"{_OF_SUBMISSION}/frames", accept, "POST"),
)
