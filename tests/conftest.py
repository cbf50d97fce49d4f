"""What every test of the suite gets."""

from __future__ import annotations

import gc
import os
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
"""Examples of a property that has no number of its own."""

NIGHTLY_EXAMPLES = 1000
"""The same in `make test-nightly`; those with a number of their own get ten times as many."""

# A distribution of its own, whose tests are run by tests/evaluators/test_registry.py.
collect_ignore = ["plugin"]

# A shell starts what runs in its background with Ctrl-C ignored, and every process that it starts
# inherits that; the tests of interrupts must see what a terminal would give them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector off what collecting makes, which stays until the end.

    It would go through ten thousand tests again and again: a quarter of the suite's time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules without a slow test alone where only those run.

    Each process loads what it collects, and four modules of five have none.
    """
    if not config.option.markexpr.startswith("slow and ") or collection_path.suffix != ".py":
        return None
    return "mark.slow" not in collection_path.read_text(encoding="utf-8") or None


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """What forks servers off for tests that start many, which costs a tenth of starting them."""
    with Nursery() as own:
        yield own


# No deadline: a busy machine is not a bug. In CI the examples are the same in every run, so that
# a failure there is about the change, and one at a desk has found something new.
settings.register_profile("desk", deadline=None, max_examples=GATE_EXAMPLES)
settings.register_profile(
    "ci", deadline=None, max_examples=GATE_EXAMPLES, derandomize=True, print_blob=True
)
settings.register_profile("nightly", deadline=None, max_examples=NIGHTLY_EXAMPLES, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")
