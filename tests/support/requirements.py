"""How a test reports that this machine lacks something it needs."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it if nothing may be missing (VIDSCORE_REQUIRE_ALL=1)."""
    if os.environ.get("VIDSCORE_REQUIRE_ALL") == "1":
        pytest.fail(f"required here: {reason}", pytrace=False)
    pytest.skip(reason)
