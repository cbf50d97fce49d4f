"""The one way in which tests report that this machine lacks something."""

from __future__ import annotations

import pytest
from tests.support.requirements import missing


def test_what_is_missing_locally_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIDSCORE_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no database here"):
        missing("no database here")


def test_what_is_missing_in_ci_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDSCORE_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="no database here"):
        missing("no database here")
