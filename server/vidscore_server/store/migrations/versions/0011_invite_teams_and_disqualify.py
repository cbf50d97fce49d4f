"""Invite teams, disqualify submissions, and count the contents of revisions of the truth."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Go forward."""
    for name in ("object_count", "sequence_count", "label_count"):
        op.add_column("truth_revisions", sa.Column(name, sa.BigInteger()))
    op.add_column(
        "submissions",
        sa.Column("disqualification", sa.Text(), nullable=False, server_default=""),
    )
    op.create_table(
        "invitations",
        sa.Column("invitation", _NAME, nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("team", _NAME, nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("create_time", sa.BigInteger(), nullable=False),
        sa.Column("expire_time", sa.BigInteger(), nullable=False),
        sa.Column("token_lifetime_s", sa.BigInteger()),
        sa.Column("accept_time", sa.BigInteger()),
        sa.Column("revoke_time", sa.BigInteger()),
        sa.Column("token", _NAME, nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("invitation", name=op.f("pk_invitations")),
    )
