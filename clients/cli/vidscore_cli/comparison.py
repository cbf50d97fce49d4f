"""Systems side by side: their scores in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vidscore_cli.report_layout import ALL, Grid, format_number
from vidscore_evaluators.report import Report


@dataclass(frozen=True)
class Place:
    """What a line of a comparison is of: a measure, of a domain and a class or of all."""

    measure: str
    domain: str | None = None
    class_: str | None = None


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
    grid = Grid(title, ("domain", "class", *reports), leading=2)
    for place in places:
        names = (place.domain or ALL, place.class_ or ALL)
        grid.lines.append((*names, *_scores(place, reports)))
    return grid


def _scores(place: Place, reports: Mapping[str, Report]) -> list[str]:
    return [
        format_number(report.value(place.measure, domain=place.domain, class_=place.class_))
        for report in reports.values()
    ]
