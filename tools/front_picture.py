"""The picture of the README: the input and output of vidscore, with data of the demo.

It shows one frame of the demo with the ground truth and the detections of two systems, the live
scores of both over a growing number of frames, and the leaderboard. It has a light background, so
that it is readable on a dark page, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape

from tools.clients import CLIENTS

from vidscore_cli.demo.scenes import STREETS, Show, make_shows
from vidscore_cli.live import steps_at
from vidscore_evaluators.annotations import Annotations, concatenate
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations

WIDTH, HEIGHT = 960, 316
PANEL_TOP, PANEL_HEIGHT = 62, 174
FRAME_LEFT, CURVES_LEFT, BOARD_LEFT = 28, 382, 716
CURVES_WIDTH = 290
SEED = 1
SHOWN_FRAME = 60
FRAMES_PER_POINT = 10
INK, QUIET, GRID, OBJECT = "#1c2733", "#586674", "#dbe1e7", "#c9d1d9"
COLOURS = {"falcon": "#1b6ca8", "mole": "#c4501b"}


def front_picture() -> str:
    """The picture, as SVG."""
    streets, _ = make_shows(SEED)
    curves = {name: list(_live(streets, name)) for name in COLOURS}
    clients = ", ".join(client.language for client in CLIENTS.values())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
        "<title>Detections stream in, scores come back, a leaderboard ranks</title>",
        '<g font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#f7f9fb" stroke="{GRID}"/>',
        *_frame(streets),
        *_curves(curves),
        *_board({name: points[-1][1] for name, points in curves.items()}),
        _text(FRAME_LEFT, 300, f"In: files, arrays, live streams from {clients}", colour=QUIET),
        _text(WIDTH - FRAME_LEFT, 300, "Out: the same report, to the last bit", colour=QUIET,
              anchor="end"),
        "</g>",
        "</svg>",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _live(show: Show, system: str) -> Iterator[tuple[int, float]]:
    """The number of the first frames of a show and the score over them, up to all frames."""
    evaluator = create_evaluator(show.evaluator, {}, show.specification)
    truth: list[Annotations] = []
    detections: list[Annotations] = []
    for step in steps_at(100.0, show.truth, show.detections[system], sleep=lambda _: None):
        truth.append(step.truth)
        detections.append(step.detections)
        if step.frames_sent % FRAMES_PER_POINT == 0:
            [report] = score_annotations([evaluator], concatenate(truth), concatenate(detections))
            score = report.value(show.headline)
            yield step.frames_sent, 0.0 if score is None else float(score)


def _frame(show: Show) -> Iterator[str]:
    """One frame: objects are filled, detections are outlined."""
    scale = PANEL_HEIGHT / STREETS[0].height_px
    width = STREETS[0].width_px * scale
    yield _heading(FRAME_LEFT, "1", "Detections stream in")
    yield (
        f'<svg x="{FRAME_LEFT}" y="{PANEL_TOP}" width="{width:.1f}" height="{PANEL_HEIGHT}">'
        f'<rect width="100%" height="100%" fill="#eef2f5" stroke="{GRID}"/>'
    )
    yield from _boxes(show.truth, scale, f'fill="{OBJECT}"')
    for name, colour in COLOURS.items():
        look = f'fill="none" stroke="{colour}" stroke-width="1.8"'
        yield from _boxes(show.detections[name], scale, look)
    yield "</svg>"
    yield from _legend({"hidden ground truth": OBJECT, **COLOURS})


def _boxes(annotations: Annotations, scale: float, look: str) -> Iterator[str]:
    """The boxes of the shown frame of the first video."""
    first = annotations.sequences.index((STREETS[0].domain, STREETS[0].sequences[0]))
    chosen = (annotations.frame_sequences == first) & (annotations.frame_numbers == SHOWN_FRAME)
    for corners in annotations.take_frames(chosen).coordinates * scale:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners.reshape(-1, 2))
        yield f'<polygon points="{points}" {look}/>'


def _legend(entries: Mapping[str, str]) -> Iterator[str]:
    x, y = FRAME_LEFT, PANEL_TOP + PANEL_HEIGHT + 22
    for name, colour in entries.items():
        yield f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>'
        yield _text(x + 18, y, name)
        x += 34 + 8 * len(name)


def _curves(curves: Mapping[str, list[tuple[int, float]]]) -> Iterator[str]:
    """The score of each system over the number of received frames."""
    yield _heading(CURVES_LEFT, "2", "Scores come back while it runs")
    right, bottom = CURVES_LEFT + CURVES_WIDTH, PANEL_TOP + PANEL_HEIGHT
    for score in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - score * PANEL_HEIGHT
        yield f'<path d="M{CURVES_LEFT} {y:.1f}H{right}" stroke="{GRID}"/>'
        yield _text(CURVES_LEFT - 6, y + 4, f"{score:g}", colour=QUIET, anchor="end")
    frames = max(frame for points in curves.values() for frame, _ in points)
    for name, points in curves.items():
        path = " ".join(
            f"{CURVES_LEFT + CURVES_WIDTH * frame / frames:.1f},"
            f"{bottom - max(0.0, score) * PANEL_HEIGHT:.1f}"
            for frame, score in points
        )
        look = f'fill="none" stroke="{COLOURS[name]}" stroke-width="2.4"'
        yield f'<polyline points="{path}" {look}/>'
    yield _text(CURVES_LEFT, bottom + 22, "NMOTDA over the frames so far", colour=INK)
    yield _text(right, bottom + 22, f"{frames} frames", colour=QUIET, anchor="end")


def _board(scores: Mapping[str, float]) -> Iterator[str]:
    """The systems in rank order."""
    yield _heading(BOARD_LEFT, "3", "A leaderboard ranks")
    ranked = sorted(scores, key=lambda name: scores[name], reverse=True)
    for row, name in enumerate(ranked):
        y = PANEL_TOP + 14 + 62 * row
        yield _text(BOARD_LEFT, y, f"{row + 1}.  {name}", weight="bold")
        yield _text(WIDTH - FRAME_LEFT, y, f"{scores[name]:.4f}", anchor="end", weight="bold")
        full = WIDTH - FRAME_LEFT - BOARD_LEFT
        for share, colour in ((1.0, GRID), (scores[name], COLOURS[name])):
            size = f'width="{full * share:.1f}" height="12" rx="3"'
            yield f'<rect x="{BOARD_LEFT}" y="{y + 10}" {size} fill="{colour}"/>'
    yield _text(BOARD_LEFT, PANEL_TOP + PANEL_HEIGHT + 22, "No team sees the ground truth")


def _heading(x: float, number: str, text: str) -> str:
    circle = f'<circle cx="{x + 10}" cy="34" r="11" fill="{INK}"/>'
    digit = _text(x + 10, 38.5, number, colour="white", anchor="middle", weight="bold")
    return circle + digit + _text(x + 30, 39, text, weight="bold", size=15)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    colour: str = INK,
    anchor: str = "start",
    weight: str = "normal",
    size: int = 13,
) -> str:
    look = f'fill="{colour}" text-anchor="{anchor}" font-weight="{weight}" font-size="{size}"'
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(text)}</text>'
