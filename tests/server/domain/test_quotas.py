"""A team's limits and usage, exact to the submission, the mebibyte and the moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.quotas import (
    MEBIBYTES,
    OPEN_SUBMISSIONS,
    Quota,
    quotas_of,
    refuse_closed,
    refuse_more_bytes,
    refuse_over_quota,
    team_usage,
)
from vidscore_server.errors import NotOpenError, QuotaError
from vidscore_server.settings import MEBIBYTE, Settings
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord, SubmissionRecord

MIDNIGHT = datetime(2026, 5, 1, tzinfo=UTC)
NOW = datetime(2026, 5, 1, 13, 45, 30, 500_000, tzinfo=UTC)
LIMITED = definition_from_dict(
    {
        "evaluators": [{"name": "f1"}],
        "policy": {"submissions_per_day": 2, "submissions_in_all": 7},
    }
)


def reader_of(
    *scored: datetime, shown: int = 0, byte_count: int = 0, open_count: int = 0
) -> Reader:
    """A store with one team: times of its submissions, outcomes it saw, bytes it stores."""

    def scored_count(benchmark: str, team: str, since: datetime | None) -> int:
        assert (benchmark, team) == ("dots", "red")
        return sum(since is None or time >= since for time in scored)

    held = SimpleNamespace(byte_count=byte_count, open_count=open_count)
    found = SimpleNamespace(
        scored_count=scored_count,
        shown_outcomes_count=lambda *_: shown,
        holdings=lambda *_: held,
    )
    return cast(Reader, found)


def test_a_day_is_in_utc_and_outcomes_count_only_towards_the_total() -> None:
    reader = reader_of(MIDNIGHT - timedelta(microseconds=1), MIDNIGHT, NOW, shown=3)
    assert quotas_of(reader, "dots", "red", LIMITED, NOW) == [
        Quota("submissions_per_day", 2, 2, MIDNIGHT + timedelta(days=1)),
        Quota("submissions_in_all", 7, 6, None),
    ]


def test_the_last_place_of_a_quota_can_be_taken_and_no_further_one() -> None:
    reader = reader_of(NOW)
    refuse_over_quota(reader, "dots", "red", LIMITED, NOW, more=1)
    with pytest.raises(QuotaError, match="quota submissions_per_day of 2 is used up"):
        refuse_over_quota(reader, "dots", "red", LIMITED, NOW, more=2)


@pytest.mark.parametrize(("used", "left"), [(0, 2), (2, 0), (3, 0)])
def test_the_rest_of_a_quota_is_never_negative(used: int, left: int) -> None:
    assert Quota("submissions_per_day", 2, used, None).left == left


@pytest.mark.parametrize(
    ("byte_count", "mebibytes"), [(0, 0), (1, 1), (MEBIBYTE, 1), (MEBIBYTE + 1, 2)]
)
def test_a_started_mebibyte_counts(byte_count: int, mebibytes: int) -> None:
    settings = Settings(maximum_team_open_submissions=5, maximum_team_mebibytes=9)
    assert team_usage(reader_of(byte_count=byte_count, open_count=4), "dots", "red", settings) == [
        Quota(OPEN_SUBMISSIONS, 5, 4, None),
        Quota(MEBIBYTES, 9, mebibytes, None),
    ]


def test_a_team_may_store_exactly_its_limit_of_mebibytes() -> None:
    submission = cast(SubmissionRecord, SimpleNamespace(benchmark="dots", team="red"))
    refuse_more_bytes(reader_of(byte_count=3 * MEBIBYTE), submission, 3)
    with pytest.raises(QuotaError, match="would hold 4 MiB of 3 MiB"):
        refuse_more_bytes(reader_of(byte_count=3 * MEBIBYTE + 1), submission, 3)


def test_a_benchmark_accepts_submissions_from_its_opening_to_before_its_closing() -> None:
    times = SimpleNamespace(benchmark="dots", open_time=MIDNIGHT, close_time=NOW)
    benchmark = cast(BenchmarkRecord, times)
    moment = timedelta(microseconds=1)
    refuse_closed(benchmark, MIDNIGHT)
    refuse_closed(benchmark, NOW - moment)
    with pytest.raises(NotOpenError, match="dots opens at 2026-05-01T00:00:00"):
        refuse_closed(benchmark, MIDNIGHT - moment)
    with pytest.raises(NotOpenError, match="dots closed at 2026-05-01T13:45:30"):
        refuse_closed(benchmark, NOW)
