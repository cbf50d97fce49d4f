"""Store the warnings of a submission."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    warnings = sa.Column("warnings", sa.Text(), nullable=False, server_default="")
    op.add_column("submissions", warnings)
