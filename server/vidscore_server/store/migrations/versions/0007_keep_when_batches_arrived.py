"""Store when each batch of detections arrived; unknown for existing batches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.add_column("detection_batches", sa.Column("arrival_time", sa.BigInteger()))
