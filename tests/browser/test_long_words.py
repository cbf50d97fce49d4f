"""Pages with long words in Chromium: none scrolls sideways at any width."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.browser.competition import PLANTED, SEQUENCES, Competition, competition, frames_of
from tests.browser.exhibits import sign_in
from tests.browser.watched import Watched
from tests.support.street import write_street

from vidscore_client.frames import Frames

pytestmark = pytest.mark.campaign

WIDTHS_PX = (320, 400, 900, 1280)
A4 = {"width": 794, "height": 1123}

TITLE = "Fahrzeugverfolgungswettbewerb 2026"
RUN = "yolov8x_bytetrack_conf0.25_iou0.7_imgsz1280_ep300_seed3_final_ensemble"
ADDRESS = "https://example.org/a/very/long/address/without/spaces/that/goes/on/and/on/index.html"
RELEASED = (
    "precision", "recall", "f1_m_partial", "f1_m_full", "f1_class_mean", "true_positives",
    "false_positives", "false_negatives",
)  # fmt: skip
DESCRIPTION = f"""# {TITLE}

See {ADDRESS} and `{RUN}`.

| {" | ".join(["a column of words"] * 10)} |
| {" | ".join(["---"] * 10)} |
| {" | ".join(["wide"] * 10)} |
"""
PAGE = "/benchmarks/long"
COVERED = """[...document.querySelectorAll(".scroll")].filter(one => [...one.querySelectorAll(
    "table:not(.fold) tr > :first-child")].some(cell =>
    cell.getBoundingClientRect().width > 0.6 * one.clientWidth)
).map(one => `the first column of ${one.ariaLabel} leaves too little of the others`)"""
"""Tables that scroll and whose first column, which does not, takes most of the width."""

LABEL = "fahrzeug_" * 9
NAME = RUN.replace("_", "-").replace(".", "-")[:60]
OWN = f"{PAGE}/submissions/{NAME}"
PAGES = (
    "/benchmarks",
    PAGE,
    f"{PAGE}/board",
    f"{PAGE}/submissions",
    f"{PAGE}/submit",
    OWN,
    f"{OWN}/frames",
    f"{OWN}/outcomes",
    "/organise",
    f"/organise{PAGE}",
    f"/organise{PAGE}/truth",
    f"/organise{PAGE}/truth/1",
    "/organise/benchmarks/kept",
    "/organise/tokens",
    "/organise/invitations",
    "/organise/audit",
)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Competition]:
    """A competition of long names."""
    with competition(tmp_path_factory.mktemp("long")) as made:
        _compete(made)
        yield made


def _compete(made: Competition) -> None:
    definition = {
        "title": TITLE,
        "description": DESCRIPTION,
        "evaluators": [{"name": "f1"}],
        "sequences": [{"name": name} for name in SEQUENCES],
        "truth_geometry": "box",
        "detection_geometry": "box",
        "policy": {
            "visibility": "final",
            "public_board_web": True,
            "released_measures": list(RELEASED),
        },
    }
    with made.client("organiser") as client:
        client.benchmarks.create("long", definition)
        client.benchmarks.upload_truth("long", [long_frames(0.0)], complete=True)
        client.tokens.create("participant", team="x" * 60, comment=RUN)
        client.invitations.create([NAME], comment=RUN)
        _keep_back(client, definition)
    with made.client("red") as client, client.submit("long", NAME, title=RUN) as stream:
        stream.send_batch(long_frames(1.5))
        stream.seal()
        client.submissions.wait(stream.submission, timeout_s=300)


def long_frames(shift: float) -> Frames:
    """The boxes of all frames, under a long label."""
    return replace(frames_of(PLANTED, shift=shift), labels=[LABEL])


def _keep_back(client: Any, definition: dict[str, Any]) -> None:
    """A benchmark whose private sequence and revision comment are endless words."""
    policy = definition["policy"] | {"private_sequences": [RUN * 3]}
    sequences = [{"name": name} for name in (*SEQUENCES, RUN * 3)]
    client.benchmarks.create("kept", definition | {"policy": policy, "sequences": sequences})
    truth, comment = [frames_of(PLANTED)], ADDRESS * 2
    client.benchmarks.upload_truth("kept", truth, complete=False, comment=comment)


@pytest.fixture(scope="module")
def watched(chromium: Any, long: Competition) -> Iterator[Watched]:
    """A tab of an organiser, who sees every page."""
    context = chromium.new_context()
    page = context.new_page()
    sign_in(page, long, "organiser")
    yield Watched(page)
    context.close()


def too_wide(watched: Watched) -> list[str]:
    """Widths at which the page is wider than the window, or a first column covers its table."""
    found = []
    for width in WIDTHS_PX:
        watched.page.set_viewport_size({"width": width, "height": 900})
        if pixels := watched.overflow():
            found.append(f"{pixels} px wider than {width} px: {watched.beyond_the_edge()}")
        found += [f"at {width} px: {one}" for one in watched.page.evaluate(COVERED)]
    return found + cut_in_print(watched)


def cut_in_print(watched: Watched) -> list[str]:
    """By how much the page is wider than a sheet of A4, on which nothing scrolls."""
    watched.page.set_viewport_size(A4)
    watched.page.emulate_media(media="print")
    pixels = watched.overflow()
    watched.page.emulate_media(media="screen")
    # Words for screen readers alone may be a pixel beyond the edge.
    return [f"{pixels} px wider than A4: {watched.beyond_the_edge()}"] if pixels > 1 else []


@pytest.mark.parametrize("address", PAGES)
def test_no_page_of_long_names_scrolls_sideways(
    watched: Watched, long: Competition, address: str
) -> None:
    assert watched.page.goto(f"{long.site}{address}").status == 200
    assert too_wide(watched) == []


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a viewer with two systems of long names, a long sequence and long labels."""
    folder: Path = tmp_path_factory.mktemp("street")
    write_street(folder)
    for name in ("truth", "falcon", "mole"):
        text = (folder / f"{name}.csv").read_text("utf-8")
        text = text.replace("001", RUN).replace("Car", LABEL)
        (folder / f"{name}-{RUN}.csv").write_text(text, "utf-8")
    files = [
        "--truth", f"truth-{RUN}.csv",
        "--detections", f"falcon-{RUN}.csv",
        "--detections", f"mole-{RUN}.csv",
    ]  # fmt: skip
    command = [sys.executable, "-u", "-m", "vidscore_cli", "view", "f1", "errors", "clear", *files]
    command += ["--draws", "20", "--no-browser"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield re.findall(r"http://\S+", process.stdout.readline())[0]
        process.terminate()


def test_a_viewer_of_long_names_does_not_scroll_sideways(tab: Any, viewer: str) -> None:
    assert too_wide(tab(viewer)) == []
