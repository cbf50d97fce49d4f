"""A server without a store never imports what only a store needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import {module}

print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""

STORE_ONLY = {"sqlalchemy", "alembic", "mako", "pygments", "psycopg"}
"""Modules that only a store needs. Mako imports pygments wherever it is installed."""


@pytest.mark.slow
@pytest.mark.parametrize("module", ["application", "start", "workers"])
def test_a_stateless_server_imports_nothing_of_the_store(module: str) -> None:
    command = [sys.executable, "-c", PROGRAM.format(module=f"vidscore_server.{module}")]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "vidscore_server" in found
    assert not STORE_ONLY & set(found)


def test_evaluators_are_not_imported_before_they_are_used() -> None:
    command = [sys.executable, "-c", PROGRAM.format(module="vidscore_server.start")]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert not {"scipy", "shapely"} & set(found)
