"""The viewer: one page that explains scores, as HTML for any view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from msgspec.structs import replace
from starlette.datastructures import QueryParams

from vidscore_evaluators.annotations import sequence_name
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.explanation.answer import answer, in_words
from vidscore_evaluators.explanation.figures import Uncertainty, figure_rows
from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.explanation.sweep import Band, ConfidenceSweep, sweep_confidences
from vidscore_evaluators.outcome_table import OperatingPoint
from vidscore_evaluators.parameters import describe_parameters, parameter_values
from vidscore_evaluators.selection import Selection
from vidscore_server.web.charts import curves_context, errors_context
from vidscore_server.web.rendering import environment
from vidscore_server.web.sections import (
    Context,
    Page,
    figures_context,
    frame_context,
    image_extent,
    outcome_words,
    sequences_context,
    side_words,
)
from vidscore_server.web.site.phrases import things
from vidscore_server.web.view import Links, View, require_frame, require_known


class Pictures(Protocol):
    """Pictures of frames, by the name of a sequence and the number of a frame."""

    def has(self, sequence: str, number: int) -> bool:
        """Whether a frame has a picture."""

    def size(self, sequence: str) -> tuple[float, float] | None:
        """Width and height of the pictures of a sequence; None if there are none."""

    def jpeg(self, sequence: str, number: int, most_bytes: int | None = None) -> bytes | None:
        """A picture; None if there is none.

        Args:
            sequence: Name of the sequence.
            number: Number of the frame.
            most_bytes: Maximum size, reached by lower resolution and quality; None for any.
        """


@dataclass(frozen=True, eq=False)
class Viewer:
    """Pages of an explanation.

    Attributes:
        material: Truth, systems and reports.
        uncertainty: Their intervals that are known so far.
        links: Targets of links.
        pictures: Pictures of frames; None for none.
        truth_name: Name of the truth.
    """

    material: Material
    uncertainty: Uncertainty
    links: Links = field(default_factory=Links)
    pictures: Pictures | None = None
    truth_name: str = ""
    _sizes: dict[int, tuple[float, float]] = field(default_factory=dict, init=False, repr=False)
    _sweeps: dict[str, list[ConfidenceSweep]] = field(default_factory=dict, init=False, repr=False)
    _drawn: dict[str, list[tuple[Band, Band]]] = field(default_factory=dict, init=False, repr=False)

    def find(self, query: QueryParams) -> View:
        """The view of a query.

        Raises:
            NoSuchViewError: If it names something unknown.
        """
        view = View.of(query)
        require_known("label", view.label, self._labels)
        require_known("evaluator", view.by, [one.name for one in self.material.judges])
        require_frame(query, self.material.frames)
        return view

    def page(self, view: View) -> str:
        """The whole page."""
        return self._render("viewer.html", self.context(view))

    def frame(self, view: View) -> str:
        """Only the section of the frame."""
        page = self.look(view)
        if page.judgement is None:
            return ""
        context = self._shared(page) | {"partial": True}
        return self._render("frame.html", context | {"frame": frame_context(page, page.judgement)})

    def figures(self, view: View) -> str:
        """Only the section of the figures, and with the intervals the answer that rests on them."""
        page = self.look(view)
        context = self._shared(page) | self._answered(page) | {"partial": True}
        return self._render("figures_part.html", context)

    def look(self, view: View) -> Page:
        """Collect the inputs of a view's page."""
        judgement = self.judgement(view)
        row = self._row(view, judgement)
        size = self.image_size(row) if len(self.material.frames) else (1.0, 1.0)
        lacks_image = self.lacks_image(row)
        picture = "" if self.pictures is None or lacks_image else self.links.picture(row)
        return Page(self.material, view, judgement, row, self.links, size, picture, lacks_image)

    def lacks_image(self, row: int) -> bool:
        """Whether there are pictures, but none of this frame."""
        return self.pictures is not None and not self.pictures.has(*self.place(row))

    def judgement(self, view: View) -> Judgement | None:
        """Outcomes at the operating point of a view; None if no evaluator has outcomes there."""
        judge = self.judge_of(view)
        if judge is None or not len(self.material.frames):
            return None
        at = self.material.at
        if view.confidence is not None:
            at = replace(at, confidence=view.confidence)
        try:
            return self.material.judge(judge, at, view.label)
        except ParameterError:
            # Without curves, an evaluator has no choice of confidence.
            return self.material.judge(judge, OperatingPoint(), view.label)

    def sweeps(self, view: View) -> list[ConfidenceSweep]:
        """Counts by confidence, over all labels; empty if the evaluator has none."""
        judge = self.judge_of(view)
        if judge is None:
            return []
        if judge.name not in self._sweeps:
            self._sweeps[judge.name] = sweep_confidences(self.material, judge)
        return self._sweeps[judge.name]

    def _bands(self, view: View) -> list[tuple[Band, Band]]:
        """Intervals around the values of `sweeps`, over draws of sequences; empty without draws."""
        judge, times = self.judge_of(view), self.uncertainty.times
        if judge is None or times is None:
            return []
        if judge.name not in self._drawn:
            drawn = self.material.contest.sequences
            self._drawn[judge.name] = [sweep.bands(times, drawn) for sweep in self.sweeps(view)]
        return self._drawn[judge.name]

    def judge_of(self, view: View) -> Evaluator[Any] | None:
        """The evaluator of the outcomes."""
        judges = self.material.judges
        named = (one for one in judges if one.name == view.by)
        return next(named, judges[0] if judges else None)

    def place(self, row: int) -> tuple[str, int]:
        """Name of the sequence of a frame, and its number."""
        frames = self.material.frames
        key = frames.sequences[frames.sequence_of(row)]
        return sequence_name(key), int(frames.numbers[row])

    @property
    def has_curves(self) -> bool:
        """Whether a report has a curve."""
        return any(
            report.curves for reports in self.material.reports.values() for report in reports
        )

    def _curves(self, page: Page) -> Context | None:
        """The section of the curves and of the detections that count; None if it would be empty."""
        found = curves_context(page, self.sweeps(page.view), self._bands(page.view))
        choices = found["slider"] or len(self.material.judges) > 1 or len(self._labels) > 1
        if not (self.has_curves or found["charts"] or (self.links.live and choices)):
            return None
        title = "Curves" if found["charts"] else "What counts"
        return found | {"title": title, "has_table": self.has_curves}

    def context(self, view: View) -> Context:
        """All contents of the page."""
        page = self.look(view)
        judged = page.judgement
        charts = self._curves(page)
        return (
            self._shared(page)
            | self._answered(page)
            | {
                "title": " and ".join(self.material.systems),
                "anchors": self._anchors(charts, judged=judged is not None),
                "charts": charts,
                "errors": errors_context(page),
                "by_choices": [one.name for one in self.material.judges],
                "by_chosen": None if judged is None else judged.evaluator.name,
                "label_choices": self._labels,
                "sequences": None if judged is None else sequences_context(page, judged),
                "frames": [] if judged is None else [frame_context(page, judged)],
                "about": self._about(),
                "software": self._software(),
            }
        )

    def _render(self, template: str, context: Context) -> str:
        return environment().get_template(template).render(context)

    def _row(self, view: View, judgement: Judgement | None) -> int:
        """Row of the frame of a view, or of the worst frame in the view."""
        frames = self.material.frames
        if judgement is None:
            return 0
        names = self._sequence_names
        if view.sequence not in names:
            return judgement.worst_of(int(judgement.order[0]))
        sequence = names.index(view.sequence)
        if view.at is not None:
            return judgement.worst_near(sequence, view.at)
        if view.frame is not None:
            return frames.row_of(sequence, view.frame)
        return judgement.worst_of(sequence)

    def image_size(self, row: int) -> tuple[float, float]:
        """Width and height of the picture of a frame; looked up once per sequence."""
        sequence = self.material.frames.sequence_of(row)
        if sequence not in self._sizes:
            size = None if self.pictures is None else self.pictures.size(self.place(row)[0])
            self._sizes[sequence] = size or image_extent(self.material, sequence)
        return self._sizes[sequence]

    @property
    def _sequence_names(self) -> list[str]:
        return [sequence_name(key) for key in self.material.frames.sequences]

    @property
    def _selection(self) -> Selection:
        """The shown part of the data, the same for every evaluator."""
        [first, *_] = self.material.evaluators
        return first.selection

    @property
    def _labels(self) -> list[str]:
        """The labels of the truth that count."""
        labels = self.material.contest.truth.labels
        return [label for label in labels if label and self._selection.has_label(label)]

    def _shared(self, page: Page) -> Context:
        return {
            "links": self.links,
            "view": page.view,
            "systems": self.material.systems,
            "side_words": side_words,
            "outcome_words": outcome_words,
            "partial": False,
            "tapped": True,
        }

    def _answered(self, page: Page) -> Context:
        """The answer, and the figures that it rests on."""
        pending = self.uncertainty.pending  # before the figures, which may be known a moment later
        rows = figure_rows(self.material, self.uncertainty)
        return {
            "answer": answer(self.material, rows, page.judgement, pending=pending),
            "facts": self._facts(),
            "figures": figures_context(rows),
            "pending": pending,
            "draws": self.uncertainty.draws,
            "sequence_count": len(self.material.frames.sequences),
            "warnings": self._warnings(),
        }

    def _warnings(self) -> list[str]:
        """One warning of each kind in the reports; notes are not warnings."""
        reports = [report for own in self.material.reports.values() for report in own]
        texts = {
            warning.code: warning.message
            for report in reversed(reports)
            for warning in report.warnings
            if not warning.is_note
        }
        return [f"{text[:1].upper()}{text[1:]}." for text in reversed(texts.values())]

    def _facts(self) -> list[tuple[str, str]]:
        truth = self.material.contest.truth
        objects = things(truth.object_count, "object")
        domains = _counts_by_domain(self.material)
        facts = [
            ("Ground truth", ", ".join(filter(None, [self.truth_name, objects]))),
            ("Sequences", domains),
            ("Frames", f"{len(self.material.frames):,}"),
        ]
        if self._selection:
            facts.insert(0, ("Chosen part", str(self._selection)))
        labels = self._labels
        if labels:
            shown = ", ".join(labels[:8]) + (f" and {len(labels) - 8} more" * (len(labels) > 8))
            facts.append(("Labels", shown))
        return facts

    def _anchors(self, charts: Context | None, *, judged: bool) -> Sequence[tuple[str, str]]:
        anchors = [("figures", "Figures")]
        if charts is not None:
            anchors.append(("curves", charts["title"]))
        if judged:
            if self.material.sorter is not None:
                anchors.append(("errors", "Errors"))
            anchors.append(("sequences", "Sequences"))
            if self.links.live:
                anchors.append(("frame", "Frame"))
        return [*anchors, ("about", "About")]

    def _software(self) -> str:
        software = self.material.reports[self.material.systems[0]][0].software
        return ", ".join(f"{name} {version}" for name, version in software.items())

    def _about(self) -> Context:
        systems = self.material.systems
        reports = self.material.reports[systems[0]]
        return {
            "evaluators": ", ".join(f"{report.evaluator} {report.version}" for report in reports),
            "parameters": [
                (f"Parameters of {evaluator.name}", _parameters(evaluator))
                for evaluator in self.material.evaluators
            ],
            "truth_digest": _spaced(reports[0].truth_digest),
            "digests": [
                (system, _spaced(self.material.reports[system][0].detections_digest))
                for system in systems
            ],
        }


def _counts_by_domain(material: Material) -> str:
    keys = material.frames.sequences
    by_domain: dict[str, int] = {}
    for key in keys:
        by_domain[key.domain] = by_domain.get(key.domain, 0) + 1
    if len(by_domain) == 1 or len(by_domain) > 6:
        return in_words(len(keys))
    return ", ".join(f"{count} {domain}" for domain, count in by_domain.items())


def _parameters(evaluator: Evaluator[Any]) -> str:
    """Parameters that differ from their defaults."""
    values = parameter_values(evaluator.parameters)
    standing = {entry.name: entry.default for entry in describe_parameters(evaluator.Parameters)}
    changed = [
        f"{name} = {_value(value)}" for name, value in values.items() if value != standing.get(name)
    ]
    return f"defaults, but {', '.join(changed)}" if changed else "defaults"


def _value(value: object) -> str:
    if isinstance(value, tuple | list):
        return " ".join(map(_value, value[:6])) + (" …" if len(value) > 6 else "")
    return f"{value:g}" if isinstance(value, float) else str(value)


def _spaced(digest: str) -> str:
    """The first sixteen digits of a digest, in groups of four."""
    return " ".join(digest[start : start + 4] for start in range(0, 16, 4))
