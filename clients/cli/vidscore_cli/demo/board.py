"""Systems side by side: their scores in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from rich.console import RenderableType

from vidscore_cli.demo.scenes import DETECTORS, Show
from vidscore_cli.output import indented
from vidscore_cli.report_table import plain_table
from vidscore_evaluators.report import Number, Report
from vidscore_evaluators.report_grids import ALL, Grid, format_number


class Place(Struct, frozen=True):
    """A row of a comparison: a measure, of one domain and class or of all."""

    measure: str
    domain: str | None = None
    label: str | None = None


class Board(Struct):
    """Progress of each system in each show; written by the streams' own threads."""

    shows: Sequence[Show]
    frames: dict[tuple[str, str], int] = field(default_factory=dict)
    scores: dict[tuple[str, str], Number] = field(default_factory=dict)

    def take_frames(self, system: str, show: Show, count: int) -> None:
        """Keep the number of frames that are safe on the server."""
        self.frames[system, show.benchmark] = count

    def take_score(self, system: str, show: Show, score: Number) -> None:
        """Keep the newest score."""
        self.scores[system, show.benchmark] = score

    def cells(self, system: str, show: Show) -> tuple[str, str]:
        """Frames that are safe, and the score over completed videos."""
        key = (system, show.benchmark)
        score = format_number(self.scores[key]) if key in self.scores else "-"
        return f"{self.frames.get(key, 0)}/{show.truth.frame_count}", score

    def draw(self) -> RenderableType:
        """A table with a line for each system."""
        table = plain_table("system")
        for show in self.shows:
            table.add_column(f"{show.benchmark}\nframes", justify="right", min_width=10)
            table.add_column(show.headline_label, justify="right", min_width=9)
        for detector in DETECTORS:
            pairs = (self.cells(detector.name, show) for show in self.shows)
            table.add_row(detector.name, *(cell for pair in pairs for cell in pair))
        return indented(table)

    def line(self) -> str:
        """The same as plain text, a line for each system."""
        lines = []
        for detector in DETECTORS:
            line = f"  {detector.name:8}"
            for show in self.shows:
                frames, score = self.cells(detector.name, show)
                line += f"{show.benchmark} {frames:>7} frames, {show.headline_label} {score:10}"
            lines.append(line.rstrip())
        return "\n".join(lines)


def compare_measures(title: str, measures: Sequence[str], reports: Mapping[str, Report]) -> Grid:
    """Scores over everything, a line for each measure.

    Args:
        title: Title of the table.
        measures: Measures in the order of the lines.
        reports: Report of each system.
    """
    grid = Grid(title, ("measure", *reports), leading=1)
    for measure in measures:
        grid.lines.append((measure, *_scores(Place(measure), reports)))
    return grid


def compare_places(title: str, places: Sequence[Place], reports: Mapping[str, Report]) -> Grid:
    """Scores of domains and classes, a line for each; what is of all classes is their mean.

    Args:
        title: Title of the table.
        places: What each line is of.
        reports: Report of each system.
    """
    grid = Grid(title, ("domain", "label", *reports), leading=2)
    for place in places:
        names = (place.domain or ALL, place.label or ALL)
        grid.lines.append((*names, *_scores(place, reports)))
    return grid


def _scores(place: Place, reports: Mapping[str, Report]) -> list[str]:
    return [
        format_number(report.value(place.measure, domain=place.domain, label=place.label))
        for report in reports.values()
    ]
