"""Store the source positions of the writers of streams; unknown for older streams."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    position = sa.Column("source_position", sa.Text(), nullable=False, server_default="")
    op.add_column("streams", position)
