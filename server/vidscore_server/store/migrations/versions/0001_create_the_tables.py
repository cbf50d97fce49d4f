"""Create the tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# SQLite numbers rows by itself only if the key is exactly INTEGER.
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
# Names are sorted by code points on every database, whatever its locale.
_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Go forward."""
    _create_audit()
    _create_benchmarks()
    _create_operations()
    _create_responses()
    _create_site()
    _create_tokens()
    _create_releases()
    _create_submissions()
    _create_truth_revisions()
    _create_scores()
    _create_sequences()
    _create_streams()
    _create_truth_batches()
    _create_detection_batches()
    _create_frames()


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("number", _KEY, nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("actor", _NAME, nullable=False),
        sa.Column("action", _NAME, nullable=False),
        sa.Column("resource", _NAME, nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
        sqlite_autoincrement=True,
    )


def _create_benchmarks() -> None:
    op.create_table(
        "benchmarks",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("benchmark", _NAME, nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("open_time", sa.BigInteger(), nullable=True),
        sa.Column("close_time", sa.BigInteger(), nullable=True),
        sa.Column("create_time", sa.BigInteger(), nullable=False),
        sa.Column("update_time", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("truth_revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_benchmarks")),
        sa.UniqueConstraint("benchmark", name=op.f("uq_benchmarks_benchmark")),
    )


def _create_operations() -> None:
    op.create_table(
        "operations",
        sa.Column("operation", _NAME, nullable=False),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("create_time", sa.BigInteger(), nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("operation", name=op.f("pk_operations")),
    )


def _create_responses() -> None:
    op.create_table(
        "responses",
        sa.Column("caller", _NAME, nullable=False),
        sa.Column("request_id", _NAME, nullable=False),
        sa.Column("digest", _NAME, nullable=False),
        sa.Column("response", sa.LargeBinary(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("caller", "request_id", name=op.f("pk_responses")),
    )
    with op.batch_alter_table("responses", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_responses_time"), ["time"], unique=False)


def _create_site() -> None:
    op.create_table(
        "site",
        sa.Column("name", _NAME, nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_site")),
    )


def _create_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("token", _NAME, nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("role", _NAME, nullable=False),
        sa.Column("team", _NAME, nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("create_time", sa.BigInteger(), nullable=False),
        sa.Column("expire_time", sa.BigInteger(), nullable=True),
        sa.Column("revoke_time", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_tokens")),
    )


def _create_releases() -> None:
    op.create_table(
        "releases",
        sa.Column("benchmark_id", _KEY, nullable=False),
        sa.Column("evaluator", _NAME, nullable=False),
        sa.Column("team", _NAME, nullable=False),
        sa.Column("submission", _NAME, nullable=False),
        sa.Column("values", sa.Text(), nullable=False),
        sa.Column("release_time", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"],
            ["benchmarks.id"],
            name=op.f("fk_releases_benchmark_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("benchmark_id", "evaluator", "team", name=op.f("pk_releases")),
    )


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("benchmark_id", _KEY, nullable=False),
        sa.Column("submission", _NAME, nullable=False),
        sa.Column("team", _NAME, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("state", _NAME, nullable=False),
        sa.Column("state_reason", _NAME, nullable=False),
        sa.Column("state_message", sa.Text(), nullable=False),
        sa.Column("state_time", sa.BigInteger(), nullable=False),
        sa.Column("create_time", sa.BigInteger(), nullable=False),
        sa.Column("activity_time", sa.BigInteger(), nullable=False),
        sa.Column("seal_time", sa.BigInteger(), nullable=True),
        sa.Column("frame_count", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"],
            ["benchmarks.id"],
            name=op.f("fk_submissions_benchmark_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sa.UniqueConstraint(
            "benchmark_id", "submission", name=op.f("uq_submissions_benchmark_id_submission")
        ),
    )
    with op.batch_alter_table("submissions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_submissions_benchmark_id_create_time"),
            ["benchmark_id", "create_time"],
            unique=False,
        )
        batch_op.create_index(batch_op.f("ix_submissions_state"), ["state"], unique=False)


def _create_truth_revisions() -> None:
    op.create_table(
        "truth_revisions",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("benchmark_id", _KEY, nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("digest", _NAME, nullable=False),
        sa.Column("create_time", sa.BigInteger(), nullable=False),
        sa.Column("frame_count", sa.BigInteger(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"],
            ["benchmarks.id"],
            name=op.f("fk_truth_revisions_benchmark_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_truth_revisions")),
        sa.UniqueConstraint(
            "benchmark_id", "revision", name=op.f("uq_truth_revisions_benchmark_id_revision")
        ),
    )


def _create_scores() -> None:
    op.create_table(
        "scores",
        sa.Column("submission_id", _KEY, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("evaluator", _NAME, nullable=False),
        sa.Column("truth_revision", sa.BigInteger(), nullable=False),
        sa.Column("partial", sa.Boolean(), nullable=False),
        sa.Column("create_time", sa.BigInteger(), nullable=False),
        sa.Column("configuration", _NAME, nullable=False),
        sa.Column("values", sa.Text(), nullable=False),
        sa.Column("released", sa.Text(), nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_scores_submission_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", "number", name=op.f("pk_scores")),
    )


def _create_sequences() -> None:
    op.create_table(
        "sequences",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("submission_id", _KEY, nullable=False),
        sa.Column("domain", _NAME, nullable=False),
        sa.Column("sequence", _NAME, nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_sequences_submission_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sequences")),
        sa.UniqueConstraint(
            "submission_id",
            "domain",
            "sequence",
            name=op.f("uq_sequences_submission_id_domain_sequence"),
        ),
    )


def _create_streams() -> None:
    op.create_table(
        "streams",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("submission_id", _KEY, nullable=False),
        sa.Column("stream", _NAME, nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("next_offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_streams_submission_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_streams")),
        sa.UniqueConstraint(
            "submission_id", "stream", name=op.f("uq_streams_submission_id_stream")
        ),
    )


def _create_truth_batches() -> None:
    op.create_table(
        "truth_batches",
        sa.Column(
            "truth_revision_id",
            _KEY,
            nullable=False,
        ),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["truth_revision_id"],
            ["truth_revisions.id"],
            name=op.f("fk_truth_batches_truth_revision_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("truth_revision_id", "position", name=op.f("pk_truth_batches")),
    )


def _create_detection_batches() -> None:
    op.create_table(
        "detection_batches",
        sa.Column("stream_id", _KEY, nullable=False),
        sa.Column("first_offset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("frame_count", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stream_id"],
            ["streams.id"],
            name=op.f("fk_detection_batches_stream_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stream_id", "first_offset", name=op.f("pk_detection_batches")),
    )


def _create_frames() -> None:
    op.create_table(
        "frames",
        sa.Column("sequence_id", _KEY, nullable=False),
        sa.Column("frame", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["sequence_id"],
            ["sequences.id"],
            name=op.f("fk_frames_sequence_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("sequence_id", "frame", name=op.f("pk_frames")),
        sqlite_with_rowid=False,
    )
