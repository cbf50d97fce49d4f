"""Pages of organisers; each asks only calls that refuse everybody else."""

from vidscore_server.web.site.organise import (
    audit,
    backup,
    benchmark,
    create,
    overview,
    policy,
    submissions,
    tokens,
    trust,
    truth,
    work,
)

PAGES = (
    overview,
    create,
    benchmark,
    truth,
    policy,
    submissions,
    work,
    trust,
    tokens,
    audit,
    backup,
)
"""Modules with pages."""
