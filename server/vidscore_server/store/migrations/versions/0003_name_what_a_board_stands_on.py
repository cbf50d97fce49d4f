"""Record the basis of the scores on each board; publish existing scores.

Boards used the newest score of each submission. From now on a board has scores of one basis only:
here the one with the newest revision of the truth among them.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_SCORES = """
    SELECT submissions.benchmark_id, scores.evaluator, scores.truth_revision, scores.configuration
    FROM scores JOIN submissions ON submissions.id = scores.submission_id
    ORDER BY scores.truth_revision, scores.create_time
"""


def upgrade() -> None:
    """Go forward."""
    op.add_column("benchmarks", sa.Column("board", sa.Text(), nullable=False, server_default=""))
    op.add_column(
        "scores",
        sa.Column("published", sa.Boolean(), nullable=False, server_default=sa.true()),
    )
    op.create_table(
        "failed_rescorings",
        sa.Column("submission_id", _KEY, nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_failed_rescorings_submission_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_failed_rescorings")),
    )
    connection = op.get_bind()
    boards: dict[int, dict[str, Any]] = {}
    for benchmark_id, evaluator, number, configuration in connection.execute(sa.text(_SCORES)):
        board = boards.setdefault(benchmark_id, {"truth_revision": 0, "configurations": {}})
        if board["truth_revision"] != number:
            board.update(truth_revision=number, configurations={})
        board["configurations"][evaluator] = configuration
    update = sa.text("UPDATE benchmarks SET board = :board WHERE id = :id")
    for benchmark_id, board in boards.items():
        connection.execute(update, {"board": json.dumps(board), "id": benchmark_id})
