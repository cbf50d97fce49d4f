"""This version reads stores, backups and reports of earlier versions; see `write_golden`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.report import Report, report_from_dict, report_to_json
from vidscore_server.api.batches import read_stored_batches
from vidscore_server.domain.administration import restore
from vidscore_server.domain.batches import unpacked
from vidscore_server.domain.benchmarks import from_json
from vidscore_server.domain.scores import unpack_report
from vidscore_server.store import SqlStore, open_store
from vidscore_server.store.backup_file import check_backup
from vidscore_server.store.dump import table_digests
from vidscore_server.store.records import SubmissionState

GOLDEN = Path(__file__).parents[2] / "golden" / "stores"
VERSIONS = sorted(path.name for path in GOLDEN.iterdir())

pytestmark = pytest.mark.parametrize("version", VERSIONS)


@pytest.fixture
def store(version: str, tmp_path: Path) -> Iterator[SqlStore]:
    """The store of an earlier version, opened by this one."""
    path = tmp_path / "store.db"
    path.write_bytes(gzip.decompress((GOLDEN / version / "store.db.gz").read_bytes()))
    opened = open_store(str(path), must_exist=True)
    yield opened
    opened.close()


@pytest.fixture
def restored(version: str, tmp_path: Path) -> Iterator[SqlStore]:
    """A store made from the backup of an earlier version."""
    path = tmp_path / "restored.db"
    restore(GOLDEN / version / "site.backup", str(path))
    opened = open_store(str(path), must_exist=True)
    yield opened
    opened.close()


def reports_of(version: str) -> list[dict[str, Any]]:
    """The first submission's reports, as `vidscore score` wrote them."""
    documents = json.loads(gzip.decompress((GOLDEN / version / "report.json.gz").read_bytes()))
    assert isinstance(documents, list)
    return documents


def stored_reports(store: SqlStore) -> dict[str, Report]:
    """The first submission's reports by their evaluator."""
    with store.read() as reader:
        scores = reader.scores("streets", "first", None, 10)
    return {score.evaluator: unpack_report(score) for score in scores}


def test_a_store_opens_with_all_its_records(store: SqlStore) -> None:
    with store.read() as reader:
        benchmark = reader.benchmark("streets")
        assert benchmark is not None
        definition = from_json(benchmark.definition)
        submissions = {
            record.submission: record for record in reader.submissions("streets", None, None, 10)
        }
        tokens = reader.tokens(None, 10)
        actions = [record.action for record in reader.audit_records(None, 50)]
    assert [evaluator.name for evaluator in definition.specification.evaluators] == [
        "f1", "map", "clear",
    ]  # fmt: skip
    assert {name: record.state for name, record in submissions.items()} == {
        "first": SubmissionState.SCORED,
        "second": SubmissionState.SCORED,
        "third": SubmissionState.RECEIVING,
    }
    assert sorted(token.team for token in tokens) == ["", "falcon"]
    assert len(actions) == 18
    assert {"CreateBenchmark", "UploadTruth", "CreateToken", "scored"} <= set(actions)


def test_truth_and_detections_have_their_stored_digests(store: SqlStore) -> None:
    with store.read() as reader:
        revision = reader.truth_revision("streets", 1)
        payloads = reader.truth_payloads("streets", 1)
        truth = read_stored_batches(unpacked((payload, None) for payload in payloads), 4)
        batches = {
            name: list(unpacked(reader.detection_payloads("streets", name)))
            for name in ("first", "second", "third")
        }
    assert revision is not None
    assert str(fingerprint(truth)) == revision.digest
    assert (truth.frame_count, truth.labels) == (2, ("car", "bus"))
    assert all(batches.values())
    assert batches["second"] == batches["third"]


def test_a_backup_restores_to_the_rows_of_its_store(
    version: str, store: SqlStore, restored: SqlStore
) -> None:
    with (GOLDEN / version / "site.backup").open("rb") as file:
        assert check_backup(file).version == version
    with store.read() as reader:
        expected = table_digests(reader.dump(None))
    with restored.read() as reader:
        found = table_digests(reader.dump(None))
    # The server wrote a heartbeat and the audit record of the backup afterwards.
    differing = {name for name in expected if expected[name] != found[name]}
    assert differing <= {"site", "audit"}
    assert stored_reports(restored) == stored_reports(store)


def test_stored_reports_are_those_of_the_library(version: str, store: SqlStore) -> None:
    stored = stored_reports(store)
    expected = {document["evaluator"]: document for document in reports_of(version)}
    assert stored.keys() == expected.keys()
    for evaluator, report in stored.items():
        wanted = report_from_dict(expected[evaluator])
        assert report.rows() == wanted.rows()
        assert report.curves == wanted.curves
        assert (report.truth_digest, report.detections_digest) == (
            wanted.truth_digest,
            wanted.detections_digest,
        )


def test_reports_are_read_whole(version: str) -> None:
    for document in reports_of(version):
        again = json.loads(report_to_json(report_from_dict(document)))
        assert renamed(again) == renamed(document)


def test_a_report_accepts_either_key_for_labels(version: str) -> None:
    for document in reports_of(version):
        assert report_from_dict(renamed(document)) == report_from_dict(document)


def renamed(document: dict[str, Any]) -> dict[str, Any]:
    """The report with ``label`` for the older key ``class``."""
    return document | {
        part: [
            {("label" if key == "class" else key): value for key, value in entry.items()}
            for entry in document[part]
        ]
        for part in ("scores", "curves")
    }
