"""Pages of organisers; they use only calls that refuse everybody else."""

from vidscore_server.web.site.organise import (
    audit,
    benchmark,
    create,
    overview,
    policy,
    tokens,
    trust,
    truth,
    updates,
    work,
)

PAGES = (
    overview,
    create,
    benchmark,
    truth,
    policy,
    updates,
    work,
    trust,
    tokens,
    audit,
)
"""Modules with pages."""
