"""Observe tests: which lines each one runs, and whether one has failed."""

from __future__ import annotations

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest


class Failures:
    """Records failed tests.

    Attributes:
        names: The failed tests, in order.
    """

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a failure of the test or of a fixture."""
        if report.failed:
            self.names.append(report.nodeid)


class Observer:
    """Records which lines of a file each test runs, in any thread, and the time of the test.

    Args:
        path: The file.

    Attributes:
        lines: Lines of the file by test.
        seconds: Time of each test.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._test = ""
        self.lines: defaultdict[str, set[int]] = defaultdict(set)
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record one test with its setup."""
        self._test = item.nodeid
        began_s = time.monotonic()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.seconds[item.nodeid] = time.monotonic() - began_s

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG002 - as Python calls it
        return self._line if frame.f_code.co_filename == self._path else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG002 - the same
        if event == "line":
            self.lines[self._test].add(frame.f_lineno)
        return self._line
