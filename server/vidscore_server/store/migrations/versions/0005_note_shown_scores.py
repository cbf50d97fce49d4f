"""Record which submissions had a score shown while they received."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.add_column(
        "submissions",
        sa.Column("score_shown", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
