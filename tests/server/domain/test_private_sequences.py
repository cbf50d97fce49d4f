"""Private sequences over the wire: who sees what before a benchmark closes, and after."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, dots, refusal, values
from tests.server.domain.test_rescored_boards import publish, rescored
from tests.server.scene import HERE, batch, parameter

from vidscore_protos.v1 import access_service_pb2, annotations_pb2, benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as submissions
from vidscore_server.domain import portions
from vidscore_server.domain.names import SubmissionName

NAMES = "abcd"
PRIVATE = "cd"
LADDER, FINAL, LIVE, BOOTSTRAP = (
    getattr(benchmark_pb2, f"VISIBILITY_{name}")
    for name in ("LADDER", "FINAL", "LIVE", "BOOTSTRAP")
)
HOUR = timedelta(hours=1)


def found(hits: str, names: str = NAMES) -> annotations_pb2.AnnotationBatch:
    """A frame of each sequence, with a point in those that are hit."""
    return batch((("", name), 1, HERE if name in hits else []) for name in names)


def closing(hosted: Hosted, **policy: object) -> benchmark_pb2.Benchmark:
    """A benchmark of points that closes in an hour; c and d are private."""
    message = dots(**{"private_sequences": PRIVATE, **policy})
    time = Timestamp()
    time.FromDatetime(hosted.clock.now + HOUR)
    message.close_time.CopyFrom(time)
    return message


async def host(hosted: Hosted, **policy: object) -> None:
    await hosted.organiser.create(closing(hosted, **policy))
    await hosted.organiser.upload(found(NAMES))


async def submit(client: Client, name: str, hits: str) -> None:
    await client.submit(found(hits), name)
    await client.ended(name)


async def waiting(client: Client, name: str) -> None:
    """Wait until a submission waits for truth."""
    request = submissions.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/{name}")
    call = client.submissions.WatchSubmission(request, metadata=client.metadata)
    async with asyncio.timeout(60):
        async for update in call:
            if update.submission.state == submissions.SUBMISSION_STATE_WAITING_FOR_TRUTH:
                break
    call.cancel()


def f1(report: object) -> float:
    return values(report)["f1"]  # type: ignore[arg-type]


async def board(client: Client) -> list[tuple[int, str, float]]:
    return [(row.rank, row.team, row.scores[0].value) for row in (await client.board()).rows]


@pytest.mark.parametrize("visibility", [LADDER, FINAL, LIVE])
async def test_a_team_sees_the_public_part_and_organisers_every_part(
    hosted: Hosted, visibility: int
) -> None:
    """a, c and d of four objects are found: 2/3 of the public part, all of the private one."""
    await host(hosted, visibility=visibility, ladder_step=0.1)
    await submit(hosted.red, "one", "acd")
    [score] = await hosted.red.scores()
    assert f1(score.report) == (2 / 3 if visibility == LIVE else 0.7)
    assert not score.HasField("private_report")
    assert not score.HasField("public_report")
    assert await board(hosted.red) == [(1, "red", 2 / 3 if visibility == LIVE else 0.7)]
    [score] = await hosted.organiser.scores()
    assert [f1(part) for part in (score.report, score.public_report, score.private_report)] == [
        6 / 7,
        2 / 3,
        1.0,
    ]
    assert await board(hosted.organiser) == [(1, "red", 2 / 3)]


@pytest.mark.parametrize("visibility", [LADDER, FINAL])
async def test_after_the_closing_the_order_follows_the_exact_private_part(
    hosted: Hosted, visibility: int
) -> None:
    """Red found b of the public part and c of the private one; blue both public, none private."""
    await host(hosted, visibility=visibility, ladder_step=0.5)
    await submit(hosted.red, "one", "bc")
    await submit(hosted.blue, "two", "ab")
    assert await board(hosted.viewer) == [(1, "blue", 1.0), (2, "red", 0.5)]
    hosted.clock.pass_by(hours=1)
    for client in (hosted.viewer, hosted.red, hosted.organiser):
        assert await board(client) == [(1, "red", 2 / 3), (2, "blue", 0.0)]
    [score] = await hosted.red.scores()
    assert (f1(score.report), f1(score.private_report)) == (0.5, 2 / 3)
    assert not score.HasField("public_report")


async def test_after_the_closing_the_board_of_a_class_uses_its_private_part(hosted: Hosted) -> None:
    message = closing(hosted, visibility=LIVE)
    message.specification.ClearField("evaluators")
    entry = message.specification.evaluators.add(name="f1")
    entry.parameters.append(parameter("base", "euclidean"))
    await hosted.organiser.create(message)
    truth, hits = found(NAMES), found("abc")
    for batch in (truth, hits):
        batch.labels.append("car")
    await hosted.organiser.upload(truth)
    await hosted.red.submit(hits)
    await hosted.red.ended()
    shown = []
    for hours in (0, 1):
        hosted.clock.pass_by(hours=hours)
        [row] = (await hosted.viewer.board(label="car")).rows
        shown.append((row.rank, row.team, row.scores[0].value))
    assert shown == [(1, "red", 1.0), (1, "red", 2 / 3)]


async def test_after_the_closing_another_measure_can_rank(hosted: Hosted) -> None:
    """It is not stored beside the scores; red found c of the private part, blue both."""
    await host(hosted, visibility=LIVE)
    await submit(hosted.red, "one", "abc")
    await submit(hosted.blue, "two", "acd")
    message = (await hosted.organiser.benchmark()).benchmark
    message.policy.ranking_measure = "recall"
    await hosted.organiser.update(message, "policy")
    hosted.clock.pass_by(hours=1)
    assert await board(hosted.viewer) == [(1, "blue", 1.0), (2, "red", 0.5)]


async def test_a_team_is_ranked_by_its_latest_until_the_closing_and_then_by_its_best(
    hosted: Hosted,
) -> None:
    """The first one found everything; the second one of two in the public part and nothing else."""
    await host(hosted, visibility=LIVE, selection=benchmark_pb2.SELECTION_LATEST)
    await submit(hosted.red, "one", "abcd")
    hosted.clock.pass_by(minutes=1)
    await submit(hosted.red, "two", "a")
    assert await board(hosted.viewer) == [(1, "red", 2 / 3)]
    hosted.clock.pass_by(hours=1)
    assert await board(hosted.viewer) == [(1, "red", 1.0)]


async def test_among_equal_private_scores_the_earlier_ranks_first_if_the_policy_says_so(
    hosted: Hosted,
) -> None:
    """Both found only c of the private sequences; by the public part blue was better."""
    await host(hosted, earlier_first=True)
    await submit(hosted.red, "one", "c")
    hosted.clock.pass_by(minutes=1)
    await submit(hosted.blue, "two", "abc")
    assert [team for _, team, _ in await board(hosted.viewer)] == ["blue", "red"]
    hosted.clock.pass_by(hours=1)
    assert await board(hosted.viewer) == [(1, "red", 2 / 3), (2, "blue", 2 / 3)]


async def test_participants_see_how_many_sequences_are_private_but_not_which(
    hosted: Hosted,
) -> None:
    await host(hosted)
    for client in (hosted.red, hosted.viewer):
        message = (await client.benchmark()).benchmark
        assert list(message.policy.private_sequences) == []
        assert message.private_sequence_count == 2
    message = (await hosted.organiser.benchmark()).benchmark
    assert list(message.policy.private_sequences) == ["c", "d"]


async def test_the_private_sequences_are_drawn_once_and_organisers_see_which(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create(closing(hosted, private_sequences=[], private_share=0.5))
    assert (await hosted.organiser.benchmark()).benchmark.private_sequence_count == 0
    await hosted.organiser.upload(found(NAMES), complete=False)
    assert (await hosted.organiser.benchmark()).benchmark.private_sequence_count == 0
    await hosted.organiser.upload(found(NAMES))
    drawn = list((await hosted.organiser.benchmark()).benchmark.policy.private_sequences)
    assert len(drawn) == 2
    request = access_service_pb2.ListAuditRecordsRequest(action="private sequences drawn")
    organiser = hosted.organiser
    audit = await organiser.access.ListAuditRecords(request, metadata=organiser.metadata)
    assert [record.detail for record in audit.records] == ["2 sequences"]
    message = (await hosted.red.benchmark()).benchmark
    assert (message.policy.private_share, list(message.policy.private_sequences)) == (0.5, [])
    assert message.private_sequence_count == 2
    await hosted.organiser.upload(found(NAMES))
    assert list((await hosted.organiser.benchmark()).benchmark.policy.private_sequences) == drawn
    await submit(hosted.red, "one", "".join(drawn))
    [score] = await hosted.organiser.scores()
    assert (f1(score.private_report), f1(score.public_report)) == (1.0, 0.0)


async def test_before_the_draw_nothing_is_released(hosted: Hosted) -> None:
    """The truth never becomes complete: any sequence may become private, so scores cover none."""
    policy = {"private_sequences": [], "private_share": 0.5, "visibility": FINAL}
    await hosted.organiser.create(closing(hosted, **policy))
    await hosted.organiser.upload(found(NAMES), complete=False)
    message = (await hosted.organiser.benchmark()).benchmark
    message.policy.truth_timeout.FromSeconds(60)
    await hosted.organiser.update(message, "policy")
    for client, name, hits in ((hosted.red, "one", "ab"), (hosted.blue, "two", "")):
        await client.submit(found(hits), name)
        await waiting(client, name)
    hosted.clock.pass_by(minutes=2)
    told = []
    for client, name in ((hosted.red, "one"), (hosted.blue, "two")):
        await client.ended(name)
        [score] = await client.scores(name)
        told.append(values(score.report))
    assert told[0] == told[1]
    [score] = await hosted.organiser.scores()
    assert f1(score.report) == 2 / 3


async def test_the_step_and_the_budget_follow_from_the_public_part(hosted: Hosted) -> None:
    """20 of 40 sequences with one object are public: sqrt(0.25 / 20 + 0.04 / 20) = 0.12."""
    names = [chr(ord("A") + row) for row in range(40)]
    policy = {"private_sequences": names[:20], "ladder_step": 0.0, "submissions_in_all": -1}
    await hosted.organiser.create(closing(hosted, **policy))
    await hosted.organiser.upload(found("".join(names), "".join(names)))
    message = (await hosted.red.benchmark()).benchmark
    assert (message.ladder_step_in_force, message.submission_budget) == (0.2, 5)


@pytest.mark.parametrize("private", ["cdx", "abcd"])
async def test_truth_that_does_not_fit_the_private_sequences_is_refused(
    hosted: Hosted, private: str
) -> None:
    await hosted.organiser.create(closing(hosted, private_sequences=private))
    refused = await refusal(hosted.organiser.upload(found(NAMES)))
    assert "private_sequences" in str(refused)
    assert (await hosted.organiser.benchmark()).benchmark.truth_revision == 0


async def test_private_sequences_are_fixed_once_there_is_a_complete_truth(hosted: Hosted) -> None:
    await hosted.organiser.create(closing(hosted))
    await hosted.organiser.update(closing(hosted, private_sequences="d"), "policy")
    await hosted.organiser.upload(found(NAMES))
    refused = await refusal(hosted.organiser.update(closing(hosted), "policy"))
    assert refused.reason == "POLICY_FIXED"
    await hosted.organiser.update(
        closing(hosted, private_sequences=[], earlier_first=True), "policy"
    )
    message = (await hosted.organiser.benchmark()).benchmark
    assert (list(message.policy.private_sequences), message.policy.earlier_first) == (["d"], True)


async def test_an_organiser_is_warned_of_private_sequences_that_are_never_shown(
    hosted: Hosted,
) -> None:
    created = await hosted.organiser.create_benchmark(private_sequences=["a"])
    assert any("no close_time" in text for text in created.warnings)


async def test_an_organiser_is_warned_if_teams_can_see_which_sequences_are_private(
    hosted: Hosted,
) -> None:
    """A team can tell them by the missing scores or outcomes."""
    policies: dict[str, dict[str, object]] = {
        "own": {"visibility": FINAL, "outcomes": benchmark_pb2.OUTCOMES_SHOWN_OWN},
        "live": {"visibility": LIVE},
        "final": {"visibility": FINAL},
    }
    found = {}
    for name, policy in policies.items():
        made = dots(private_sequences=["a"], **policy)
        created = await hosted.organiser.create(made, name)
        found[name] = any("which sequences are private" in text for text in created.warnings)
    assert found == {"own": True, "live": True, "final": False}


# --- the noise of bootstrap ----------------------------------------------------------------------


async def test_bootstrap_releases_an_estimate_and_organisers_see_the_score(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With noise of 5 to 1 to 1 to 1 the four sequences count 20, 4, 4 and 4 times of 32."""
    noise = {"a": 5.0, "b": 1.0, "c": 1.0, "d": 1.0}
    monkeypatch.setattr(portions, "_exponential", lambda _, sequence: noise[sequence.sequence])
    await host(hosted, visibility=BOOTSTRAP, ladder_step=0.001, private_sequences=[])
    await submit(hosted.red, "one", "ab")
    [shown], [exact] = await hosted.red.scores(), await hosted.organiser.scores()
    assert f1(exact.report) == 2 / 3
    assert f1(shown.report) == 0.857  # 2 * 24 hits over 32 objects and 24 detections.
    assert {score.measure for score in shown.report.scores} == {"f1", "mse"}
    assert await board(hosted.red) == [(1, "red", f1(shown.report))]
    assert await board(hosted.organiser) == [(1, "red", 2 / 3)]


async def test_a_repetition_gets_the_same_answer(hosted: Hosted) -> None:
    """It is scored again under the same truth."""
    await host(hosted, visibility=BOOTSTRAP, ladder_step=0.001, private_sequences=[])
    await submit(hosted.red, "one", "ab")
    [before] = await hosted.red.scores()
    [again] = await hosted.hosting.scorer.results(SubmissionName("dots", "one"), 1)
    assert again.estimate is not None
    assert round(again.estimate["f1"] or 0.0, 3) == f1(before.report)


async def test_bootstrap_must_be_chosen_before_the_first_submission(hosted: Hosted) -> None:
    await host(hosted, private_sequences=[])
    await submit(hosted.red, "one", "ab")
    message = closing(hosted, private_sequences=[], visibility=BOOTSTRAP)
    refused = await refusal(hosted.organiser.update(message, "policy"))
    assert (refused.reason, refused.metadata["field"]) == ("POLICY_FIXED", "visibility")


# --- choices -------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_best_chosen_submission_is_in_the_final_order(hosted: Hosted) -> None:
    """By the private part: three is 1.0, two is 2/3, one is 0; one and two are chosen."""
    await host(hosted)
    for name, hits in (("one", "ab"), ("two", "ac"), ("three", "cd")):
        await submit(hosted.red, name, hits)
    assert (await hosted.red.choose("one")).chosen
    assert (await hosted.red.choose("one")).chosen  # Choosing it again changes nothing.
    await hosted.red.choose("two")
    refused = await refusal(hosted.red.choose("three"))
    assert (refused.reason, refused.metadata["quota"]) == ("QUOTA_EXCEEDED", "final_submissions")
    assert "one, two" in refused.message
    hosted.clock.pass_by(hours=1)
    assert await board(hosted.red) == [(1, "red", 2 / 3)]
    told = {name: await hosted.red.scores(name) for name in ("one", "two", "three")}
    seen = {name: score.HasField("private_report") for name, [score] in told.items()}
    assert seen == {"one": True, "two": True, "three": False}


async def test_a_choice_and_its_withdrawal_are_each_audited_once(hosted: Hosted) -> None:
    await host(hosted)
    await submit(hosted.red, "one", "ab")
    for undo in (False, False, True, True):
        assert (await hosted.red.choose("one", undo=undo)).chosen is not undo
    request = access_service_pb2.ListAuditRecordsRequest(action="ChooseSubmission")
    organiser = hosted.organiser
    found = await organiser.access.ListAuditRecords(request, metadata=organiser.metadata)
    assert [record.detail for record in found.records] == ["undone", ""]  # The newest first.


async def test_a_caller_that_watches_a_submission_is_told_of_a_choice(hosted: Hosted) -> None:
    await host(hosted)
    await hosted.red.begin(found("a"))
    before, after = await hosted.red.told("one", hosted.red.choose())
    assert (before.chosen, after.chosen) == (False, True)
    assert after.revision == before.revision + 1


async def test_a_draft_cannot_be_chosen(hosted: Hosted) -> None:
    await host(hosted)
    await hosted.red.submission("one")
    refused = await refusal(hosted.red.choose("one"))
    assert refused.reason == "NOTHING_TO_CHOOSE"
    assert "one is a draft and cannot count" in refused.message


@pytest.mark.slow
async def test_only_as_many_chosen_submissions_count_as_the_final_policy_allows(
    hosted: Hosted,
) -> None:
    """Of the chosen one and two, the better one by the public part; three is worse."""
    await host(hosted)
    for name, hits in (("one", "ab"), ("two", "ac"), ("three", "cd")):
        await submit(hosted.red, name, hits)
    for name in ("two", "one"):
        await hosted.red.choose(name)
    await hosted.organiser.update(closing(hosted, final_submissions=1), "policy")
    hosted.clock.pass_by(hours=1)
    assert await board(hosted.red) == [(1, "red", 0.0)]
    told = [score for name in ("one", "two") for score in await hosted.red.scores(name)]
    assert [score.HasField("private_report") for score in told] == [True, False]


@pytest.mark.slow
async def test_without_a_choice_the_best_public_submissions_of_a_team_count(hosted: Hosted) -> None:
    """By the public part: one 1.0, two 2/3, three 0; three would be the best private one."""
    await host(hosted)
    for name, hits in (("one", "ab"), ("two", "ac"), ("three", "cd")):
        await submit(hosted.red, name, hits)
    await hosted.red.choose("three")
    assert not (await hosted.red.choose("three", undo=True)).chosen
    hosted.clock.pass_by(hours=1)
    assert await board(hosted.viewer) == [(1, "red", 2 / 3)]


async def test_the_policy_says_how_many_may_be_chosen(hosted: Hosted) -> None:
    await host(hosted, final_submissions=1)
    for name, hits in (("one", "ab"), ("two", "ac")):
        await submit(hosted.red, name, hits)
    await hosted.red.choose("two")
    assert (await refusal(hosted.red.choose("one"))).metadata["maximum"] == "1"
    await hosted.blue.submit(found("c"), "of-blue")
    await hosted.blue.choose("of-blue")


async def test_a_submission_that_cannot_count_cannot_be_chosen(hosted: Hosted) -> None:
    await host(hosted)
    await hosted.red.submission("draft")
    assert (await refusal(hosted.red.choose("draft"))).reason == "NOTHING_TO_CHOOSE"
    await hosted.red.begin(found("a"), "given-up")
    await hosted.red.cancel("given-up")
    assert (await refusal(hosted.red.choose("given-up"))).reason == "NOTHING_TO_CHOOSE"
    await submit(hosted.red, "late", "a")
    hosted.clock.pass_by(hours=1)
    assert (await refusal(hosted.red.choose("late"))).reason == "BENCHMARK_NOT_OPEN"


async def test_without_private_sequences_there_is_nothing_to_choose(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(found(NAMES))
    await submit(hosted.red, "one", "a")
    assert (await refusal(hosted.red.choose())).reason == "NOTHING_TO_CHOOSE"


async def test_after_the_closing_differences_of_the_board_cover_its_private_part(
    hosted: Hosted,
) -> None:
    """New truth has nothing in d, a private sequence: blue's second detection is a false positive.

    Two of red's submissions count, by the public part; x, which would be first, has no rank.
    """
    await host(hosted, visibility=LIVE, rescore=benchmark_pb2.RESCORE_REVIEW)
    for name, hits in (("r", "ab"), ("s", "ab"), ("x", "cd")):
        await submit(hosted.red, name, hits)
    await submit(hosted.blue, "b", "cd")
    hosted.clock.pass_by(hours=2)
    await hosted.organiser.upload(found("abc"))
    await rescored(hosted.organiser)
    differences = [
        (one.submission[-1], one.before, one.after, one.rank_before, one.rank_after)
        for one in (await publish(hosted.organiser, validate_only=True)).differences
        if one.measure == "f1"
    ]
    assert differences == [("b", 1.0, 2 / 3, 1, 1), ("x", 1.0, 2 / 3, 0, 0)]
    await publish(hosted.organiser)
    board = await hosted.viewer.board()
    assert [(row.rank, row.team, row.scores[0].value) for row in board.rows] == [
        (1, "blue", 2 / 3),
        (2, "red", 0.0),
    ]
