"""How vidscore is built: hatchling, a requirement that depends on where, and the kernels.

The list of dependencies stands in pyproject.toml under `tool.hatch.metadata.hooks.custom`;
`{client}` in an entry becomes what tells which `vidscore-client` is meant. In a wheel that an
installer makes of a clone, so that `pip install .` needs no package index that has it, that is the
client's folder beside this file. In everything else it is the client of exactly this version: in a
source distribution and the wheels made of one, which are what is published, and in an editable
installation, whose client is installed beside it.
"""

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling import build as backend
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.tags import platform_tags

KERNELS = Path("evaluators", "vidscore_evaluators", "kernels")

# The compiler comes from the package index like any other requirement of the build, so that a
# bare machine needs none. The loops call nothing, not even the C library: one file serves every
# system of a kind of processor. Nothing may change a number: no fused multiplication and addition,
# and no instruction that only this machine has.
COMPILE = (
    *(sys.executable, "-m", "ziglang", "cc"),
    *("-std=c11", "-O2", "-fPIC", "-shared", "-nostdlib", "-ffp-contract=off", "-mcpu=baseline"),
    *("-fno-sanitize=undefined", "-fno-builtin", "-Wl,-z,defs,-s", "-Wall", "-Wextra", "-Werror"),
)

# A wheel with these tags is installed on every Linux of its processor, by either C library.
LINUX_TAGS = ("manylinux_2_17", "musllinux_1_1")


# Hatchling loads this file anew for its hooks, which so learn what the backend is asked for.
AT_INSTALL = "VIDSCORE_WHEEL_AT_INSTALL"


def __getattr__(name: str) -> Any:
    """The functions of a build backend, which are hatchling's."""
    if name.endswith("build_wheel"):
        os.environ[AT_INSTALL] = "1"
    return getattr(backend, name)


class DependenciesHook(MetadataHookInterface):
    """Fills `project.dependencies`, the one field that can't be written down statically."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies; hatchling resolves the version before it calls its hooks."""
        folder = Path(self.root, "clients", "python")
        beside = AT_INSTALL in os.environ and (folder / "pyproject.toml").exists()
        client = f" @ {folder.as_uri()}" if beside else f"=={metadata['version']}"
        metadata["dependencies"] = [
            entry.format(client=client) for entry in self.config["dependencies"]
        ]


class KernelsHook(BuildHookInterface[Any]):
    """Compiles the kernels and names the machines that they run on."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Put the library beside its sources; a wheel takes it from there."""
        if self.target_name != "wheel":
            return
        library = compile_loops(Path(self.root, KERNELS))
        build_data["artifacts"].append(library.relative_to(self.root).as_posix())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platforms()}"


def compile_loops(folder: Path, *arguments: str) -> Path:
    """Compile the C files of a folder into a library there, which appears whole or not at all.

    Args:
        folder: Where they are.
        arguments: What else to tell the compiler.

    Returns:
        The library.
    """
    made_of = runpy.run_path(str(Path(__file__).parent / KERNELS / "_sources.py"))
    sources = [str(path) for path in made_of["sources"](folder) if path.suffix == ".c"]
    digest = f"-DSOURCES_DIGEST={made_of['digest'](folder)}"
    library = Path(folder, made_of["LIBRARY"])
    # A compiler that fails may leave a helper that writes into its cache a little longer.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as elsewhere:
        caches = {f"ZIG_{which}_CACHE_DIR": elsewhere for which in ("GLOBAL", "LOCAL")}
        made = Path(elsewhere, library.name)
        subprocess.run(
            [*COMPILE, *arguments, digest, "-o", str(made), *sources],
            check=True,
            env=os.environ | caches,
        )
        # Beside its place first: only within one file system can a file take another's place.
        beside = library.with_suffix(f".{Path(elsewhere).name}{library.suffix}")
        shutil.copyfile(made, beside)
        beside.replace(library)
    return library


def _platforms() -> str:
    """The machines that the library is for, as the platform part of a wheel's tag."""
    tags = list(platform_tags())
    if not sys.platform.startswith("linux"):
        return tags[0]
    processor = next(tag.removeprefix("linux_") for tag in tags if tag.startswith("linux_"))
    return ".".join(f"{tag}_{processor}" for tag in LINUX_TAGS)


def main() -> None:
    """Compile the kernels of this tree, or of a folder, with further arguments for the compiler."""
    [folder, *arguments] = sys.argv[1:] or [str(Path(__file__).parent / KERNELS)]
    try:
        compile_loops(Path(folder), *arguments)
    except subprocess.CalledProcessError as error:  # the compiler has said why
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
