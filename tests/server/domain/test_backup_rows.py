"""The rows of a backup are checked when it is restored, not when they are read later."""

from __future__ import annotations

import zlib
from pathlib import Path
from random import Random

import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, dots, end_of, refusal
from tests.server.domain.test_backups import SOUND, benchmark_row, dumped, made

from vidscore_evaluators.report import Curve, Report, Scores
from vidscore_protos.v1 import benchmark_service_pb2, organiser_pb2, submission_service_pb2
from vidscore_server.domain.administration import restore
from vidscore_server.domain.backups import check_rows
from vidscore_server.domain.batches import inflate
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.policy import SubmittedNames
from vidscore_server.domain.scores import pack_report, report_of
from vidscore_server.errors import BackupError
from vidscore_server.store.backup_file import read_header
from vidscore_server.store.errors import StoreDamagedError
from vidscore_server.store.records import Row


def submission_row(**changed: object) -> Row:
    values = {
        "id": 5, "benchmark_id": 7, "submission": "s", "team": "red", "title": "",
        "state": "scored", "state_reason": "", "state_message": "", "state_time": 1,
        "create_time": 1, "activity_time": 1, "seal_time": 1, "frame_count": 1, "revision": 1,
        "attempts": 0, "warnings": "", "byte_count": 0, "score_shown": False, "chosen": False,
        "disqualification": "",
    }  # fmt: skip
    return "submissions", {**values, **changed}


def score_row(**changed: object) -> Row:
    values = {
        "submission_id": 5, "number": 1, "evaluator": "spotgeo", "truth_revision": 1,
        "partial": False, "create_time": 1, "configuration": "", "values": "{}", "released": "",
        "report": zlib.compress(b"{}"), "published": True, "outcomes_shown": False,
        "public_values": "", "public_report": None, "private_values": "", "private_report": None,
        "estimate": "", "released_step": 0.0,
    }  # fmt: skip
    return "scores", {**values, **changed}


def draws_row(payload: bytes) -> Row:
    values = {
        "submission_id": 5, "evaluator": "spotgeo", "truth_revision": 1, "configuration": "",
        "payload": payload,
    }  # fmt: skip
    return "score_draws", values


def tiers_row(document: str) -> Row:
    values = {
        "benchmark_id": 7, "evaluator": "spotgeo", "truth_revision": 1, "exact": True,
        "document": document,
    }  # fmt: skip
    return "tiers", values


def compressed_zeros(megabytes: int) -> bytes:
    """A zlib stream of this many zero bytes, made of one compressed block that is repeated."""
    packer, block = zlib.compressobj(), bytes(1 << 20)
    first, other = (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    # Adler-32 of n zero bytes, after a final empty block.
    checksum = (((megabytes << 20) % 65521) << 16) + 1
    return first + other * (megabytes - 1) + b"\x03\x00" + checksum.to_bytes(4, "big")


BOMB = compressed_zeros(300)
"""300 MiB in 0.3 MiB."""

NO_DRAWS = zlib.compress(b'{"sequences": 2, "resamples": 3, "values": {"f1": [0.5, "x"]}}')
NO_TIERS = '{"digest": "x", "sequences": "2", "left_out": 0, "rows": {"a": [1, 0.5]}}'


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([benchmark_row(definition="{")], "benchmarks.definition"),
        ([benchmark_row(definition="[]")], "benchmarks.definition"),
        ([benchmark_row(definition=SOUND, board="[1]")], "benchmarks.board"),
        (
            [benchmark_row(definition=SOUND, board='{"truth_revision": "1", "configurations": 2}')],
            "benchmarks.board",
        ),
        (
            [
                benchmark_row(
                    definition=SOUND, board='{"truth_revision": "1", "configurations": {}}'
                )
            ],
            "benchmarks.board",
        ),
        (
            [
                benchmark_row(
                    definition=SOUND,
                    board='{"truth_revision": 1, "configurations": {"f1": "f1 1", "map": 2}}',
                )
            ],
            "benchmarks.board",
        ),
        ([("truth_batches", {"payload": BOMB})], "truth_batches.payload"),
        ([benchmark_row(definition=SOUND, create_time=1 << 62)], "benchmarks.create_time"),
        ([benchmark_row(definition=SOUND), submission_row(state="lost")], "submissions.state"),
        ([benchmark_row(definition=SOUND), submission_row(submission="A b")], "submissions.sub"),
        (
            [benchmark_row(definition=SOUND), submission_row(), score_row(values='{"f1": "x"}')],
            "scores.values",
        ),
        ([benchmark_row(definition=SOUND), submission_row(), score_row()], "scores.report"),
        (
            [benchmark_row(definition=SOUND), submission_row(), score_row(report=BOMB)],
            "scores.report",
        ),
        ([benchmark_row(definition=SOUND), submission_row(), submission_row()], "a row twice"),
        *(
            ([benchmark_row(definition=SOUND), submission_row(), draws_row(payload)], "score_draws")
            for payload in (b"x", BOMB, zlib.compress(b"[]"), NO_DRAWS)
        ),
        *(
            ([benchmark_row(definition=SOUND), tiers_row(document)], "tiers.document")
            for document in ("[1]", '{"rows": {"a": [1]}}', NO_TIERS)
        ),
    ],
)
def test_rows_that_no_server_writes_make_a_backup_unusable_and_are_not_restored(
    tmp_path: Path, rows: list[Row], place: str
) -> None:
    file, location = made(tmp_path, rows)
    with pytest.raises(BackupError, match=place):
        restore(file, str(location))
    assert [table for table, _ in dumped(location)] == ["site"]


def test_times_of_the_whole_site_are_checked_too(tmp_path: Path) -> None:
    row = {"number": 1, "time": 1 << 62, "actor": "", "action": "", "resource": "", "detail": ""}
    file, location = made(tmp_path, [("audit", row)], benchmark="")
    with pytest.raises(BackupError, match=r"audit\.time"):
        restore(file, str(location))


@pytest.mark.parametrize("noise_megabytes", [0, 2])
def test_a_batch_may_unpack_to_64_mebibytes_or_to_64_times_its_size(
    tmp_path: Path, noise_megabytes: int
) -> None:
    """Zeros alone stay below the first limit, and zeros after noise below the second."""
    zeros = 66 if noise_megabytes else 60
    payload = zlib.compress(Random(0).randbytes(noise_megabytes << 20) + bytes(zeros << 20), 1)
    file, _ = made(tmp_path, [("detection_batches", {"payload": payload})])
    with file.open("rb") as backup:
        header = read_header(backup)
        assert check_rows(backup, header.schema) == header


def test_a_stored_report_is_unpacked_only_to_the_size_limit_of_reports() -> None:
    """16 MiB or 256 times its size, whichever is more: a bomb of 300 MiB is stopped before that."""
    with pytest.raises(StoreDamagedError):
        report_of(BOMB)
    with pytest.raises(StoreDamagedError):
        inflate(zlib.compress(b"four"), 3)
    assert inflate(zlib.compress(b"four"), 4) == b"four"


@pytest.mark.slow
@pytest.mark.parametrize(("curves", "points"), [(5_500, 101), (1, 550_000)])
def test_a_report_is_read_as_it_was_stored_however_well_it_compresses(
    curves: int, points: int
) -> None:
    """Curves of labels without detections are equal: they compress to less than a 64th."""
    zeros = (0.0,) * points
    found = [Curve(f"c{number}", {"recall": zeros, "precision": zeros}) for number in range(curves)]
    report = Report("f1", "1", {}, "", "", Scores((), tuple(found)), software={})
    definition = definition_from_dict({"evaluators": [{"name": "f1"}]})
    packed = pack_report(definition, definition.evaluators[0], report, SubmittedNames(), None)
    assert report_of(packed.report)[0] == report


async def test_a_request_id_belongs_to_its_rpc(hosted: Hosted) -> None:
    """CreateSubmission and RescoreSubmissions of a benchmark alone have the same bytes."""
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    metadata = hosted.organiser.metadata
    created = submission_service_pb2.CreateSubmissionRequest(benchmark=BENCHMARK, request_id="x")
    rescored = organiser_pb2.RescoreSubmissionsRequest(benchmark=BENCHMARK)
    rescored.MergeFromString(created.SerializeToString())
    assert rescored.SerializeToString() == created.SerializeToString()
    await hosted.organiser.submissions.CreateSubmission(created, metadata=metadata)
    refused = await refusal(
        hosted.organiser.benchmarks.RescoreSubmissions(rescored, metadata=metadata)
    )
    assert refused.reason == "REQUEST_ID_REUSED"


async def test_two_benchmarks_with_the_same_truth_do_not_reveal_it(hosted: Hosted) -> None:
    digests = []
    for name in ("dots", "other"):
        await hosted.organiser.create(dots(), name)
        header = organiser_pb2.UploadTruthHeader(benchmark=f"benchmarks/{name}", complete=True)
        requests = [
            organiser_pb2.UploadTruthRequest(header=header),
            organiser_pb2.UploadTruthRequest(truth=TRUTH),
            organiser_pb2.UploadTruthRequest(end=end_of(TRUTH)),
        ]
        uploaded = await hosted.organiser.benchmarks.UploadTruth(
            iter(requests), metadata=hosted.organiser.metadata
        )
        request = benchmark_service_pb2.GetBenchmarkRequest(name=f"benchmarks/{name}")
        found = await hosted.red.benchmarks.GetBenchmark(request, metadata=hosted.red.metadata)
        assert found.benchmark.truth_digest == uploaded.revision.digest
        digests.append(found.benchmark.truth_digest)
    assert len(set(digests)) == 2
