"""Invariants after any crash: no acknowledged frame is lost, and none is counted twice."""

from __future__ import annotations

from functools import cache

from tests.crash.organiser import Organiser
from tests.crash.writers import Position, Sent
from tests.server.domain.sky import batch_report

SIZES = (100, 300, 600)
"""Frames that a submission may have."""


def check_positions(organiser: Organiser, known: list[Position]) -> None:
    for position in known:
        found = organiser.submission(position.submission)
        offsets = {entry.stream: entry.next_offset for entry in found.streams}
        assert offsets.get(position.stream, 0) >= position.acknowledged, position


def check_reports(organiser: Organiser, sent: list[Sent]) -> None:
    for entry in sent:
        organiser.wait(entry.name)
        assert organiser.submission(entry.name).frame_count == entry.frame_count
        assert set(organiser.reports(entry.name)) == {_expected(entry.frame_count)}, entry


@cache
def _expected(frame_count: int) -> bytes:
    return batch_report(max(SIZES), range(frame_count))
