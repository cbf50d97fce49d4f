"""Every schema of a release is upgraded, with its data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, text

from vidscore_server.domain.basis import Basis, shown_basis
from vidscore_server.store import Reader, open_store
from vidscore_server.store.errors import StoreError
from vidscore_server.store.migrations import migration_config, upgrade
from vidscore_server.store.tables import metadata

REVISIONS = tuple(f"{number:04}" for number in range(1, 15))
"""Every revision but the newest; a new revision adds the one before it."""

FIRST_ROWS = (
    "INSERT INTO benchmarks VALUES (7, 'b', '{{}}', NULL, 5, 1, 2, 3, 1)",
    "INSERT INTO truth_revisions VALUES (8, 7, 1, 'digest', 1, 2, true, 'first')",
    "INSERT INTO truth_batches VALUES (8, 0, {payload})",
    "INSERT INTO submissions VALUES (9, 7, 's', 'red', '', 'open', '', '', 1, 1, 1, NULL, 2, 4, 0)",
    "INSERT INTO streams VALUES (3, 9, 'default', 2, 2)",
    "INSERT INTO detection_batches VALUES (3, 0, 2, {payload}, {payload})",
    "INSERT INTO sequences VALUES (4, 9, 'd', 'q')",
    "INSERT INTO frames VALUES (4, 1)",
    "INSERT INTO frames VALUES (4, 2)",
    "INSERT INTO operations VALUES ('o', 'rescore', '{{}}', 1, '{{}}', false, false, NULL, NULL)",
    "INSERT INTO responses VALUES ('t', 'id', 'digest', {payload}, 1)",
    "INSERT INTO submissions VALUES (10, 7, 'u', 'blue', '', 'scored', '', '', 1, 1, 1, 2, 2, 4,0)",
    "INSERT INTO scores VALUES (10, 1, 'f1', 1, false, 1, 'f1 1 a', '{{}}', '{{}}', {payload})",
    "INSERT INTO scores VALUES (10, 2, 'f1', 2, false, 2, 'f1 1 b', '{{}}', '{{}}', {payload})",
    "INSERT INTO scores VALUES (10, 3, 'map', 2, false, 3, 'map 1 a', '{{}}', '', {payload})",
    "INSERT INTO scores VALUES (10, 4, 'f1', 1, false, 4, 'f1 1 a', '{{}}', '{{}}', {payload})",
)
"""Rows of a store of the first schema; the two databases write bytes differently."""

Database = tuple[str, Engine]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The address of a new database, and connections to it."""
    with ExitStack() as ending:
        if request.param == "sqlite":
            location = str(tmp_path / "store.db")
            engine = create_engine(f"sqlite:///{location}")
        else:
            location = request.getfixturevalue("cluster").database()
            engine = create_engine(
                "postgresql+psycopg://", creator=partial(psycopg.connect, location)
            )
        ending.callback(engine.dispose)
        yield location, engine


def test_every_revision_but_the_newest_is_tested() -> None:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        scripts = ScriptDirectory.from_config(migration_config(connection))
    engine.dispose()
    known = sorted(script.revision for script in scripts.walk_revisions())
    assert tuple(known[:-1]) == REVISIONS


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_store_of_any_revision_is_opened_with_all_its_data(
    database: Database, revision: str
) -> None:
    location, engine = database
    payload = f"CAST('payload' AS {'BLOB' if engine.name == 'sqlite' else 'BYTEA'})"
    with engine.begin() as connection:
        upgrade(connection, "0001")
        for row in FIRST_ROWS:
            connection.execute(text(row.format(payload=payload)))
        upgrade(connection, revision)
    with closing(open_store(location)) as store, store.read() as reader:
        point = reader.append_points("b", "s", ["default"])
        assert point is not None
        assert (point[0].frame_count, point[0].revision, point[0].warnings) == (2, 4, "")
        assert not point[0].score_shown
        assert point[0].byte_count == len(b"payload")
        stream = point[1]["default"]
        assert (stream.epoch, stream.next_offset) == (2, 2)
        assert list(reader.truth_payloads("b", 1)) == [b"payload"]
        assert [kept for kept, _ in reader.detection_payloads("b", "s")] == [b"payload"]
        batch = reader.batch_at("b", "s", "default", 1)
        assert batch is not None
        assert batch.arrival_time is None
        assert [o.operation for o in reader.unfinished_operations()] == ["o"]
        assert reader.response("t", "id") == ("digest", b"payload")
        assert reader.leases() == []
        _check_board(reader)


def _check_board(reader: Reader) -> None:
    """The board is that of the newest truth among the scores, and all of them are published."""
    benchmark = reader.benchmark("b")
    assert benchmark is not None
    assert shown_basis(benchmark) == Basis(2, {"f1": "f1 1 b", "map": "map 1 a"})
    published = reader.scores("b", "u", None, 9, published_only=True)
    assert [score.number for score in published] == [4, 3, 2, 1]
    assert not any(score.outcomes_shown for score in published)
    assert {
        (score.public_values, score.private_report, score.estimate, score.released_step)
        for score in published
    } == {("", None, "", 0.0)}
    assert reader.chosen_submissions("b", "blue") == []


def test_the_migrations_create_the_declared_tables(database: Database) -> None:
    location, engine = database
    open_store(location).close()
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_schema_of_a_newer_version_is_refused(database: Database) -> None:
    location, engine = database
    open_store(location).close()
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="9999"):
        open_store(location)
