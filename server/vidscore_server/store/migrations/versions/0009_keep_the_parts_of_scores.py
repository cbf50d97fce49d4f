"""Keep scores of public and private sequences apart, estimates, steps, and chosen submissions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    for name in ("public", "private"):
        values = sa.Column(f"{name}_values", sa.Text(), nullable=False, server_default="")
        op.add_column("scores", values)
        op.add_column("scores", sa.Column(f"{name}_report", sa.LargeBinary()))
    estimate = sa.Column("estimate", sa.Text(), nullable=False, server_default="")
    op.add_column("scores", estimate)
    op.add_column(
        "scores",
        sa.Column("released_step", sa.Double(), nullable=False, server_default="0"),
    )
    op.add_column(
        "submissions",
        sa.Column("chosen", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
