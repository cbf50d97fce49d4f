"""Fixtures and settings of the whole suite."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from tests.crash.nursery import Nursery
from tests.support.plugin import built_plugin, counting_plugin
from tests.support.postgresql import cluster, database

__all__ = ["built_plugin", "cluster", "counting_plugin", "database"]

GATE_EXAMPLES = 40
"""Number of examples of a property that sets no number of its own."""

NIGHTLY_EXAMPLES = 1000
"""The same in `make test-nightly`. A property that sets its own number gets ten times as many."""

LEFT_OUT = re.compile(
    r"^pytestmark = pytest\.mark\.(?:slow|nightly|campaign|lowest)$", re.MULTILINE
)
"""Marks a module of which the default suite has no test."""

# A separate distribution. tests/evaluators/test_registry.py runs its tests.
collect_ignore = ["plugin"]

# A shell starts background jobs with Ctrl-C ignored, `nohup` starts commands with the end of a
# terminal ignored, and child processes inherit both. Tests need the signal handling of a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude objects created by collection from garbage collection; they live until the end.

    Otherwise each collection scans ten thousand tests, which takes a quarter of the suite's time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip modules of which no test runs, in the default suite and if only slow tests run.

    Each process imports what it collects, and four of five modules have no slow test.
    """
    chosen = config.option.markexpr.strip()
    if collection_path.suffix != ".py" or not chosen.startswith(("slow and ", "not slow and ")):
        return None
    text = collection_path.read_text(encoding="utf-8")
    if chosen.startswith("slow and "):
        return "mark.slow" not in text or None
    return LEFT_OUT.search(text) is not None or None


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Forks servers for tests that start many, at a tenth of the cost of starting them."""
    with Nursery() as own:
        yield own


# No deadline: a busy machine is not a bug. CI runs the same examples every time, so a failure there
# comes from the change. A failure on a developer's machine is a new finding.
settings.register_profile("desk", deadline=None, max_examples=GATE_EXAMPLES)
settings.register_profile(
    "ci", deadline=None, max_examples=GATE_EXAMPLES, derandomize=True, print_blob=True
)
settings.register_profile("nightly", deadline=None, max_examples=NIGHTLY_EXAMPLES, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")
