"""Store the tiers of boards, and the scores on draws of sequences that they depend on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "score_draws",
        sa.Column("submission_id", _KEY, nullable=False),
        sa.Column("evaluator", _NAME, nullable=False),
        sa.Column("truth_revision", sa.BigInteger(), nullable=False),
        sa.Column("configuration", _NAME, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_score_draws_submission_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", "evaluator", name=op.f("pk_score_draws")),
    )
    op.create_table(
        "tiers",
        sa.Column("benchmark_id", _KEY, nullable=False),
        sa.Column("evaluator", _NAME, nullable=False),
        sa.Column("truth_revision", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("exact", sa.Boolean(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"],
            ["benchmarks.id"],
            name=op.f("fk_tiers_benchmark_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "benchmark_id", "evaluator", "truth_revision", "exact", name=op.f("pk_tiers")
        ),
    )
