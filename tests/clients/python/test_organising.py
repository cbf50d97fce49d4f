"""Further calls of organisers, by both kinds of clients: reading truth, previews, the queue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.clients.python.hosted import SKY, Site, points, submit

from vidscore_client import InputError, NewInvitation, SubmissionState, connect


def test_truth_is_read_back_as_it_was_uploaded(organiser: Any, site: Site, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    truth = points("1", "2")
    revision = organiser.benchmarks.upload_truth(name, [truth])
    assert (revision.object_count, revision.sequence_count, revision.label_count) == (10, 2, 1)
    with connect(site.target, token=site.secret) as client:
        parts = list(client.benchmarks.read_truth(name))
    assert np.concatenate([part.coordinates for part in parts]).tolist() == (
        truth.coordinates.tolist()
    )
    numbers = [number for part in parts for number in part.frame_numbers.tolist()]
    assert numbers == truth.frame_numbers.tolist()


def test_a_preview_shows_what_teams_would_see(organiser: Any, site: Site, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    organiser.benchmarks.upload_truth(name, [points("1")])
    submit(site, organiser, name, points("1"))
    [view] = organiser.benchmarks.preview(name, {"policy": {"public_board": False}})
    assert (view.team, view.evaluator) == ("red", "spotgeo")
    assert (view.now.rank, view.then.rank) == (1, 0)
    assert view.now.values["f1"] == 1.0
    assert organiser.benchmarks.get(name).definition["policy"]["public_board"]


def test_a_submission_is_disqualified_and_reinstated(organiser: Any, site: Site, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    organiser.benchmarks.upload_truth(name, [points("1")])
    submitted = submit(site, organiser, name, points("1"))
    found = organiser.submissions.disqualify(submitted, "too good")
    assert found.disqualification == "too good"
    [row] = organiser.benchmarks.leaderboard(name).rows
    assert (row.rank, row.apart, row.disqualification) == (0, False, "too good")
    assert organiser.submissions.reinstate(submitted).disqualification == ""


def test_the_queue_counts_states(organiser: Any, site: Site, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    organiser.benchmarks.upload_truth(name, [points("1")])
    submitted = submit(site, organiser, name, points("1"))
    queue = organiser.queue([SubmissionState.SCORED])
    assert queue.counts[SubmissionState.SCORED] >= 1
    assert submitted in {entry.name for entry in queue.submissions}
    with pytest.raises(InputError, match="waiting_for_truth"):
        organiser.queue(["lost"])


def test_the_secret_of_an_invitation_is_not_in_its_repr(organiser: Any) -> None:
    made = organiser.invitations.create(["gull"], lifetime_s=60)
    assert isinstance(made[0], NewInvitation)
    assert made[0].secret not in repr(made)
    found = organiser.invitations.look(made[0].secret)
    assert (found.team, found.open) == ("gull", True)
    assert made[0].secret not in repr(found)
