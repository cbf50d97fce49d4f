"""Index scores by their basis, to find them without reading reports."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    columns = ["submission_id", "evaluator", "truth_revision", "configuration", "number"]
    op.create_index("ix_scores_basis", "scores", columns)
