"""How a test says that this machine lacks what it needs."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it where everything must be present (VIDSCORE_REQUIRE_ALL=1)."""
    if os.environ.get("VIDSCORE_REQUIRE_ALL") == "1":
        pytest.fail(f"required here: {reason}", pytrace=False)
    pytest.skip(reason)
