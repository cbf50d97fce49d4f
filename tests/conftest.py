"""What every test of the suite gets."""

from __future__ import annotations

import os

from hypothesis import settings
from tests.support.plugin import built_plugin, counting_plugin

__all__ = ["built_plugin", "counting_plugin"]

# A distribution of its own, whose tests are run by tests/evaluators/test_plugin.py.
collect_ignore = ["plugin"]

# No deadline: a busy machine is not a bug. In CI the examples are the same in every run, so that
# a failure there is about the change, and one at a desk has found something new.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")
