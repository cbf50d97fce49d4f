"""A team is deleted from a store that no server uses: nothing of it is left, others keep theirs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.server.domain.hosted import TRUTH, create_token, hosting, refusal
from tests.server.domain.test_scoring import DETECTIONS
from tests.server.scene import points

from vidscore_evaluators.errors import InputError
from vidscore_protos.v1 import access_service_pb2, token_pb2
from vidscore_server.domain.administration import delete_team
from vidscore_server.errors import HasSubmissionsError, NotFoundError
from vidscore_server.store import dump, open_store
from vidscore_server.store.errors import StoreInUseError

WORSE = points({1: [(11.0, 20.0)]})


async def _competition(folder: Path) -> str:
    """Teams falcon and blue with a scored submission each; returns falcon's secret."""
    async with hosting(folder) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH)
        await hosted.organiser.access.CreateInvitations(
            access_service_pb2.CreateInvitationsRequest(teams=["falcon"], comment="the falcons"),
            metadata=hosted.organiser.metadata,
        )
        secret = await create_token(
            hosted.organiser, token_pb2.ROLE_PARTICIPANT, "falcon", comment="the falcons"
        )
        await hosted.client(secret).submit(DETECTIONS, "best")
        await hosted.client(secret).ended("best")
        await hosted.blue.submit(WORSE, "second")
        await hosted.blue.ended("second")
        assert [row.team for row in (await hosted.organiser.board()).rows] == ["falcon", "blue"]
    return secret


def _rows(folder: Path) -> list[tuple[str, dict[str, object]]]:
    with closing(open_store(str(folder / "store.db"))) as store, store.read() as reader:
        return list(dump.dump_rows(reader._connection, None))


async def test_nothing_of_a_deleted_team_is_left_and_others_keep_their_scores(
    tmp_path: Path,
) -> None:
    secret = await _competition(tmp_path)
    before = _rows(tmp_path)
    said = delete_team(str(tmp_path / "store.db"), "falcon", force=True)
    assert said == "1 submission, 1 token, 1 invitation"
    after = _rows(tmp_path)
    assert {name for name, row in before if "falcon" in str(row)} > {"audit"}
    assert {name for name, row in after if "falcon" in str(row)} == {"audit"}
    for table in ("submissions", "scores", "releases", "streams", "detection_batches"):
        counts = [sum(name == table for name, _ in rows) for rows in (before, after)]
        assert counts == [2 * counts[1], counts[1]], table
    async with hosting(tmp_path) as hosted:
        assert [row.team for row in (await hosted.organiser.board()).rows] == ["blue"]
        assert len(await hosted.blue.scores("second")) == 1
        assert (await refusal(hosted.client(secret).board())).reason == "UNAUTHENTICATED"


async def test_the_audit_record_keeps_its_rows_and_says_how_much_was_deleted(
    tmp_path: Path,
) -> None:
    await _competition(tmp_path)
    before = [row for name, row in _rows(tmp_path) if name == "audit"]
    delete_team(str(tmp_path / "store.db"), "falcon", force=True)
    *after, last = [row for name, row in _rows(tmp_path) if name == "audit"]
    assert after == before
    assert (last["actor"], last["action"], last["resource"], last["detail"]) == (
        "server",
        "delete-team",
        "site",
        "1 submission, 1 token, 1 invitation",
    )


async def test_a_team_with_submissions_is_deleted_only_by_force(tmp_path: Path) -> None:
    await _competition(tmp_path)
    before = _rows(tmp_path)
    with pytest.raises(HasSubmissionsError, match="1 submission; --force deletes"):
        delete_team(str(tmp_path / "store.db"), "falcon", force=False)
    assert _rows(tmp_path) == before


async def test_a_team_is_not_deleted_while_a_server_uses_the_store(tmp_path: Path) -> None:
    async with hosting(tmp_path):
        with pytest.raises(StoreInUseError):
            delete_team(str(tmp_path / "store.db"), "red", force=True)


async def test_a_team_that_the_store_does_not_know_is_refused(tmp_path: Path) -> None:
    async with hosting(tmp_path):
        pass
    with pytest.raises(NotFoundError, match="vidscore token list"):
        delete_team(str(tmp_path / "store.db"), "falcno", force=True)
    with pytest.raises(InputError, match="lower-case letters"):
        delete_team(str(tmp_path / "store.db"), "", force=True)
