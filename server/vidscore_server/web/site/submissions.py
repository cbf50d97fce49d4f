"""Submissions of a benchmark, and one of them: its state, its actions, and its report."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from starlette.responses import Response

from vidscore_evaluators.submitting import STREAM_PREFIX
from vidscore_server.domain.access import ORGANISERS_TEAM
from vidscore_server.domain.scores import ReportParts
from vidscore_server.web.site.benchmark_words import CLOSED, state_text
from vidscore_server.web.site.phrases import last_part, running_scores_from
from vidscore_server.web.site.policy_words import hidden_figures, seen_by_team
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.submission_files import SMALL_FORM_BYTES
from vidscore_server.web.site.submission_report import Ranking, shown_score, shown_scores
from vidscore_server.web.site.submission_words import (
    CANCELLABLE,
    ENDED,
    STATES,
    TAKES_FRAMES,
    event_words,
    online_words,
    quota_facts,
    reason_sentences,
    state_words,
)
from vidscore_server.web.site.visit import Visit

PAGE_SIZE = 50
WINDOW_FRAMES = 1000
"""Number of last frames of each stream that organisers see scored while a submission receives."""

ACTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "seal": ("SealSubmission", {}),
    "cancel": ("CancelSubmission", {}),
    "retry": ("RetrySubmission", {}),
    "choose": ("ChooseSubmission", {}),
    "unchoose": ("ChooseSubmission", {"undo": True}),
}
"""RPC of each button, with its fields."""


_DRAWN = ReportParts.WITHOUT_CURVES_OF_PARTS


class Moment(Struct, frozen=True):
    """An entry of the history.

    Attributes:
        time: When.
        code: Its reason code.
        text: What happened.
        hurt: Whether something went wrong.
    """

    time: datetime
    code: str
    text: str
    hurt: bool = False


async def show_all(visit: Visit) -> Response:
    """The submissions that the visitor may see, newest first."""
    name = visit.benchmark
    query = visit.request.query_params
    account = await visit.account()
    team = query.get("team", "")[:80] if account.is_organiser else ""
    state = query.get("state", "")
    state = state if state in STATES else ""
    page = await visit.call(
        "SubmissionService/ListSubmissions",
        benchmark=name,
        page_size=PAGE_SIZE,
        page_token=query.get("page", ""),
        team=team,
        state=state,
    )
    found = await visit.benchmark_and_quotas()
    chosen = {key: value for key, value in (("team", team), ("state", state)) if value}
    after = page["next_page_token"]
    return await visit.render(
        "submissions.html",
        benchmark=found["benchmark"],
        submissions=page["submissions"],
        facts=quota_facts(found["quotas"]),
        team=team,
        state=state,
        states=STATES,
        filtered=bool(chosen),
        first_url=f"?{urlencode(chosen)}" if query.get("page") else "",
        after_url=f"?{urlencode({**chosen, 'page': after})}" if after else "",
        state_words=state_words,
    )


async def show(visit: Visit) -> Response:
    """One submission."""
    return await _page(visit)


async def live(visit: Visit) -> Response:
    """The part of the page that changes while a submission runs, for polling."""
    if not visit.is_part:
        return visit.go(f"/{visit.submission}")
    now = await _watched(visit)
    query = visit.request.query_params
    response = await visit.render(
        "submission_live.html", **await _live_context(visit, now, query.get("first", ""))
    )
    if now["submission"]["state"] != query.get("state"):
        response.headers["HX-Refresh"] = "true"  # the rest of the page has changed, too
    return response


async def act(visit: Visit) -> Response:
    """Seal, cancel, retry or choose a submission."""
    action = visit.request.path_params["action"]
    if action not in ACTIONS:
        raise ServiceError("NOT_FOUND", "PAGE", "There is no such page.")
    await visit.form(maximum_bytes=SMALL_FORM_BYTES)
    try:
        rpc, wanted = ACTIONS[action]
        await visit.call(f"SubmissionService/{rpc}", name=visit.submission, **wanted)
    except ServiceError as error:
        if error.http_status not in {400, 409, 429}:
            raise
        return await _page(visit, error)
    return visit.go(f"/{visit.submission}")


async def _watched(visit: Visit) -> dict[str, Any]:
    """A submission with its newest scores, also live ones and, for organisers, those of a window.

    Only organisers may see a window.
    """
    wanted = {"window_frames": WINDOW_FRAMES} if (await visit.account()).is_organiser else {}
    name = visit.submission
    async with aclosing(
        visit.ask("SubmissionService/WatchSubmission", _DRAWN, name=name, **wanted)
    ) as answers:
        async for answer in answers:
            return answer
    raise ServiceError("UNAVAILABLE", "DRAINING", "The server is stopping; look again later.")


async def _live_context(visit: Visit, now: Mapping[str, Any], first: str) -> dict[str, Any]:
    """Contents of the changing part, without reading the benchmark, which takes longer.

    Args:
        visit: The visit.
        now: The submission with its newest scores.
        first: Measure that ranks instead of the evaluators' own order; empty for none.
    """
    submission = now["submission"]
    state = submission["state"]
    live = state not in ENDED
    ranking = await _ranking(visit, first, now["scores"])
    scores = now["scores"] if live else []
    in_window = [
        {"report": report, "partial": True} for report in (now["window_reports"] if live else ())
    ]
    shown, window = await asyncio.to_thread(
        lambda: [
            [shown_score(score, "", ranking, drawn=False) for score in own]
            for own in (scores, in_window)
        ]
    )
    upload = visit.site.spool.of_submission(submission["name"])
    sends_file = any(one["stream"].startswith(STREAM_PREFIX) for one in submission["streams"])
    return {
        "submission": submission,
        "benchmark_name": visit.benchmark,
        "state_words": state_words(state),
        "reason": reason_sentences(submission),
        "running": next((score.figures[0] for score in shown if score.figures), None),
        "scores": shown,
        "window": window,
        "window_frame_count": now["window_frame_count"],
        "ranking": ranking,
        "live_url": f"/{submission['name']}/live?{urlencode({'state': state, 'first': first})}",
        "live": live,
        "upload": upload,
        "upload_runs": upload is not None and upload.failure is None,
        "from_file": sends_file and state in TAKES_FRAMES and upload is None,
    }


async def _ranking(visit: Visit, first: str, scores: Sequence[Any]) -> Ranking:
    """Ranking measures of each evaluator of the scores, in rank order."""
    found = {}
    for name in dict.fromkeys(score["report"]["evaluator"] for score in scores):
        answer = await visit.call("EvaluatorService/GetEvaluator", name=f"evaluators/{name}")
        found[name] = [*filter(None, [first]), *answer["evaluator"]["ranking"]]
    return found


async def _page(visit: Visit, refused: ServiceError | None = None) -> Response:
    now = await _watched(visit)
    submission = now["submission"]
    account = await visit.account()
    answer = await visit.benchmark_and_quotas()
    benchmark = answer["benchmark"]
    policy = benchmark["policy"]
    context = await _live_context(visit, now, policy["ranking_measure"])
    own = submission["team"] == (account.team or ORGANISERS_TEAM)
    short_name = last_part(submission["name"])
    may_choose = (
        "chosen" in submission
        and submission["state"] == "scored"
        and benchmark.get("private_sequence_count", 0) > 0
        and state_text(benchmark, visit.site.clock()) != CLOSED
    )
    ended = submission["state"] in ENDED
    found = await visit.call("SubmissionService/GetSubmission", name=submission["name"])
    past = found["submission"]["history"]
    title = submission["title"] or short_name
    names = [one["name"] for one in benchmark["specification"]["evaluators"]]
    scores = [score for score in now["scores"] if score["current"]] if ended else []
    scores.sort(key=lambda score: [name != score["report"]["evaluator"] for name in names])
    spread = policy["visibility"] == "live"  # otherwise it would reveal more than scores do
    drawn = await asyncio.to_thread(shown_scores, scores, title, context["ranking"], spread=spread)
    return await visit.render(
        "submission.html",
        200 if refused is None else refused.http_status,
        **context,
        benchmark=benchmark,
        short_name=short_name,
        facts=quota_facts(answer["quotas"]) if own else [],
        running_from=running_scores_from(policy),
        sees_live=account.is_organiser or policy["visibility"] == "live",
        title=title,
        refused=refused,
        report=drawn,
        online=next((online_words(one["online"]) for one in scores if one["online"]), ""),
        history=_history(submission, past),
        chosen=submission.get("chosen", False),
        seen=[] if account.is_organiser else seen_by_team(benchmark),
        hidden="" if account.is_organiser else hidden_figures(policy),
        may={
            "seal": submission["state"] == "receiving",
            "cancel": submission["state"] in CANCELLABLE
            or (submission["state"] == "scoring" and account.is_organiser),
            "retry": submission["state"] == "failed",
            "choose": may_choose and not submission["chosen"],
            "unchoose": may_choose and submission["chosen"],
        },
        may_outcomes=submission["state"] == "scored"
        and (account.is_organiser or policy["outcomes"] == "own"),
        outcomes_cost=not account.is_organiser,
        has_frames=submission["frame_count"] > 0 and submission["state"] != "cancelled",
    )


def _history(submission: Mapping[str, Any], past: Sequence[Mapping[str, Any]]) -> list[Moment]:
    """The known history of a submission, newest first; the first entry is its present state."""
    state, since = submission["state"], submission["state_time"]
    now = f"{state_words(state)} {reason_sentences(submission)}"
    hurt = state in {"failed", "cancelled"}
    moments = [Moment(since, submission["state_reason"], now, hurt)]
    for event in past:
        same = (event["time"], event["reason"]) == (since, submission["state_reason"])
        if same or (event["reason"] == "stream_opened" and event["epoch"] < 2):
            continue  # it is shown above, or appears with the first frames
        moments.append(Moment(event["time"], event["reason"], *event_words(event)))
    return moments


_OF_BENCHMARK = "/benchmarks/{benchmark}/submissions"
_OF_SUBMISSION = f"{_OF_BENCHMARK}/{{submission}}"

ROUTES = (
    (_OF_BENCHMARK, show_all, "GET"),
    (_OF_SUBMISSION, show, "GET"),
    (f"{_OF_SUBMISSION}/live", live, "GET"),
    (f"{_OF_SUBMISSION}/actions/{{action}}", act, "POST"),
)
