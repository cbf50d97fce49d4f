"""Short names of resources: `streets/v1` for `benchmarks/streets/submissions/v1`."""

from __future__ import annotations

import re

_FULL = re.compile(
    r"\bbenchmarks/(?P<benchmark>[a-z][a-z0-9-]*)"
    r"(?:/submissions/(?P<submission>[a-z][a-z0-9-]*)(?:/streams/(?P<stream>[a-z][a-z0-9-]*))?)?"
)


def short_names(text: str) -> str:
    """A text in which every full name of a benchmark, submission or stream is a short one."""
    return _FULL.sub(lambda found: "/".join(filter(None, found.groups())), text)


def within(benchmark: str, submission: str) -> str:
    """A submission of a benchmark as the SDK takes it, of which the last part alone is enough."""
    if "/" in submission:
        return short_names(submission)
    return f"{short_names(benchmark)}/{submission}"
