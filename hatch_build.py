"""How vidscore is built: hatchling, a requirement that depends on where, and the kernels.

The kernels are compiled for this machine, or for the one of `TARGETS` that VIDSCORE_TARGET names.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatchling import build as backend
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.tags import platform_tags

KERNELS = Path("evaluators", "vidscore_evaluators", "kernels")

# Linkers differ in how they are told that nothing may be missing from a library. Windows needs none
# of it, but would have a function called when it loads the library.
ELF = ("-fPIC", "-Wl,-z,defs,-s")
MACH_O = ("-fPIC", "-Wl,-undefined,error,-s,-install_name,@rpath/loops.so")
PE = ("-Wl,--no-entry,-s",)

# The compiler comes from the package index like any other requirement of the build, so that a
# bare machine needs none. The loops call nothing, not even the C library: one file serves every
# system of a kind of processor. Nothing may change a number: no fused multiplication and addition,
# and no instruction that only this machine has.
COMPILE = (
    *(sys.executable, "-m", "ziglang", "cc"),
    *("-std=c11", "-O2", "-shared", "-nostdlib", "-ffp-contract=off", "-mcpu=baseline"),
    *("-fno-sanitize=undefined", "-fno-builtin", "-Wall", "-Wextra", "-Werror"),
)


@dataclass(frozen=True)
class Target:
    """A kind of machine that wheels are built for.

    Attributes:
        compiler: The compiler's name of it.
        linking: Options of its linker.
        platforms: The platforms of a wheel's tag.
    """

    compiler: str
    linking: tuple[str, ...]
    platforms: tuple[str, ...]


def _linux(processor: str) -> Target:
    """A wheel for Linux is installed by either C library, whose name the compiler asks for."""
    platforms = (f"manylinux_2_17_{processor}", f"musllinux_1_1_{processor}")
    return Target(f"{processor}-linux-gnu.2.17", ELF, platforms)


TARGETS = {
    "linux-x86_64": _linux("x86_64"),
    "linux-arm64": _linux("aarch64"),
    "macos-x86_64": Target("x86_64-macos.11.0", MACH_O, ("macosx_11_0_x86_64",)),
    "macos-arm64": Target("aarch64-macos.11.0", MACH_O, ("macosx_11_0_arm64",)),
    "windows-x86_64": Target("x86_64-windows", PE, ("win_amd64",)),
}
TARGET = "VIDSCORE_TARGET"


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
        target = _target()
        library = compile_loops(Path(self.root, KERNELS), target=target)
        build_data["artifacts"].append(library.relative_to(self.root).as_posix())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{'.'.join(target.platforms if target else _platforms())}"


def compile_loops(folder: Path, *arguments: str, target: Target | None = None) -> Path:
    """Compile the C files of a folder into a library there, which appears whole or not at all.

    Args:
        folder: Where they are.
        arguments: What else to tell the compiler.
        target: The machines that it is for; None: this one.

    Returns:
        The library.
    """
    made_of = runpy.run_path(str(Path(__file__).parent / KERNELS / "_sources.py"))
    sources = [str(path) for path in made_of["sources"](folder) if path.suffix == ".c"]
    digest = f"-DSOURCES_DIGEST={made_of['digest'](folder)}"
    library = Path(folder, made_of["LIBRARY"])
    machine = ("-target", target.compiler, *target.linking) if target else _linking()
    # A compiler that fails may leave a helper that writes into its cache a little longer.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as elsewhere:
        caches = {f"ZIG_{which}_CACHE_DIR": elsewhere for which in ("GLOBAL", "LOCAL")}
        made = Path(elsewhere, library.name)
        subprocess.run(
            [*COMPILE, *machine, *arguments, digest, "-o", str(made), *sources],
            check=True,
            env=os.environ | caches,
        )
        # Beside its place first: only within one file system can a file take another's place.
        beside = library.with_suffix(f".{Path(elsewhere).name}{library.suffix}")
        shutil.copyfile(made, beside)
        beside.replace(library)
    return library


def _target() -> Target | None:
    """The target that is asked for."""
    name = os.environ.get(TARGET)
    if name is not None and name not in TARGETS:
        sys.exit(f"{TARGET} is {name!r}, expected one of: {', '.join(TARGETS)}")
    return TARGETS[name] if name else None


def _linking() -> tuple[str, ...]:
    """Options of this machine's linker."""
    return {"darwin": MACH_O, "win32": PE}.get(sys.platform, ELF)


def _platforms() -> tuple[str, ...]:
    """This machine, as the platforms of a wheel's tag."""
    tags = list(platform_tags())
    if not sys.platform.startswith("linux"):
        return (tags[0],)
    processor = next(tag.removeprefix("linux_") for tag in tags if tag.startswith("linux_"))
    return _linux(processor).platforms


def main() -> None:
    """Compile the kernels of this tree, or of a folder, with further arguments for the compiler."""
    [folder, *arguments] = sys.argv[1:] or [str(Path(__file__).parent / KERNELS)]
    try:
        compile_loops(Path(folder), *arguments)
    except subprocess.CalledProcessError as error:  # the compiler has said why
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
