"""How far the demo's streams have come, for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import RenderableType
from rich.padding import Padding

from vidscore_cli.demo_scenes import DETECTORS, Show
from vidscore_cli.report_layout import format_number
from vidscore_cli.report_table import plain_table
from vidscore_evaluators.report import Number


@dataclass
class Board:
    """How far each system has come with each show; written by the streams' own threads."""

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
        return Padding(table, (0, 0, 0, 2), expand=False)

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
