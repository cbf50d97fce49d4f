"""The results as a page, and as lines for the terminal."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from bench.measuring import Sample
from bench.picture import growth_picture
from bench.renewal import NOTES, renewed_table, renewed_text
from bench.rows import Point, Row

PACKAGES = (
    "vidscore", "numpy", "scipy", "orjson", "pyarrow", "pycocotools", "faster-coco-eval",
    "hotcoco", "trackeval", "motmetrics", "stonesoup", "grpcio",
)  # fmt: skip


BEGIN, END = "<!-- results begin -->", "<!-- results end -->"
ANSWER_BEGIN, ANSWER_END = "<!-- answer begin -->", "<!-- answer end -->"

HEADINGS = (
    "what",
    "ours: least, **median**, most",
    "other",
    "least, **median**, most",
    "ratio",
    "by processor time",
    "goal",
    "met",
    "day",
)


ANSWER_HEADINGS = ("what", "vidscore", "other", "its time", "times as fast")


def render(rows: Sequence[Row]) -> str:
    """A Markdown page with the day, the machine, the versions and a table.

    Args:
        rows: Rows that were measured today.
    """
    today = str(dt.datetime.now(dt.UTC).date())
    notes = [f"- {row.name}: {row.note}" for row in rows if row.note]
    lines = [
        f"- {today}: {_circumstances()}",
        "",
        _table_row(HEADINGS),
        _table_row(["---"] * len(HEADINGS)),
        *(_line(row, today) for row in rows),
        *(["", NOTES, "", *notes] if notes else []),
    ]
    return "\n".join(lines) + "\n"


def answer(rows: Sequence[Row]) -> str:
    """A short Markdown table of our speed relative to each other program.

    Args:
        rows: Measured rows.
    """
    compared = [row for row in rows if row.goal.kind == "times"]
    lines = [
        _table_row(ANSWER_HEADINGS),
        _table_row(["---"] * len(ANSWER_HEADINGS)),
        *(
            _table_row(
                [
                    row.name,
                    _figure(row.ours.median, row.unit),
                    row.other_name,
                    _figure(row.other.median, row.unit),
                    f"{row.ratio:.3g}x",
                ]
            )
            for row in compared
        ),
    ]
    return "\n".join(lines) + "\n"


def write_page(
    path: Path,
    text: str,
    points: Sequence[Point] = (),
    answer: str = "",
    *,
    keep_others: bool = False,
) -> None:
    """Write the page; a page with marks keeps its text outside them.

    Args:
        path: The page.
        text: Result of `render`.
        points: Points of the picture of growth, which is written beside the page if there are any.
        answer: Result of `answer`; it has separate marks.
        keep_others: Whether to keep rows of cases that were not measured this time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if points:
        picture = path.with_name(f"{path.stem}-growth.svg")
        picture.write_text(growth_picture(points), encoding="utf-8")
        text += f"\n![Time against what grows; dashed: linear growth]({picture.name})\n"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if keep_others:
        text = renewed_text(_between(old, (BEGIN, END)), text)
        answer = renewed_table(_between(old, (ANSWER_BEGIN, ANSWER_END)), answer)
    renewed = _renewed(old, (BEGIN, END), text)
    page = f"{answer}\n{text}" if renewed is None else renewed
    page = _renewed(page, (ANSWER_BEGIN, ANSWER_END), answer) or page
    path.write_text(page, encoding="utf-8")


def _renewed(page: str, marks: tuple[str, str], text: str) -> str | None:
    """The page with a new text between two marks; None if it lacks them."""
    before, begin, rest = page.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    return f"{before}{begin}\n\n{text}\n{end}{after}" if begin and end else None


def _between(page: str, marks: tuple[str, str]) -> str:
    """The text between two marks; empty if the page lacks them."""
    return page.partition(marks[0])[2].partition(marks[1])[0]


def summary(row: Row) -> str:
    """A row in one line of a terminal."""
    verdict = {True: "met", False: "NOT MET", None: "shown only"}[row.met]
    return (
        f"{row.name}: {_three(row.ours, row.unit)}; {row.other_name}: "
        f"{_three(row.other, row.unit)}; ratio {row.ratio:.3g}, goal {row.goal}: {verdict}"
    )


def _circumstances() -> str:
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = [
        f"{_processor()}, {os.cpu_count()} cores, {memory_gib:.0f} GiB",
        f"{platform.system()} {platform.release().split('-')[0]}",
        f"Python {platform.python_version()}",
    ]
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return f"{'; '.join(machine)}; {versions}"


def _line(row: Row, day: str) -> str:
    met = {True: "yes", False: "**no**", None: "-"}[row.met]
    cells = [
        row.name,
        _three(row.ours, row.unit, "**"),
        row.other_name,
        _three(row.other, row.unit, "**"),
        f"{row.ratio:.3g}x",
        _cpu_ratio(row),
        str(row.goal),
        met,
        day,
    ]
    return _table_row(cells)


def _table_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cpu_ratio(row: Row) -> str:
    if not (row.ours.cpu_s and row.other.cpu_s):
        return "-"
    ours, other = Sample(row.ours.cpu_s).median, Sample(row.other.cpu_s).median
    return f"{row.goal.ratio(ours, other):.3g}x" if ours and other else "-"


def _three(sample: Sample, unit: str, mark: str = "") -> str:
    least, middle, most = min(sample.values), sample.median, max(sample.values)
    if least == most:
        return f"{mark}{_figure(middle, unit)}{mark}"
    shown = (_figure(least, unit), mark + _figure(middle, unit) + mark, _figure(most, unit))
    return ", ".join(shown)


def _figure(value: float, unit: str) -> str:
    if unit == "s" and value < 1e-3:
        return f"{1e6 * value:.3g} us"
    if unit == "s" and value < 1.0:
        return f"{1000 * value:.3g} ms"
    if unit == "bytes":
        return f"{value / 2**20:.4g} MiB"
    return f"{value:.4g} {unit}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
