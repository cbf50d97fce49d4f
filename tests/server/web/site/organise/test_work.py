"""Pages of organisers: operations, their differences, the queue, trust and backups."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from google.longrunning import operations_pb2
from tests.server.domain.hosted import BENCHMARK, TRUTH
from tests.server.scene import points
from tests.server.store.records import later
from tests.server.web.site.browsing import Browsing, Page
from tests.server.web.site.organise.test_organise import HERE, prepare
from tests.support.waiting import TIMEOUT_S

from vidscore_evaluators.jobs import Job
from vidscore_protos.v1 import benchmark_pb2
from vidscore_server.store import Transaction
from vidscore_server.store.records import OperationRecord
from vidscore_server.web.site.organise.trust import trust_view


async def test_a_rescoring_shows_its_differences(site: Browsing) -> None:
    await prepare(site.hosted)
    page = await site.organiser.get(HERE)
    page = await site.organiser.send(page, f"{HERE}/rescore", comment="once more")
    page = await _ended(site, page)
    assert "2 of 2 submissions are scored again" in page.words
    assert "No score and no rank differs." in page.words


async def _ended(site: Browsing, page: Page) -> Page:
    """The page of an operation, once it is done."""
    organiser = site.hosted.organiser
    request = operations_pb2.WaitOperationRequest(name=f"operations/{page.path.rpartition('/')[2]}")
    done = await organiser.operations.WaitOperation(request, metadata=organiser.metadata)
    assert done.done
    ended = await site.organiser.get(page.path)
    assert "hx-trigger" not in ended.text
    return ended


async def test_an_operation_is_shown_and_cancelled_only_under_its_own_benchmark(
    site: Browsing,
) -> None:
    await prepare(site.hosted)
    await site.hosted.organiser.create_benchmark("other")
    examined = OperationRecord(
        "ranking-1", "ranking", '{"benchmark":"dots"}', later(0), done=True, error="CANCELLED"
    )
    await site.hosted.hosting.context.write(
        lambda transaction: transaction.insert_operation(examined)
    )
    site.hosted.workers.gate.clear()
    page = await site.organiser.get(HERE)
    page = await site.organiser.send(page, f"{HERE}/rescore", comment="held")
    rescoring = page.path.rpartition("/")[2]
    other = "/organise/benchmarks/other"
    form = page.fields("/sign-out")
    for name in (rescoring, "ranking-1"):
        elsewhere = await site.organiser.get(f"{other}/operations/{name}")
        assert elsewhere.status == 404
        assert f"operations/{name} does not belong to benchmarks/other" in elsewhere.words
        refused = await site.organiser.post(f"{other}/operations/{name}/cancel", form)
        assert refused.status == 404
        own = await site.organiser.get(f"{HERE}/operations/{name}")
        assert own.status == 200
        with site.hosted.hosting.context.store.read() as reader:
            record = reader.operation(name)
        assert record is not None
        assert not record.cancel_requested
    site.hosted.workers.gate.set()
    page = await _ended(site, page)
    assert "2 of 2 submissions are scored again" in page.words


async def test_new_scores_are_published_after_a_review(site: Browsing) -> None:
    await prepare(site.hosted, rescore=benchmark_pb2.RESCORE_REVIEW)
    await site.hosted.organiser.upload(points({1: [(300.0, 200.0)], 2: [], 3: [], 4: [], 5: []}))
    page = await site.organiser.get(HERE)
    async with asyncio.timeout(TIMEOUT_S):
        while "Publish the new scores" not in page.words:
            page = await site.organiser.get(HERE)
    assert "What would change on the board" in page.words
    page = await site.organiser.send(page, f"{HERE}/publish")
    assert "Nothing waits" in page.words
    assert "Board revision 2" in page.words


@pytest.mark.slow
async def test_trust_is_examined_and_shown_as_tables_and_pictures(site: Browsing) -> None:
    await prepare(site.hosted)
    page = await site.organiser.get(f"{HERE}/trust")
    wrong = await site.organiser.send(page, f"{HERE}/trust", draws="many")
    assert wrong.status == 400
    assert 'id="draws-fault-1"' in wrong.text
    page = await site.organiser.send(page, f"{HERE}/trust", draws="20", trials="2", seed="1")
    page = await _ended(site, page)
    assert "spotgeo" in page.words
    assert 'class="wh"' in page.text


async def test_only_the_newest_examinations_of_a_benchmark_are_listed(site: Browsing) -> None:
    """Operations are sorted by their names, which are random."""
    await prepare(site.hosted)
    kept = [
        OperationRecord(
            f"ranking-{row:03}", "ranking", '{"benchmark":"dots"}', later(row), done=True
        )
        for row in range(101)
    ]
    of_another = '{"benchmark":"other"}'
    kept.append(OperationRecord("ranking-999", "ranking", of_another, later(300), done=True))
    kept.append(
        OperationRecord("criterion-1", "criterion", "{}", later(200), done=True, result="{}")
    )

    def keep(transaction: Transaction) -> None:
        for record in kept:
            transaction.insert_operation(record)

    await site.hosted.hosting.context.write(keep)
    page = await site.organiser.get(f"{HERE}/trust")
    listed = re.findall(r"operations/([a-z]+-[0-9]+)", page.text)
    assert listed == [f"ranking-{row:03}" for row in range(100, 0, -1)]
    test = await site.organiser.get(f"{HERE}/operations/criterion-1")
    assert test.status == 404
    assert "tests a criterion and has no page" in test.words


@pytest.mark.slow
async def test_a_benchmarks_backup_is_downloaded(site: Browsing) -> None:
    await prepare(site.hosted)
    answer = await site.organiser.get(f"/organise/backup/{BENCHMARK}.vidscore-backup")
    assert answer.headers["content-disposition"] == 'attachment; filename="dots.vidscore-backup"'
    assert len(answer.body) > 1000
    assert (await site.organiser.get("/organise/backup/benchmarks/x.vidscore-backup")).status == 404


async def test_a_failed_submission_is_listed_with_its_reason_and_retried(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: Job) -> bytes:
        raise RuntimeError("out of order")

    workers = site.hosted.workers
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    working = workers.run
    monkeypatch.setattr(workers, "run", broken)
    await site.hosted.red.submit(TRUTH, "one")
    assert (await site.hosted.red.ended("one")).submission.state_reason == "scoring_failed"
    page = await site.organiser.get("/organise")
    assert "One submission has failed." in page.words
    assert "failed: scoring_failed" in page.words
    monkeypatch.setattr(workers, "run", working)
    page = await site.organiser.send(page, "/organise/retry")
    assert page.path == "/organise"
    assert (await site.hosted.red.ended("one")).submission.state_reason == "scored"
    assert "Try again" not in (await site.organiser.get("/organise")).words


async def test_unfinished_operations_are_listed(site: Browsing) -> None:
    await prepare(site.hosted)
    site.hosted.workers.gate.clear()
    page = await site.organiser.get(HERE)
    await site.organiser.send(page, f"{HERE}/rescore", comment="held")
    words = (await site.organiser.get("/organise")).words
    site.hosted.workers.gate.set()
    assert "Unfinished work" in words
    assert "0 of 2" in words


def test_negative_scores_have_a_minus_sign_and_names_their_hyphens() -> None:
    drawn = {
        "coverage": 0.95,
        "above": [[0.0]],
        "groups": [["-1-a"]],
        "intervals": [
            {
                "system": "-1-a",
                "measure": "mota",
                "domain": None,
                "label": None,
                "low": -0.5,
                "high": -0.125,
            }
        ],
    }
    ranking: dict[str, object] = {
        "evaluator": "clear",
        "parameters": {},
        "scores": {"mota": {"-1-a": -0.25}},
        "ranks": {"-1-a": 1},
        "bootstrap": drawn,
        "sweeps": [],
        "noise": None,
    }
    view = trust_view(json.dumps({"systems": ["-1-a"], "rankings": [ranking]}))
    assert view.tables[0].lines == [
        ("-1-a", "1", "\N{MINUS SIGN}0.2500", "\N{MINUS SIGN}0.5000 to \N{MINUS SIGN}0.1250", "a")
    ]
    [table] = view.whiskers
    assert table.scale == ("\N{MINUS SIGN}0.5", "\N{MINUS SIGN}0.125")
    [row] = table.rows
    assert (row.value, row.interval) == view.tables[0].lines[0][2:4]
