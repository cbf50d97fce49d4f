"""Pages of organisers; they use only calls that refuse everybody else."""

from vidscore_server.web.site.organise import (
    about,
    audit,
    benchmark,
    create,
    overview,
    policy,
    times,
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
    about,
    times,
    work,
    trust,
    tokens,
    audit,
)
"""Modules with pages."""
