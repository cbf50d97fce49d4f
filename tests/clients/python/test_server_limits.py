"""Uploads keep to the limits of a real server that accepts only small messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.clients.python.hosted import SKY, Site, points, submit
from tests.support.sites import serving

from vidscore_client import Client


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    store = tmp_path_factory.mktemp("limited") / "store.db"
    with serving(store, "--maximum-batch-frames", "3") as (server, secret):
        yield Site(server.address, secret)


def test_truth_checks_and_submissions_are_split_to_the_servers_limits(
    organiser: Client, name: str
) -> None:
    organiser.benchmarks.create(name, SKY)
    sent = points("one", "two")
    revision = organiser.benchmarks.upload_truth(name, (part for part in [sent]))
    assert revision.frame_count == 10
    assert organiser.submissions.check(name, [sent]).frame_count == 10


def test_examined_systems_are_split_to_the_servers_limits(organiser: Client) -> None:
    sent = points("one", "two")
    systems = {"good": [sent], "bad": [points("one", "two", shift_px=3.0)]}
    document = organiser.trust.examine_upload([sent], systems, evaluators=["spotgeo"])
    assert document


@pytest.mark.slow
def test_a_submission_is_split_to_the_servers_limits(
    site: Site, organiser: Client, name: str
) -> None:
    organiser.benchmarks.create(name, SKY)
    sent = points("one", "two")
    organiser.benchmarks.upload_truth(name, [sent])
    submit(site, organiser, name, sent)
