"""How far the demo's streams have come, for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import RenderableType
from rich.padding import Padding

from vidscore_cli.demo_scenes import DETECTORS, Show
from vidscore_cli.report_layout import format_number
from vidscore_cli.report_table import plain_table
from vidscore_evaluators.report import Report


@dataclass
class Board:
    """How far each system has come with each show; written by the streams' own threads."""

    shows: Sequence[Show]
    latest: dict[tuple[str, str], tuple[int, Report]] = field(default_factory=dict)

    def take(self, system: str, show: Show, frames: int, report: Report) -> None:
        """Keep the newest report and the number of frames that it covers."""
        self.latest[system, show.evaluator] = (frames, report)

    def cells(self, system: str, show: Show) -> tuple[str, str]:
        """Frames that both sides have sent, and the score over exactly these."""
        total = show.truth.frame_count
        if (system, show.evaluator) not in self.latest:
            return f"0/{total}", "-"
        frames, report = self.latest[system, show.evaluator]
        return f"{frames}/{total}", format_number(report.value(show.headline))

    def draw(self) -> RenderableType:
        """A table with a line for each system."""
        table = plain_table("system")
        for show in self.shows:
            table.add_column(f"{show.evaluator}\nframes", justify="right", min_width=10)
            table.add_column(show.headline_label, justify="right", min_width=9)
        for detector in DETECTORS:
            pairs = (self.cells(detector.name, show) for show in self.shows)
            table.add_row(detector.name, *(cell for pair in pairs for cell in pair))
        return Padding(table, (0, 0, 0, 2), expand=False)

    def line(self) -> str:
        """The same as plain text, a line for each system."""
        lines = []
        for detector in DETECTORS:
            line = f"  {detector.name:8}"
            for show in self.shows:
                frames, score = self.cells(detector.name, show)
                line += f"{show.evaluator} {frames:>7} frames, {show.headline_label} {score:10}"
            lines.append(line.rstrip())
        return "\n".join(lines)
