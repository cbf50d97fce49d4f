"""Benchmarks, tokens, boards and re-scorings on a real server; synchronous and asyncio."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.clients.python.fake_server import WAIT_S
from tests.clients.python.hosted import SKY, Connecting, Site, begin, points, submit

from vidscore_cli.demo.network import ServerProcess
from vidscore_client import (
    AccessDeniedError,
    Batching,
    CallCancelledError,
    Client,
    ConflictError,
    DeadlineError,
    Frames,
    InputError,
    InternalError,
    InvalidArgumentError,
    Masks,
    NotFoundError,
    QuotaExceededError,
    RankingQuestions,
    RescoreProgress,
    Role,
    ScoreDifference,
    SubmissionState,
    TrustProgress,
    connect,
)
from vidscore_client._long_work import OperationStatus
from vidscore_client.benchmarks import RESCORING
from vidscore_server.domain.administration import initialise


@pytest.mark.slow
def test_a_benchmark_is_created_shown_listed_changed_and_deleted(
    organiser: Client, name: str
) -> None:
    opening = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    created = organiser.benchmarks.create(name, {**SKY, "open_time": opening.isoformat()})
    assert created.definition["open_time"] == opening
    assert {**created.definition, **SKY, "policy": created.definition["policy"]} == (
        created.definition
    )
    assert (created.title, created.truth_revision) == ("Night sky", 0)
    shown = organiser.benchmarks.get(f"benchmarks/{name}")
    assert replace(shown, quotas=()) == created
    quotas = {quota.name: quota.maximum for quota in shown.quotas}
    assert quotas["submissions_in_all"] == created.submission_budget
    assert created in organiser.benchmarks.list()
    changed = organiser.benchmarks.update(name, {"title": "Sky", "policy": {"ladder_step": 0.5}})
    assert (changed.title, changed.definition["evaluators"]) == ("Sky", SKY["evaluators"])
    policy = changed.definition["policy"]
    assert (policy["ladder_step"], policy["visibility"]) == (0.5, "ladder")
    assert (policy["submissions_in_all"], changed.submission_budget) == (-1, 5)
    assert changed.definition["open_time"] == opening
    free = organiser.benchmarks.update(name, {"policy": {"submissions_in_all": 0}})
    assert free.definition["policy"]["submissions_in_all"] == free.submission_budget == 0
    [warning] = free.warnings
    assert "any number of submissions" in warning
    replaced = organiser.benchmarks.update(name, SKY, replace=True)
    assert "open_time" not in replaced.definition
    with pytest.raises(ConflictError, match="changed after its etag was read"):
        organiser.benchmarks.delete(name, etag=free.etag)
    organiser.benchmarks.delete(name, etag=replaced.etag)
    with pytest.raises(NotFoundError):
        organiser.benchmarks.get(name)


def test_a_definition_is_returned_as_it_was_given(organiser: Client, name: str) -> None:
    created = organiser.benchmarks.create(name, SKY)
    again = organiser.benchmarks.create(f"{name}-again", created.definition)
    assert again.definition == created.definition


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"private_sequences": 0.5}, 0.5),
        ({"private_share": 0.25}, 0.25),
        ({"private_sequences": ["one", "night/two"]}, ["one", "night/two"]),
    ],
)
def test_private_sequences_are_a_fraction_or_names(
    organiser: Client, name: str, given: dict[str, object], kept: object
) -> None:
    created = organiser.benchmarks.create(name, {**SKY, "policy": given})
    assert created.definition["policy"]["private_sequences"] == kept
    assert "private_share" not in created.definition["policy"]
    assert created.private_sequence_count == (len(kept) if isinstance(kept, list) else 0)
    again = organiser.benchmarks.create(f"{name}-again", created.definition)
    assert again.definition == created.definition


def test_a_shape_of_objects_cannot_be_changed(organiser: Client, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    with pytest.raises(InputError, match="cannot be changed"):
        organiser.benchmarks.update(name, {"truth_geometry": "box"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"policy": {"visibility": "all"}}, "policy.visibility"),
        ({"policy": {"quiet_timeout_s": "soon"}}, "policy.quiet_timeout_s"),
        ({"policy": {"strictness": 1}}, "policy.strictness"),
        ({"truth_geometry": "circle"}, "truth_geometry"),
        ({"close_time": "2026-01-01"}, "close_time"),
        ({"colour": 1}, "colour"),
    ],
)
def test_a_definition_that_cannot_be_sent_is_refused_locally(
    organiser: Client, name: str, change: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        organiser.benchmarks.create(name, {**SKY, **change})
    assert caught.value.argument == field


def test_faults_found_by_the_server_name_their_fields(organiser: Client, name: str) -> None:
    wrong = {**SKY, "truth_geometry": "box", "policy": {"ladder_step": -1.0}}
    with pytest.raises(InvalidArgumentError) as caught:
        organiser.benchmarks.create(name, wrong)
    assert caught.value.violation_count == 2


def test_a_name_that_is_taken_is_a_conflict(organiser: Client, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    with pytest.raises(ConflictError) as caught:
        organiser.benchmarks.create(name, SKY)
    assert caught.value.reason == "NAME_TAKEN"


def test_truth_is_uploaded_in_revisions_and_merged_on_request(organiser: Client, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    first = organiser.benchmarks.upload_truth(
        name, [points("1"), points("2")], complete=False, comment="begun"
    )
    assert (first.revision, first.frame_count, first.complete) == (1, 10, False)
    merged = organiser.benchmarks.upload_truth(name, iter([points("2", "3")]), merge=True)
    assert (merged.revision, merged.frame_count, merged.complete) == (2, 15, True)
    assert organiser.benchmarks.upload_truth(name, [points("9")]).frame_count == 5
    revisions = organiser.benchmarks.truth_revisions(name)
    assert [revision.revision for revision in revisions] == [3, 2, 1]
    assert revisions[2] == first


def masked(*runs: list[int]) -> Frames:
    """One frame per mask of 2 by 3 pixels."""
    count = len(runs)
    return Frames(
        sequences=[("", "a")],
        frame_sequences=np.zeros(count, dtype=np.int64),
        frame_numbers=np.arange(count),
        frame_starts=np.arange(count + 1),
        coordinates=np.tile([0.0, 0.0, 3.0, 2.0], (count, 1)),
        masks=Masks.of([{"size": [2, 3], "counts": lengths} for lengths in runs]),
    )


def test_masks_are_stored_scored_and_returned(site: Site, organiser: Client, name: str) -> None:
    """One detection has 5 of the 6 pixels of its object, the other 2 of 6: IoU 5/6 and 1/3."""
    evaluator = {"name": "f1", "parameters": {"base": "mask"}}
    shapes = {"truth_geometry": "box", "detection_geometry": "box"}
    organiser.benchmarks.create(name, {**SKY, **shapes, "evaluators": [evaluator]})
    truth = masked([0, 6], [0, 6])
    organiser.benchmarks.upload_truth(name, [truth])
    with connect(site.target, token=site.secret) as client:
        [back] = client.benchmarks.read_truth(name)
    assert back.masks is not None
    assert back.masks.sizes.tolist() == [[2, 3], [2, 3]]
    assert back.masks.runs.tolist() == [0, 6, 0, 6]
    submission = submit(site, organiser, name, masked([1, 5], [4, 2]))
    [score] = organiser.submissions.scores(submission)
    counts = [score.report.value(f"{kind}_positives") for kind in ("true", "false")]
    assert counts == [1, 1]


def test_an_error_while_truth_is_produced_is_raised_and_nothing_is_uploaded(
    organiser: Client, name: str
) -> None:
    def batches() -> Iterator[Frames]:
        yield points("1")
        raise ZeroDivisionError

    organiser.benchmarks.create(name, SKY)
    with pytest.raises(ZeroDivisionError):
        organiser.benchmarks.upload_truth(name, batches())
    with pytest.raises(InputError, match="expected Frames"):
        organiser.benchmarks.upload_truth(name, ["frames"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="one batch"):
        organiser.benchmarks.upload_truth(name, points("1"))  # type: ignore[arg-type]
    assert organiser.benchmarks.truth_revisions(name) == []


def test_truth_of_another_shape_is_refused(organiser: Client, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    box = Frames((("", "1"),), np.zeros(1, int), np.ones(1, int), np.arange(2), np.ones((1, 4)))
    with pytest.raises(InvalidArgumentError):
        organiser.benchmarks.upload_truth(name, [box])


def test_teams_are_on_the_board_in_rank_order(site: Site, organiser: Client, name: str) -> None:
    """Every point of red is exact, those of blue are 4 px off: equal F1, and MSE 0 before 16."""
    organiser.benchmarks.create(name, {**SKY, "evaluators": [{"name": "spotgeo"}]})
    organiser.benchmarks.upload_truth(name, [points("1")])
    blue = submit(site, organiser, name, points("1", shift_px=4.0), team="blue")
    red = submit(site, organiser, name, points("1"), team="red")
    board = organiser.benchmarks.leaderboard(name)
    assert board.ranking == ("f1", "mse")
    assert [(row.rank, row.team, row.submission) for row in board.rows] == [
        (1, "red", red),
        (2, "blue", blue),
    ]
    assert [dict(row.scores) for row in board.rows] == [
        {"f1": 1.0, "mse": 0.0},
        {"f1": 1.0, "mse": 16.0},
    ]
    with pytest.raises(InvalidArgumentError):
        organiser.benchmarks.leaderboard(name, evaluator="neovision2")


def test_scores_of_a_submission_are_shown_as_reports(
    site: Site, organiser: Client, name: str
) -> None:
    organiser.benchmarks.create(name, SKY)
    organiser.benchmarks.upload_truth(name, [points("1", "2")])
    submission = submit(site, organiser, name, points("1"))
    [score] = organiser.submissions.scores(submission)
    assert (score.partial, score.current, score.truth_revision) == (False, True, 1)
    assert (score.report.value("true_positives"), score.report.value("false_negatives")) == (5, 5)
    found = organiser.submissions.get(submission.split("/")[1] + "/" + submission.split("/")[3])
    assert organiser.submissions.list(name) == [found]
    assert (found.team, found.frame_count, found.benchmark) == ("red", 5, name)


def test_a_rescoring_updates_the_board_and_returns_the_difference(
    site: Site, organiser: Client, name: str
) -> None:
    organiser.benchmarks.create(name, SKY)
    organiser.benchmarks.upload_truth(name, [points("1")])
    submission = submit(site, organiser, name, points("1"))
    organiser.benchmarks.upload_truth(name, [points("1", "2")])
    told: list[RescoreProgress] = []
    rescoring = organiser.benchmarks.rescore(name, [submission], comment="more truth")
    differences = rescoring.wait(WAIT_S, told.append)
    f1 = next(entry for entry in differences if entry.measure == "f1")
    assert (f1.submission, f1.before, f1.after) == (submission, 1.0, 2 * 5 / (2 * 5 + 5))
    assert told[-1] == RescoreProgress(1, 1)
    assert organiser.benchmarks.leaderboard(name).rows[0].scores["f1"] == f1.after
    found = organiser.benchmarks.rescoring(rescoring.name)
    assert found.wait() == differences
    found.cancel()


@pytest.mark.slow
def test_a_ranking_is_examined_with_progress_and_found_again(
    site: Site, organiser: Client, name: str
) -> None:
    """Of two systems the one that is 4.5 px off is second, in every draw."""
    organiser.benchmarks.create(name, SKY)
    organiser.benchmarks.upload_truth(name, [points("1", "2")])
    sent = [points("1", "2", shift_px=shift_px) for shift_px in (0.0, 4.5)]
    named = [submit(site, organiser, name, frames) for frames in sent]
    told: list[TrustProgress] = []
    analysis = organiser.trust.examine_ranking(
        name,
        named,
        evaluators=[("spotgeo", {"tau": 5.0})],
        questions=RankingQuestions(draws=10, seed=3),
    )
    document = analysis.wait(WAIT_S, told.append)
    assert document["systems"] == [submission.rpartition("/")[2] for submission in named]
    [ranking] = document["rankings"]
    assert ranking["parameters"]["tau"] == 5.0
    assert list(ranking["ranks"].values()) == [1, 2]
    assert (ranking["bootstrap"]["draws"], ranking["bootstrap"]["above"][0][1]) == (10, 1.0)
    assert told
    assert organiser.trust.analysis(analysis.name).wait() == document


@pytest.mark.slow
def test_criteria_are_tested_and_a_test_can_be_cancelled(organiser: Client) -> None:
    """Figure 3 has one family; nobody waits for the end of the tracking test."""
    document = organiser.trust.test_criterion("figure-3", ["ospa"], seed=2).wait(WAIT_S)
    assert (document["test"], document["families"]) == ("figure-3", 1)
    assert {row["criterion"] for row in document["errors"]} == {"ospa"}
    analysis = organiser.trust.test_criterion("tracking", strata=100, realisations=10)
    with pytest.raises(ConflictError):
        organiser.trust.test_criterion("tracking")
    analysis.cancel()
    with pytest.raises(CallCancelledError):
        analysis.wait(WAIT_S)
    with pytest.raises(InputError, match="draws"):
        organiser.trust.examine_ranking("sky", questions=RankingQuestions(draws=1 << 40))


def test_a_missing_rescoring_is_not_found(organiser: Client) -> None:
    with pytest.raises(NotFoundError):
        organiser.benchmarks.rescoring("operations/rescore-0")


def test_a_rescoring_without_an_outcome_is_an_internal_error_of_the_server() -> None:
    status: OperationStatus[RescoreProgress, list[ScoreDifference]] = OperationStatus(
        "operations/x", RescoreProgress(0, 1), True, None, None
    )
    with pytest.raises(InternalError, match="without an outcome"):
        RESCORING.outcome_of(status)


def test_a_cancelled_rescoring_raises_cancelled() -> None:
    cancelled = CallCancelledError("cancelled", code="CANCELLED")
    status: OperationStatus[RescoreProgress, list[ScoreDifference]] = OperationStatus(
        "operations/x", RescoreProgress(0, 1), True, None, cancelled
    )
    with pytest.raises(CallCancelledError):
        RESCORING.outcome_of(status)


def test_a_team_sees_its_own_submissions_and_no_others(
    site: Site, organiser: Client, connecting: Connecting, name: str
) -> None:
    organiser.benchmarks.create(name, SKY)
    organiser.benchmarks.upload_truth(name, [points("1")])
    red = submit(site, organiser, name, points("1"), team="red")
    with connecting(organiser.tokens.create(Role.PARTICIPANT, team="blue").secret) as blue:
        with pytest.raises(NotFoundError):
            blue.submissions.get(red)
        assert blue.submissions.list(name) == []
        assert blue.benchmarks.leaderboard(name).rows[0].submission == ""
        with pytest.raises(AccessDeniedError):
            blue.benchmarks.create(f"{name}-own", SKY)


def test_a_used_up_quota_refuses_a_further_submission(
    site: Site, organiser: Client, connecting: Connecting, name: str
) -> None:
    organiser.benchmarks.create(name, {**SKY, "policy": {"submissions_in_all": 1}})
    organiser.benchmarks.upload_truth(name, [points("1")])
    submit(site, organiser, name, points("1"), team="red")
    secret = organiser.tokens.create("participant", team="red").secret
    with connecting(secret) as red, pytest.raises(QuotaExceededError):
        red.submissions.create(name)


def test_a_submission_can_be_cancelled_and_sealed_by_its_name(
    site: Site, organiser: Client, connecting: Connecting, name: str
) -> None:
    organiser.benchmarks.create(name, SKY)
    with connecting(organiser.tokens.create("participant", team="red").secret) as red:
        created = red.submissions.create(name, "first", title="First try")
        assert (created.submission, created.title) == ("first", "First try")
        assert red.submissions.cancel(f"{name}/first").state is SubmissionState.CANCELLED
        assert red.submissions.wait(f"{name}/first", WAIT_S).state is SubmissionState.CANCELLED
    begin(site, organiser, f"{name}/second", points("1"))
    with connecting(organiser.tokens.create("participant", team="red").secret) as red:
        sealed = red.submissions.seal(f"{name}/second", 5)
        assert sealed.seal_time is not None
        with pytest.raises(DeadlineError):
            red.submissions.wait(f"{name}/second", 0.2)


@pytest.mark.slow
def test_a_failed_submission_is_scored_again_on_demand(
    site: Site, organiser: Client, connecting: Connecting, name: str
) -> None:
    """It fails because no truth arrives within a second."""
    organiser.benchmarks.create(name, {**SKY, "policy": {"truth_timeout_s": 1}})
    begin(site, organiser, f"{name}/first", points("1"))
    with connecting(organiser.tokens.create("participant", team="red").secret) as red:
        with pytest.raises(ConflictError) as caught:
            red.submissions.retry(f"{name}/first")
        assert caught.value.reason == "NOT_FAILED"
        red.submissions.seal(f"{name}/first")
        assert red.submissions.wait(f"{name}/first", WAIT_S).state is SubmissionState.FAILED
        organiser.benchmarks.upload_truth(name, [points("1")], complete=True)
        assert red.submissions.retry(f"{name}/first").state_reason == "scoring_retried"
        assert red.submissions.wait(f"{name}/first", WAIT_S).state is SubmissionState.SCORED


def test_tokens_are_created_listed_and_revoked(
    organiser: Client, connecting: Connecting, name: str
) -> None:
    made = organiser.tokens.create("viewer", comment=name, lifetime_s=3600.0)
    assert made.token.role is Role.VIEWER
    assert made.token.expire_time is not None
    assert made.secret not in repr(made)
    assert made.token in organiser.tokens.list()
    with connecting(made.secret) as viewer:
        viewer.benchmarks.list()
        revoked = organiser.tokens.revoke(made.token.name)
        assert revoked.revoke_time is not None
        with pytest.raises(AccessDeniedError):
            viewer.benchmarks.list()


@pytest.mark.parametrize("role", ["admin", "unknown", ""])
def test_an_invalid_role_is_refused_locally(organiser: Client, role: str) -> None:
    with pytest.raises(InputError, match="organiser or participant or viewer"):
        organiser.tokens.create(role)


def test_the_audit_record_shows_who_did_what(organiser: Client, name: str) -> None:
    organiser.benchmarks.create(name, SKY)
    organiser.benchmarks.delete(name)
    deleted, created = organiser.audit(2)
    assert [deleted.action, created.action] == ["DeleteBenchmark", "CreateBenchmark"]
    assert created.resource == f"benchmarks/{name}"
    assert created.actor.startswith("tokens/")
    assert len(organiser.audit()) == deleted.number


@pytest.mark.parametrize("wrong", ["", "a/b", "benchmarks/", "benchmarks/a/b"])
def test_an_invalid_name_is_refused_locally(organiser: Client, wrong: str) -> None:
    with pytest.raises(InputError, match=r"expected a name like \{benchmark\}"):
        organiser.benchmarks.get(wrong)


@pytest.mark.nightly
def test_a_server_that_is_killed_and_restarted_has_every_frame_once(tmp_path: Path) -> None:
    """As in production: SIGKILL in mid-stream, the same store, the same address."""
    store = tmp_path / "store.db"
    secret = initialise(store).secret
    options = ("--workers", "1", "--store", str(store))
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(ServerProcess(*options))
        client = stack.enter_context(connect(first.address, token=secret, timeout_s=WAIT_S))
        client.benchmarks.create("sky", SKY)
        with client.submit("sky", batching=Batching(batch_frames=1)) as stream:
            for number in range(300):
                stream.send(str(number), 1, [[1.0, 2.0]])
                if number == 150:
                    first.kill()
                    stack.enter_context(ServerProcess(*options, "--listen", first.address))
            assert stream.seal(expected_frame_count=300).frame_count == 300
