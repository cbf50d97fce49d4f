"""The build backend of vidscore: hatchling, the requirement of the client, and the kernels.

The kernels are compiled for this machine, or for the one of `TARGETS` that VIDSCORE_TARGET names.

The list of dependencies is in pyproject.toml under `tool.hatch.metadata.hooks.custom`. `{client}`
in an entry is replaced by a reference to `vidscore-client`. If an installer builds a wheel from a
clone, this is the client's folder in the clone, so that `pip install .` needs no package index that
has the client. Otherwise it is the client of exactly this version: in source distributions and the
wheels built from them, which are published, and in editable installations, where the client is
installed separately.
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

# Options with which each linker rejects undefined symbols. Windows needs none, but there the linker
# would require an entry point.
ELF = ("-fPIC", "-Wl,-z,defs,-s")
MACH_O = ("-fPIC", "-Wl,-undefined,error,-s,-install_name,@rpath/loops.so")
PE = ("-Wl,--no-entry,-s",)

# The compiler comes from the package index like any other build requirement, so that a bare machine
# works. The loops call no library, not even the C library, so one file works on every system of an
# operating system and processor. Results must be the same everywhere: no fused multiply-add, and no
# instructions that only some machines have.
COMPILE = (
    *(sys.executable, "-m", "ziglang", "cc"),
    *("-std=c11", "-O2", "-shared", "-nostdlib", "-ffp-contract=off", "-mcpu=baseline"),
    *("-fno-sanitize=undefined", "-fno-builtin", "-Wall", "-Wextra", "-Werror"),
)


@dataclass(frozen=True)
class Target:
    """A kind of machine that wheels are built for.

    Attributes:
        compiler: The compiler's name of the target.
        linking: Options of its linker.
        platforms: Platforms for the wheel's tag.
    """

    compiler: str
    linking: tuple[str, ...]
    platforms: tuple[str, ...]


def _linux(processor: str) -> Target:
    """A target for Linux; its wheels work with glibc and musl, but the compiler needs a name."""
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


# Hatchling loads this file again for its hooks; this variable tells them what is being built.
AT_INSTALL = "VIDSCORE_WHEEL_AT_INSTALL"


def __getattr__(name: str) -> Any:
    """Return hatchling's function of this name, for the build backend's interface."""
    if name.endswith("build_wheel"):
        os.environ[AT_INSTALL] = "1"
    return getattr(backend, name)


class DependenciesHook(MetadataHookInterface):
    """Fills `project.dependencies`, which cannot be static."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies; hatchling determines the version before it calls its hooks."""
        folder = Path(self.root, "clients", "python")
        beside = AT_INSTALL in os.environ and (folder / "pyproject.toml").exists()
        client = f" @ {folder.as_uri()}" if beside else f"=={metadata['version']}"
        metadata["dependencies"] = [
            entry.format(client=client) for entry in self.config["dependencies"]
        ]


class KernelsHook(BuildHookInterface[Any]):
    """Compiles the kernels and sets the platforms of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Compile the library into the folder of its sources, from which the wheel takes it."""
        if self.target_name != "wheel":
            return
        target = _target()
        library = compile_loops(Path(self.root, KERNELS), target=target)
        build_data["artifacts"].append(library.relative_to(self.root).as_posix())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{'.'.join(target.platforms if target else _platforms())}"


def compile_loops(folder: Path, *arguments: str, target: Target | None = None) -> Path:
    """Compile the C files of a folder into a library there, which is replaced atomically.

    Args:
        folder: Folder of the C files.
        arguments: Further arguments for the compiler.
        target: Target of the library; None: this machine.

    Returns:
        The library.
    """
    made_of = runpy.run_path(str(Path(__file__).parent / KERNELS / "_sources.py"))
    sources = [str(path) for path in made_of["sources"](folder) if path.suffix == ".c"]
    digest = f"-DSOURCES_DIGEST={made_of['digest'](folder)}"
    library = Path(folder, made_of["LIBRARY"])
    machine = ("-target", target.compiler, *target.linking) if target else _linking()
    # If the compiler fails, a child process may still write into its cache for a moment.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as elsewhere:
        caches = {f"ZIG_{which}_CACHE_DIR": elsewhere for which in ("GLOBAL", "LOCAL")}
        made = Path(elsewhere, library.name)
        subprocess.run(
            [*COMPILE, *machine, *arguments, digest, "-o", str(made), *sources],
            check=True,
            env=os.environ | caches,
        )
        # Copy it into the same folder first: a file can be replaced only within one file system.
        beside = library.with_suffix(f".{Path(elsewhere).name}{library.suffix}")
        shutil.copyfile(made, beside)
        beside.replace(library)
    return library


def _target() -> Target | None:
    """The target that VIDSCORE_TARGET names; None: this machine."""
    name = os.environ.get(TARGET)
    if name is not None and name not in TARGETS:
        sys.exit(f"{TARGET} is {name!r}, expected one of: {', '.join(TARGETS)}")
    return TARGETS[name] if name else None


def _linking() -> tuple[str, ...]:
    """Options of this machine's linker."""
    return {"darwin": MACH_O, "win32": PE}.get(sys.platform, ELF)


def _platforms() -> tuple[str, ...]:
    """The platforms of this machine for a wheel's tag."""
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
