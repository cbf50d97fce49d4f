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
    work,
)

PAGES = (
    overview,
    create,
    benchmark,
    truth,
    policy,
    work,
    trust,
    tokens,
    audit,
)
"""Modules with pages."""
