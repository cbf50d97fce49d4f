"""Find the audit records of a resource without reading all of them."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_index(op.f("ix_audit_resource_number"), "audit", ["resource", "number"])
