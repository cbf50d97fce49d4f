"""Drafts, checks and quotas as both kinds of clients see them, on a real server."""

from __future__ import annotations

import pytest
from tests.clients.python.hosted import SKY, Connecting, Site, begin, points

from vidscore_client import (
    Client,
    ConflictError,
    DetectionsCheck,
    InvalidArgumentError,
    QuotaExceededError,
    connect,
)


@pytest.mark.slow
def test_a_draft_without_frames_cannot_be_sealed(
    organiser: Client, connecting: Connecting, name: str
) -> None:
    organiser.benchmarks.create(name, SKY)
    with connecting(organiser.tokens.create("participant", team="red").secret) as red:
        draft = red.submissions.create(name, "first")
        assert (draft.due_reason, red.submissions.list(name)) == ("draft_deleted", [])
        assert draft.due_time is not None
        with pytest.raises(ConflictError) as caught:
            red.submissions.seal(f"{name}/first")
        assert caught.value.reason == "NO_FRAMES"


def test_a_draft_that_is_sent_to_again_has_the_last_given_title(
    site: Site, organiser: Client, name: str
) -> None:
    """A refused attempt leaves nothing under its name; without a title the old one stays."""
    organiser.benchmarks.create(name, SKY)
    with connect(site.target, token=site.secret) as client:
        client.submissions.create(name, "first", title="Wrong")
        client.submit(name, "first", title="Right").abort()
        client.submit(name, "first").abort()
        assert client.submissions.get(f"{name}/first").title == "Right"


def test_a_check_reports_what_would_be_accepted_and_creates_nothing(
    organiser: Client, connecting: Connecting, name: str
) -> None:
    organiser.benchmarks.create(name, {**SKY, "policy": {"submissions_in_all": 1}})
    with connecting(organiser.tokens.create("participant", team="red").secret) as red:
        checked = red.submissions.check(name, [points("1"), points("2", "3")])
        assert checked == DetectionsCheck(15)
        with pytest.raises(InvalidArgumentError) as caught:
            red.submissions.check(name, [points("1"), points("2", shift_px=float("nan"))])
        assert caught.value.violations
        quota = red.benchmarks.get(name).quotas[0]
        assert (quota.name, quota.maximum, quota.left) == ("submissions_in_all", 1, 1)
        assert red.submissions.list(name) == []


def test_a_check_reports_that_no_submission_would_be_accepted(
    site: Site, organiser: Client, connecting: Connecting, name: str
) -> None:
    organiser.benchmarks.create(name, {**SKY, "policy": {"submissions_in_all": 1}})
    organiser.benchmarks.upload_truth(name, [points("1")])
    assert organiser.benchmarks.get(name).truth_complete
    begin(site, organiser, f"{name}/first", points("1"))
    with connecting(organiser.tokens.create("participant", team="red").secret) as red:
        with pytest.raises(QuotaExceededError):
            red.submissions.check(name, [points("1")])
        assert red.benchmarks.get(name).quotas[0].left == 0
