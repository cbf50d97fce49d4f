"""The committed protocol code loads with the installed releases, including the lowest."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

from vidscore_protos import v1

MODULES = sorted(module.name for module in pkgutil.iter_modules(v1.__path__))


def test_there_is_generated_code() -> None:
    assert MODULES


@pytest.mark.parametrize("name", MODULES)
def test_a_generated_module_loads(name: str) -> None:
    module = importlib.import_module(f"{v1.__name__}.{name}")
    assert module.__name__ == f"vidscore_protos.v1.{name}"


@pytest.mark.parametrize("form", ["import {0}.{1} as found", "from {0} import {1} as found"])
def test_the_former_name_gives_the_same_modules_and_a_warning(form: str) -> None:
    """In its own process, because a warning is shown once."""
    former, name = "vidscore.v1", MODULES[0]
    program = "\n".join(
        [
            form.format(former, name),
            f"from {v1.__name__} import {name} as wanted",
            "assert found is wanted",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-W", "always::DeprecationWarning:__main__", "-c", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"DeprecationWarning: {former} is now {v1.__name__}" in done.stderr
