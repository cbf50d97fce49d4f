"""Record which scores had outcomes shown to their team."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.add_column(
        "scores",
        sa.Column("outcomes_shown", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
