"""Count the bytes of each submission's frames."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    count = sa.Column("byte_count", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("submissions", count)
    op.execute(
        "UPDATE submissions SET byte_count = COALESCE((SELECT SUM(LENGTH(b.payload)) "
        "FROM detection_batches b JOIN streams s ON s.id = b.stream_id "
        "WHERE s.submission_id = submissions.id), 0)"
    )
