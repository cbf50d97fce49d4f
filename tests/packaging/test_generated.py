"""The committed protocol code loads on whatever releases are installed, the lowest included."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import vidscore.v1

MODULES = sorted(
    module.name for module in pkgutil.iter_modules(vidscore.v1.__path__, "vidscore.v1.")
)


def test_there_is_generated_code() -> None:
    assert MODULES


@pytest.mark.parametrize("name", MODULES)
def test_a_generated_module_loads(name: str) -> None:
    importlib.import_module(name)
