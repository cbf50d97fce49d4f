"""Masks in pictures of the site are drawn only for those who may see them."""

from __future__ import annotations

import re

import pytest
from tests.server.domain.hosted import BENCHMARK
from tests.server.domain.streets import streets
from tests.server.web.site.browsing import Browsing

from vidscore_evaluators.figures.overlay import TOO_LARGE
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2

FRAMES = f"/{BENCHMARK}/submissions/one/frames"
TRUTH = f"/organise/{BENCHMARK}/truth/1"
HEIGHT, WIDTH = 40, 96
"""Pictures are 960 wide: ten units per pixel."""


def boxes(*columns: int, row: int) -> annotations_pb2.AnnotationBatch:
    """One frame with a mask of 10 by 20 px at each of the given columns, and their boxes.

    The first 5 columns of a mask end 10 rows earlier, so that no mask is a box.
    """
    short, long = (10, HEIGHT - 10), (20, HEIGHT - 20)
    runs: list[int] = []
    for left in columns:
        inside = [*short * 5, *long * 5]
        runs += [left * HEIGHT + row, *inside[:-1], (WIDTH - left - 9) * HEIGHT - row - 20]
    count = len(columns)
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence="street")],
        labels=["car"],
        frame_sequences=[0],
        frame_numbers=[1],
        frame_object_counts=[count],
        geometry=annotations_pb2.GEOMETRY_BOX,
        coordinates=[one for x in columns for one in (x, row, x + 10, row + 20)],
        label_indices=[0] * count,
        mask_heights=[HEIGHT] * count,
        mask_widths=[WIDTH] * count,
        mask_run_counts=[21] * count,
        mask_runs=runs,
    )


def path(column: int, row: int) -> str:
    """The path around a mask."""
    return f"M{10 * column} {10 * row}h100v200h-50v-100h-50z"


async def scored(site: Browsing) -> None:
    """A found object, a missed one, and a false positive."""
    message = streets()
    message.policy.visibility = benchmark_pb2.VISIBILITY_FINAL
    message.policy.outcomes = benchmark_pb2.OUTCOMES_SHOWN_OWN
    await site.hosted.organiser.create(message, public=("sequences", "labels"))
    await site.hosted.organiser.upload(boxes(10, 40, row=5))
    await site.hosted.red.submit(boxes(11, 70, row=5))
    await site.hosted.red.ended()


@pytest.mark.slow
async def test_organisers_see_masks_of_both_sides(site: Browsing) -> None:
    """For a found object the mask of its detection, as with boxes."""
    await scored(site)
    page = await site.organiser.get(FRAMES)
    assert page.status == 200, page.words
    assert 'viewBox="0 0 960 400"' in page.text
    for kind, column in (("tp", 11), ("fn", 40), ("fp", 70)):
        mark = rf'<g class="o-{kind} mask"[^>]*><title>[^<]*</title><defs><path '
        assert re.search(f"{mark}[^>]*{path(column, 5)}", page.text)
    truth = await site.organiser.get(TRUTH)
    assert path(10, 5) in truth.text
    assert path(40, 5) in truth.text


async def test_a_team_sees_only_the_masks_of_its_own_detections(site: Browsing) -> None:
    await scored(site)
    for open_page, kinds in ((site.red.get, ("own", "own")), (site.red.agree, ("tp", "fp"))):
        page = await open_page(FRAMES)
        assert page.status == 200, page.words
        for kind, column in zip(kinds, (11, 70), strict=True):
            assert f'<g class="o-{kind} mask">' in page.text
            assert path(column, 5) in page.text
        assert page.text.count(' mask"') == 2
        assert path(10, 5) not in page.text
        assert path(40, 5) not in page.text


async def test_too_large_masks_are_drawn_as_boxes_and_the_page_says_so(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scored(site)
    monkeypatch.setattr("vidscore_evaluators.figures.overlay.MOST_BYTES", 40)
    for open_page, address in (
        (site.organiser.get, FRAMES),
        (site.organiser.get, TRUTH),
        (site.red.get, FRAMES),
        (site.red.agree, FRAMES),
    ):
        page = await open_page(address)
        assert TOO_LARGE in page.words
        assert ' mask"' not in page.text
