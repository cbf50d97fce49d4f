"""Lease work, so that several servers over one store share it out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "leases",
        sa.Column("work", _NAME, nullable=False),
        sa.Column("owner", _NAME, nullable=False),
        sa.Column("end_time", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("work", name=op.f("pk_leases")),
    )
