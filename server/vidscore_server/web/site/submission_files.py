"""Files of a submission to download: its own detections, its reports, and its outcomes."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import urlencode

import orjson
from starlette.responses import Response, StreamingResponse

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats.generic_parts import GenericParts
from vidscore_evaluators.outcome_files import CsvOutcomes
from vidscore_evaluators.report import report_to_dict
from vidscore_server.domain.scores import ReportParts
from vidscore_server.web.site.protection import form_text, has_key
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.submission_report import report_of
from vidscore_server.web.site.visit import Visit

ACCEPT = "accept"
"""Query field by which a participant agrees that outcomes cost a submission.

Only a form has its value, so that a browser that prefetches links cannot agree.
"""

SMALL_FORM_BYTES = 1 << 16

MOST_SCORES = 100
"""Maximum number of scores that are searched for the newest ones."""

_SAFE = re.compile(r"[^a-z0-9-]")


async def accept(visit: Visit) -> Response:
    """Agree to the cost of an evaluator's outcomes, and continue to the requested page."""
    fields = await visit.form(maximum_bytes=SMALL_FORM_BYTES)
    query = dict(visit.request.query_params)
    evaluator = str(fields.get("evaluator") or query.get("evaluator", ""))
    query |= {"evaluator": evaluator, ACCEPT: await acceptance(visit, evaluator)}
    return visit.go(f"{visit.request.url.path}?{urlencode(query)}")


async def acceptance(visit: Visit, evaluator: str) -> str:
    """The value that agrees to the cost of outcomes, from the session and the newest scores."""
    name = visit.submission
    answer = await visit.call(
        "SubmissionService/ListScores", ReportParts.NONE, submission=name, page_size=MOST_SCORES
    )
    scores = sorted(score["name"] for score in answer["scores"] if score["current"])
    return visit.form_key(" ".join([form_text(visit.request), name, *scores, evaluator]))


async def has_accepted(visit: Visit) -> bool:
    """Whether the address agrees to the cost."""
    query = visit.request.query_params
    given = query.get(ACCEPT)
    return given is not None and has_key(given, await acceptance(visit, query.get("evaluator", "")))


async def accepts_cost(visit: Visit) -> bool:
    """Whether a visitor accepts the cost of outcomes: one submission, if its team may see them."""
    if (await visit.account()).is_organiser or await has_accepted(visit):
        return True
    await visit.call("SubmissionService/GetSubmission", name=visit.submission)
    policy: Mapping[str, Any] = (await visit.hosted())["policy"]
    return bool(policy["outcomes"] != "own")  # then they are refused, without cost


async def reports(visit: Visit) -> Response:
    """The newest visible report of each evaluator as JSON."""
    answer = await visit.call(
        "SubmissionService/ListScores", submission=visit.submission, page_size=MOST_SCORES
    )
    data = await asyncio.to_thread(_reports_json, answer["scores"])
    return Response(data, headers=_headers(visit, "reports.json", "application/json"))


def _reports_json(scores: Sequence[Mapping[str, Any]]) -> bytes:
    found = [
        {
            "partial": score["partial"],
            **report_to_dict(report_of(score["report"])),
            **_further_reports(score),
        }
        for score in scores
        if score["current"]
    ]
    return orjson.dumps(found, option=orjson.OPT_INDENT_2)


def _further_reports(score: Mapping[str, Any]) -> dict[str, Any]:
    """The visible reports over private sequences, and by streaming accuracy."""
    names = ("private_report", "streaming_report")
    found = {name: score.get(name) for name in names}
    return {
        name: report_to_dict(report_of(report))
        for name, report in found.items()
        if report is not None
    }


async def detections(visit: Visit) -> Response:
    """The frames of the submission as generic CSV.

    They are read twice, because the columns of the file are known only after all frames.
    """
    parts = GenericParts(Side.DETECTIONS)
    count = 0
    async with aclosing(_detections_of(visit)) as found:
        async for part in found:
            try:
                await asyncio.to_thread(parts.look_at, part)
            except InputError as error:
                text = f"CSV cannot hold these detections: {error}"
                raise ServiceError("FAILED_PRECONDITION", error.reason, text) from None
            count += part.frame_count
    if not count:
        raise ServiceError("FAILED_PRECONDITION", "NO_FRAMES", "There is no frame yet.")

    async def lines() -> AsyncIterator[bytes]:
        left = count  # frames that arrive meanwhile are not in the file
        async with aclosing(_detections_of(visit)) as found:
            async for part in found:
                shown = part if part.frame_count <= left else part.frame_run(0, left)
                left -= shown.frame_count
                if shown.frame_count:
                    yield await asyncio.to_thread(parts.write, shown)

    headers = _headers(visit, "detections.csv", "text/csv; charset=utf-8")
    return StreamingResponse(lines(), headers=headers)


async def outcomes(visit: Visit) -> Response:
    """The visible outcomes of the newest score as CSV."""
    evaluator = visit.request.query_params.get("evaluator", "")
    if not await accepts_cost(visit):
        chosen = urlencode({"evaluator": evaluator})
        return visit.go(f"/{visit.submission}/outcomes?{chosen}")
    answers = visit.ask(
        "SubmissionService/ReadOutcomes", submission=visit.submission, evaluator=evaluator
    )
    first = await anext(answers)  # a refusal must come before the answer begins

    async def lines() -> AsyncIterator[bytes]:
        file = io.BytesIO()
        writer = CsvOutcomes(file)
        answer: dict[str, Any] | None = first
        async with aclosing(answers):
            while answer is not None:
                await asyncio.to_thread(writer.write, answer["outcomes"], answer["evaluator"])
                yield file.getvalue()
                file.seek(0)
                file.truncate()
                answer = await anext(answers, None)

    headers = _headers(visit, "outcomes.csv", "text/csv; charset=utf-8")
    return StreamingResponse(lines(), headers=headers)


async def _detections_of(visit: Visit) -> AsyncGenerator[Annotations, None]:
    answers = visit.ask("SubmissionService/ReadDetections", submission=visit.submission)
    async with aclosing(answers):
        async for answer in answers:
            yield answer["detections"]


def _headers(visit: Visit, name: str, kind: str) -> dict[str, str]:
    """Headers that make a browser save an answer as a file of that name."""
    own = _SAFE.sub("", str(visit.request.path_params["submission"]))[:63]
    return {"content-type": kind, "content-disposition": f'attachment; filename="{own}-{name}"'}


_OF_SUBMISSION = "/benchmarks/{benchmark}/submissions/{submission}"

ROUTES = (
    (f"{_OF_SUBMISSION}/reports.json", reports, "GET"),
    (f"{_OF_SUBMISSION}/detections.csv", detections, "GET"),
    (f"{_OF_SUBMISSION}/outcomes.csv", outcomes, "GET"),
)
