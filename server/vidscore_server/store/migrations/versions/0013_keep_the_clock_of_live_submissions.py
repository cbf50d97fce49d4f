"""Store the clock of live submissions: the order of frames given out and answers stored."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "live_clocks",
        sa.Column("submission_id", _KEY, nullable=False),
        sa.Column("schedule", sa.Text(), nullable=False),
        sa.Column("start_time", sa.BigInteger(), nullable=False),
        sa.Column("event_count", sa.BigInteger(), nullable=False),
        sa.Column("last_position", sa.BigInteger(), nullable=False),
        sa.Column("end_event", sa.BigInteger()),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_live_clocks")),
        _of_a_submission("live_clocks"),
    )
    op.create_table(
        "live_frames",
        sa.Column("submission_id", _KEY, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("given_event", sa.BigInteger(), nullable=False),
        sa.Column("given_time", sa.BigInteger(), nullable=False),
        sa.Column("answer_event", sa.BigInteger()),
        sa.Column("answer_time", sa.BigInteger()),
        sa.Column("answer_offset", sa.BigInteger()),
        sa.PrimaryKeyConstraint("submission_id", "position", name=op.f("pk_live_frames")),
        _of_a_submission("live_frames"),
    )


def _of_a_submission(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["submission_id"],
        ["submissions.id"],
        name=op.f(f"fk_{table}_submission_id"),
        ondelete="CASCADE",
    )
