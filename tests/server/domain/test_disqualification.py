"""Disqualified submissions: removed from every ranking, with the reason, and reinstated."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, refusal
from tests.server.domain.test_backups import dumped, export, made
from tests.server.scene import points
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import access_service_pb2, benchmark_pb2, submission_service_pb2
from vidscore_server.domain.administration import restore
from vidscore_server.domain.trust import may_rank
from vidscore_server.store.backup_file import read_rows

ONE, TWO = (f"{BENCHMARK}/submissions/{name}" for name in ("one", "two"))
HALF = points({1: [(10.0, 20.0)], 2: [], 3: [], 4: [], 5: []})


async def disqualify(hosted: Hosted, name: str, reason: str = "a hand-made file") -> str:
    """Disqualify a submission; returns its reason afterwards."""
    request = submission_service_pb2.DisqualifySubmissionRequest(name=name, reason=reason)
    organiser = hosted.organiser
    answer = await organiser.submissions.DisqualifySubmission(request, metadata=organiser.metadata)
    return answer.submission.disqualification


async def reinstate(hosted: Hosted, name: str) -> str:
    """Reinstate a submission; returns its reason afterwards."""
    request = submission_service_pb2.ReinstateSubmissionRequest(name=name)
    organiser = hosted.organiser
    answer = await organiser.submissions.ReinstateSubmission(request, metadata=organiser.metadata)
    return answer.submission.disqualification


async def _rows(hosted: Hosted) -> list[tuple[str, int, str]]:
    board = await hosted.red.board()
    assert not any(row.apart for row in board.rows)
    return [(row.title, row.rank, row.disqualification) for row in board.rows]


async def _contest(hosted: Hosted, visibility: benchmark_pb2.Visibility) -> None:
    """Two submissions of red's, the second fully right, and one of blue's that is half right."""
    await hosted.organiser.create_benchmark(visibility=visibility)
    await hosted.organiser.upload(TRUTH)
    for client, name, batch in (
        (hosted.red, "one", HALF),
        (hosted.red, "two", TRUTH),
        (hosted.blue, "three", HALF),
    ):
        await client.submit(batch, name)
        await client.ended(name)
        hosted.clock.pass_by(seconds=1)


@pytest.mark.parametrize("visibility", ["FINAL", "LIVE", "LADDER", "BOOTSTRAP"])
async def test_a_team_falls_back_to_its_next_best_submission(
    hosted: Hosted, visibility: str
) -> None:
    await _contest(hosted, getattr(benchmark_pb2, f"VISIBILITY_{visibility}"))
    assert await _rows(hosted) == [("Two", 1, ""), ("Three", 2, "")]
    assert await disqualify(hosted, TWO) == "a hand-made file"
    assert await _rows(hosted) == [
        ("One", 1, ""),
        ("Three", 1, ""),
        ("Two", 0, "a hand-made file"),
    ]
    assert await reinstate(hosted, TWO) == ""
    assert await _rows(hosted) == [("Two", 1, ""), ("Three", 2, "")]


@pytest.mark.parametrize("visibility", ["LADDER", "BOOTSTRAP"])
async def test_under_ladder_a_disqualified_score_does_not_block_later_ones(
    hosted: Hosted, visibility: str
) -> None:
    """Red's half score is not released after its full score; without the full one it is."""
    shown = getattr(benchmark_pb2, f"VISIBILITY_{visibility}")
    await hosted.organiser.create_benchmark(visibility=shown)
    await hosted.organiser.upload(TRUTH)
    for name, batch in (("one", TRUTH), ("two", HALF)):
        await hosted.red.submit(batch, name)
        await hosted.red.ended(name)
        hosted.clock.pass_by(seconds=1)
    assert await _rows(hosted) == [("One", 1, "")]
    await disqualify(hosted, ONE)
    assert (await _rows(hosted))[0] == ("Two", 1, "")


async def test_the_team_and_the_audit_record_have_the_reason(hosted: Hosted) -> None:
    await _contest(hosted, benchmark_pb2.VISIBILITY_FINAL)
    before = await hosted.red.get("two")
    await disqualify(hosted, TWO, "first")
    await disqualify(hosted, TWO, "second")
    after = await hosted.red.get("two")
    assert (after.disqualification, after.state) == ("second", before.state)
    assert after.revision == before.revision + 2
    assert await hosted.red.scores("two")
    await reinstate(hosted, TWO)
    assert await _audited(hosted, "DisqualifySubmission") == [(TWO, "second"), (TWO, "first")]
    assert await _audited(hosted, "ReinstateSubmission") == [(TWO, "")]


async def test_a_caller_that_watches_a_submission_is_told_of_its_disqualification(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(HALF)
    before, after = await hosted.red.told("one", disqualify(hosted, ONE, "It had help."))
    assert (before.disqualification, after.disqualification) == ("", "It had help.")
    assert after.revision == before.revision + 1


async def _audited(hosted: Hosted, action: str) -> list[tuple[str, str]]:
    """Resources and details of an action's audit records, newest first."""
    request = access_service_pb2.ListAuditRecordsRequest(action=action)
    organiser = hosted.organiser
    answer = await organiser.access.ListAuditRecords(request, metadata=organiser.metadata)
    return [(record.resource, record.detail) for record in answer.records]


@pytest.mark.parametrize("reason", ["", " ", "two\nlines", "x" * 1001])
async def test_a_reason_must_be_one_line_of_printable_text(hosted: Hosted, reason: str) -> None:
    await _contest(hosted, benchmark_pb2.VISIBILITY_FINAL)
    assert (await refusal(disqualify(hosted, TWO, reason))).reason == "INVALID_INPUT"
    assert (await hosted.red.get("two")).disqualification == ""


async def test_an_examination_of_the_ranking_leaves_it_out(hosted: Hosted) -> None:
    await _contest(hosted, benchmark_pb2.VISIBILITY_FINAL)
    await disqualify(hosted, TWO)

    found = await hosted.hosting.context.read(
        lambda reader: [may_rank(reader, "dots", name) for name in ("one", "two", "three", "four")]
    )
    assert found == [True, False, True, False]


@pytest.mark.slow
async def test_under_ladder_its_reason_stays_on_the_board_after_new_truth(hosted: Hosted) -> None:
    """Its score under the new truth releases nothing."""
    await _contest(hosted, benchmark_pb2.VISIBILITY_LADDER)
    await disqualify(hosted, TWO)
    await hosted.organiser.upload(HALF)
    async with asyncio.timeout(TIMEOUT_S):
        board = await hosted.red.board()
        while board.truth_revision != 2:
            board = await hosted.red.board()
    rows = board.rows
    [row] = [row for row in rows if row.disqualification]
    assert (row.title, row.rank, [score.HasField("value") for score in row.scores]) == (
        "Two", 0, [False, False],
    )  # fmt: skip
    assert {row.title for row in rows if row.rank} == {"One", "Three"}


async def test_a_backup_from_before_disqualifications_is_restored_without_any(
    hosted: Hosted, tmp_path: Path
) -> None:
    await _contest(hosted, benchmark_pb2.VISIBILITY_FINAL)
    await disqualify(hosted, TWO)
    later = {"disqualification", "object_count", "sequence_count", "label_count"}
    data = await export(hosted.organiser, BENCHMARK)
    rows = [*read_rows(io.BytesIO(data))]
    assert "a hand-made file" in {row.get("disqualification") for _, row in rows}
    old = [
        (table, {name: value for name, value in row.items() if name not in later})
        for table, row in rows
    ]
    file, location = made(tmp_path, old, schema="0008")
    restore(file, str(location))
    found = dumped(location)
    reasons = {row["disqualification"] for table, row in found if table == "submissions"}
    [revision] = [row for table, row in found if table == "truth_revisions"]
    assert (reasons, revision["object_count"]) == ({""}, None)
