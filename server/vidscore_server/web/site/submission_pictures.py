"""Pictures of a scored submission: sequences with timelines, and one frame with its objects.

Organisers see the components of the viewer: truth, detections and outcomes. A team sees its own
detections, each right, wrong or ignored.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import numpy as np
from msgspec import Struct, structs
from starlette.responses import Response

from vidscore_evaluators.annotations import Side, empty_annotations, sequence_name
from vidscore_evaluators.explanation.judgement import Judged, Judgement
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.figures.timeline import strip_svg
from vidscore_evaluators.outcome_table import OUTCOMES, OperatingPoint, Outcomes
from vidscore_evaluators.registry import create_evaluator, evaluator_class
from vidscore_evaluators.trust.systems import Contest
from vidscore_server.web.sections import (
    ROWS,
    Context,
    Page,
    frame_context,
    outcome_words,
    sequences_context,
    side_words,
    ways_context,
)
from vidscore_server.web.site.frame_objects import KINDS, image_size, object_rows, picture
from vidscore_server.web.site.kept_pictures import Overview, SequenceRows
from vidscore_server.web.site.phrases import last_part
from vidscore_server.web.site.picture_rows import Reading
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.submission_files import ACCEPT, acceptance
from vidscore_server.web.site.visit import Visit
from vidscore_server.web.view import Links, NoSuchViewError, View, require_frame, require_known


class PictureLinks(Links, frozen=True):
    """Links between the frames of a submission, which work without a script.

    Attributes:
        chosen: Further fields of every address.
    """

    live: bool = False
    chosen: tuple[tuple[str, str], ...] = ()

    def view(self, view: View, **changes: Any) -> str:
        """Address of a view."""
        pairs = [*self.chosen, *view.with_(**changes).pairs()]
        return f"{self.base}?{urlencode(pairs)}"

    def frame(self, view: View, row: int, sequence: str, number: int) -> str:
        """Address of a frame."""
        return self.view(view, sequence=sequence, frame=number, at=None) + f"#frame-{row}"


class OwnSequence(Struct, frozen=True):
    """A sequence as its team sees it.

    Attributes:
        name: Its name.
        url: Address of its worst frame.
        frames: Number of its frames in the submission.
        right: Number of right detections.
        wrong: Number of wrong detections.
        strip: Its timeline.
        current: Whether it is the shown one.
    """

    name: str
    url: str
    frames: int
    right: int
    wrong: int
    strip: str
    current: bool


def judges_of(benchmark: Mapping[str, Any]) -> list[str]:
    """Evaluators of a benchmark with outcomes."""
    names = [one["name"] for one in benchmark["specification"]["evaluators"]]
    return [name for name in names if evaluator_class(name).offers_outcomes()]


def judge_of(visit: Visit, judges: Sequence[str]) -> str:
    """The evaluator named in an address, of at least one; by default the first.

    Raises:
        ServiceError: If there is no such evaluator.
    """
    judge = visit.request.query_params.get("evaluator") or judges[0]
    with refusing_unknown():
        require_known("evaluator", judge, judges)
    return judge


async def show_pictures(
    visit: Visit, benchmark: Mapping[str, Any], submission: Mapping[str, Any], judges: Sequence[str]
) -> Response:
    """Sequences and a frame, for visitors who may see outcomes and accept their cost.

    Args:
        visit: The visit.
        benchmark: The benchmark.
        submission: The submission, which must be scored.
        judges: Its evaluators with outcomes, at least one.

    Raises:
        ServiceError: If the visitor may not see the outcomes, they are too many, or the address
            names something unknown.
    """
    judge = judge_of(visit, judges)
    account = await visit.account()
    reading = Reading(visit, benchmark, submission, judge, account.is_organiser)
    asked = View.of(visit.request.query_params)
    view = View(sequence=asked.sequence, frame=asked.frame, first=asked.first)
    agreed = () if account.is_organiser else ((ACCEPT, await acceptance(visit, judge)),)
    base = f"/{submission['name']}/frames"
    links, *others = (
        PictureLinks(base=base, chosen=(*agreed, ("evaluator", one))) for one in (judge, *judges)
    )
    for _ in range(2):  # the score may have been replaced since the overview
        overview = await reading.overview()
        if not len(overview.frames):
            raise ServiceError("FAILED_PRECONDITION", "NO_FRAMES", "There is no frame.")
        with refusing_unknown():
            require_frame(visit.request.query_params, overview.frames)
        judgement = await asyncio.to_thread(judgement_of, judge, submission, overview)
        row = row_of(judgement, view)
        key = overview.frames.sequences[overview.frames.sequence_of(row)]
        rows = await reading.sequence(overview, key)
        if rows is not None:
            break
    else:
        text = "The submission was scored again meanwhile; open the page again."
        raise ServiceError("ABORTED", "CHANGED", text)
    looking = Looking(benchmark, judgement, rows, row, view, links)
    make = looking.for_organisers if account.is_organiser else looking.for_team
    shared = {
        "name": submission["name"],
        "short_name": last_part(submission["name"]),
        "title": judgement.systems[0].name,
        "judge": judge,
        "judges": [(one, own.view(view)) for one, own in zip(judges, others, strict=True)],
    }
    template = "pictures.html" if account.is_organiser else "own_pictures.html"
    return await visit.render(template, **shared, **await asyncio.to_thread(make))


@contextmanager
def refusing_unknown() -> Iterator[None]:
    """Turn unknown names in an address into a refusal.

    Raises:
        ServiceError: If there is no such view.
    """
    try:
        yield
    except NoSuchViewError as error:
        raise ServiceError("NOT_FOUND", "VIEW", str(error)) from None


def judgement_of(judge: str, submission: Mapping[str, Any], overview: Overview) -> Judgement:
    """Counts of all frames as a judgement, still without the outcomes of a frame.

    Args:
        judge: Name of the evaluator.
        submission: The submission.
        overview: What happened in each frame.
    """
    title = submission["title"] or last_part(submission["name"])
    starts = np.zeros(len(overview.frames) + 1, dtype=np.int64)
    judged = Judged(title, overview.nothing, starts, overview.counts)
    return Judgement(create_evaluator(judge), OperatingPoint(), overview.frames, (judged,))


def row_of(judgement: Judgement, view: View) -> int:
    """Row of the frame of a view, or of the worst frame in the view."""
    frames = judgement.frames
    names = [sequence_name(key) for key in frames.sequences]
    if view.sequence not in names:
        return judgement.worst_of(int(judgement.order[0]))
    sequence = names.index(view.sequence)
    if view.frame is not None:
        return frames.row_of(sequence, view.frame)
    return judgement.worst_of(sequence)


class Looking(Struct, frozen=True, eq=False):
    """The shown frame of a submission.

    Attributes:
        benchmark: The benchmark.
        judgement: Counts of all frames.
        rows: Columns of the frame's sequence.
        row: Row of the frame.
        view: The view.
        links: Targets of links.
    """

    benchmark: Mapping[str, Any]
    judgement: Judgement
    rows: SequenceRows
    row: int
    view: View
    links: PictureLinks

    def for_organisers(self) -> Context:
        """The viewer's sections of the sequences and of the frame."""
        page, judgement = self._page(), self._judged()
        return {
            "links": self.links,
            "view": self.view,
            "systems": page.material.systems,
            "side_words": side_words,
            "outcome_words": outcome_words,
            "partial": False,
            "tapped": False,
            "sequences": sequences_context(page, judgement),
            "frame": frame_context(page, judgement),
        }

    def for_team(self) -> Context:
        """Sequences with their timelines, and the frame with the team's own detections."""
        page, judgement = self._page(), self.judgement
        frames = judgement.frames
        number = int(frames.numbers[self.row])
        own = page.material.objects_of(page.material.systems[0], self.row)
        detections = page.material.side(page.material.systems[0])
        shown = detections.take_objects(np.arange(own.start, own.stop))
        listed = object_rows(shown, self._kinds(number))
        name = page.name_of(page.sequence)
        svg, note = picture(listed, shown, page.image_size, f"frame {number} of {name}")
        first = min(self.view.first, max(0, len(judgement.order) - 1))
        after = first + ROWS
        return {
            "sequences": [
                self._own_sequence(page, row) for row in judgement.order[first:after].tolist()
            ],
            "first": first,
            "total": len(judgement.order),
            "before": self.links.view(self.view, first=max(0, first - ROWS)) if first else "",
            "after": self.links.view(self.view, first=after)
            if after < len(judgement.order)
            else "",
            "id": self.row,
            "number": number,
            "sequence": name,
            "count": shown.object_count,
            "svg": svg,
            "note": note,
            "rows": listed,
            "left_out": shown.object_count - len(listed),
            "ways": ways_context(page, judgement),
        }

    def _page(self) -> Page:
        title = self.judgement.systems[0].name
        sides = [side for side in (self.rows.truth, self.rows.detections) if side is not None]
        arity = sides[0].arity if sides else 2
        contest = Contest(
            self.rows.truth or empty_annotations(arity),
            {title: self.rows.detections or empty_annotations(arity)},
        )
        frames = self.judgement.frames
        material = Material(contest, (self.judgement.evaluator,), {}, frames)
        key = frames.sequences[frames.sequence_of(self.row)]
        size = image_size(
            self.benchmark["specification"], key, self.rows.truth, self.rows.detections
        )
        return Page(material, self.view, self.judgement, self.row, self.links, size)

    def _judged(self) -> Judgement:
        """The judgement with the outcomes of the frame."""
        [counted] = self.judgement.systems
        outcomes = self._of_frame(int(self.judgement.frames.numbers[self.row]))
        starts = np.zeros(len(self.judgement.frames) + 1, dtype=np.int64)
        starts[self.row + 1 :] = len(outcomes)
        judged = structs.replace(counted, outcomes=outcomes, starts=starts)
        return dataclasses.replace(self.judgement, systems=(judged,))

    def _of_frame(self, number: int) -> Outcomes:
        return self.rows.outcomes.take(self.rows.outcomes.frames == number)

    def _kinds(self, number: int) -> dict[int, str]:
        """Outcome of each detection of the frame, by its place in it."""
        outcomes = self._of_frame(number)
        own = outcomes.take(outcomes.of_side(Side.DETECTIONS))
        found = zip(own.rows.tolist(), own.outcomes.tolist(), strict=True)
        return {row: KINDS.get(OUTCOMES[outcome].value, "fp") for row, outcome in found}

    def _own_sequence(self, page: Page, sequence: int) -> OwnSequence:
        judgement = self.judgement
        span = judgement.frames.span(sequence)
        counts = judgement.by_sequence[0]
        right, wrong = int(counts.hits[sequence]), int(counts.false_alarms[sequence])
        name = page.name_of(sequence)
        bins = judgement.bins(0, sequence)
        current = sequence == page.sequence
        # A running score would need the missed objects.
        strip = strip_svg(
            structs.replace(bins, running=np.full(len(bins), np.nan)),
            f"{name}: {right:,} right, {wrong:,} wrong",
            most_false_alarms=judgement.most_false_alarms,
            now=self.row - span.start if current else None,
        )
        return OwnSequence(
            name,
            page.frame_url(judgement.worst_of(sequence)) or "",
            span.stop - span.start,
            right,
            wrong,
            strip,
            current,
        )
