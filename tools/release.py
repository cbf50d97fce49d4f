"""Build everything that a release publishes, on one Linux machine, and check it.

    python -m tools.release

Source distributions and wheels of both distributions, for every kind of machine, go into dist/.
They are built from the committed files, twice, in different folders, and the bytes must be equal.
The wheels are built from the source distributions. Each compiled library must be for its machine,
need no other library, and export the functions that kernels.h declares. Checksums and a bill of
materials go into build/release/.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatch_build import KERNELS, TARGET, TARGETS
from packaging.utils import parse_sdist_filename, parse_wheel_filename
from tools import bootstrap

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
# Separate from the published files: a package index accepts only distributions.
BESIDE = ROOT / "build/release"
CLIENT = "clients/python"
LIBRARY = (KERNELS.relative_to("evaluators") / "loops.so").as_posix()
MACHINES = {
    "linux-x86_64": "ELF X86_64",
    "linux-arm64": "ELF AARCH64",
    "macos-x86_64": "Mach-O X86_64",
    "macos-arm64": "Mach-O ARM64",
    "windows-x86_64": "PE AMD64",
}
"""Format and processor in the headers of each target's library."""
# The linker adds these to every library of macOS. Every release of the system has them, and the
# loops call none of them.
OF_MACOS = frozenset({"/usr/lib/libSystem.B.dylib", "dyld_stub_binder"})
OFFERED_BY_MACOS = frozenset({"_mh_dylib_header", "__dso_handle"})


@dataclass(frozen=True)
class Headers:
    """Headers of a compiled library.

    Attributes:
        machine: Format and processor, for example `ELF X86_64`.
        needs: Other libraries that are loaded with it.
        undefined: Symbols that other libraries must define.
        functions: Functions that it exports, by their names in C.
    """

    machine: str
    needs: frozenset[str]
    undefined: frozenset[str]
    functions: frozenset[str]


def main() -> None:
    """Build twice, compare, check, and copy the result to dist/."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        built = [build(Path(folder)) for folder in (first, second)]
        faults = differences(*built) + wrong_files(built[0]) + wrong_libraries(built[0])
        if faults:
            sys.exit("\n".join(["This is not what can be released:", *faults]))
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(built[0], DIST)
    BESIDE.mkdir(parents=True, exist_ok=True)
    sums = "".join(f"{_sum(file)}  {file.name}\n" for file in _files(DIST))
    (BESIDE / "SHA256SUMS").write_text(sums, encoding="utf-8")
    write_bill_of_materials(BESIDE / "sbom.cdx.json")
    print(f"built twice, alike; {len(list(_files(DIST)))} files in dist/:\n{sums}", end="")


def build(folder: Path) -> Path:
    """Build everything in a folder; returns the folder of the distributions."""
    source, dist = folder / "source", folder / "dist"
    source.mkdir()
    archive = _run("git", "archive", "HEAD", cwd=ROOT)
    subprocess.run(["tar", "-x"], input=archive, cwd=source, check=True)
    # All archives have the time of the commit instead of the time of the build.
    moment = _run("git", "log", "-1", "--format=%ct", cwd=ROOT).decode().strip()
    for name, project, targets in (
        ("vidscore", source, list(TARGETS)),
        ("vidscore_client", source / CLIENT, [""]),
    ):
        _hatchling("sdist", project, dist, SOURCE_DATE_EPOCH=moment)
        [sdist] = dist.glob(f"{name}-*.tar.gz")
        unpacked = folder / name
        unpacked.mkdir()
        subprocess.run(["tar", "-xzf", sdist], cwd=unpacked, check=True)
        [inside] = unpacked.iterdir()
        for target in targets:
            _say(f"{name} {target}".rstrip())
            _hatchling("wheel", inside, dist, SOURCE_DATE_EPOCH=moment, **{TARGET: target})
    return dist


def differences(first: Path, second: Path) -> list[str]:
    """The differences of two builds."""
    sums = [{file.name: _sum(file) for file in _files(folder)} for folder in (first, second)]
    names = sorted(sums[0].keys() | sums[1].keys())
    return [
        f"{name}: two builds differ" for name in names if sums[0].get(name) != sums[1].get(name)
    ]


def wrong_files(dist: Path) -> list[str]:
    """Missing and unexpected files of a build."""
    platforms = [target.platforms for target in TARGETS.values()]
    expected = {("vidscore", tag) for tags in platforms for tag in tags}
    expected |= {("vidscore-client", "any"), ("vidscore", "source"), ("vidscore-client", "source")}
    found: set[tuple[str, str]] = set()
    versions = set()
    for file in _files(dist):
        if file.suffix != ".whl":
            name, version = parse_sdist_filename(file.name)
            found.add((name, "source"))
        else:
            name, version, _, tags = parse_wheel_filename(file.name)
            found |= {(name, tag.platform) for tag in tags}
        versions.add(str(version))
    faults = [f"{name} for {kind}: missing" for name, kind in sorted(expected - found)]
    faults += [f"{name} for {kind}: not expected" for name, kind in sorted(found - expected)]
    return faults + ([] if len(versions) == 1 else [f"several versions: {sorted(versions)}"])


def wrong_libraries(dist: Path) -> list[str]:
    """Faults of the compiled libraries of a build; prints the machine and needs of each."""
    header = (ROOT / KERNELS / "kernels.h").read_text(encoding="utf-8")
    declared = frozenset(re.findall(r"^int64_t (\w+)\(", header, re.MULTILINE))
    faults = []
    for target, machine in MACHINES.items():
        platform = TARGETS[target].platforms[0]
        for wheel in dist.glob(f"*-py3-none-{platform}*.whl"):
            with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
                headers = read_headers(Path(archive.extract(LIBRARY, folder)))
                size = archive.getinfo(LIBRARY).file_size
            _say(f"{headers.machine}: {size} bytes, needs: {_listed(headers.needs)}")
            faults += [f"{wheel.name}: {fault}" for fault in faults_of(headers, machine, declared)]
    return faults


def read_headers(library: Path) -> Headers:
    """Read the headers of a library of Linux, macOS or Windows.

    Raises:
        ValueError: If it is not a library.
    """
    import lief  # noqa: PLC0415  # only installed for releases

    lief.logging.disable()
    binary = lief.parse(str(library))
    if isinstance(binary, lief.ELF.Binary):
        return Headers(
            f"ELF {binary.header.machine_type.name}",
            _texts(binary.libraries),
            _texts(symbol.name for symbol in binary.imported_symbols),
            _texts(function.name for function in binary.exported_functions),
        )
    if isinstance(binary, lief.MachO.Binary):
        own = lief.MachO.LoadCommand.TYPE.ID_DYLIB
        names = _texts(function.name for function in binary.exported_functions)
        return Headers(
            f"Mach-O {binary.header.cpu_type.name}",
            _texts(command.name for command in binary.libraries if command.command != own)
            - OF_MACOS,
            _texts(symbol.name for symbol in binary.imported_symbols) - OF_MACOS,
            # Symbols have an underscore before the function's name in C.
            frozenset(name.removeprefix("_") for name in names) - OFFERED_BY_MACOS,
        )
    if isinstance(binary, lief.PE.Binary):
        imports = list(binary.imports)
        return Headers(
            f"PE {binary.header.machine.name}",
            _texts(library.name for library in imports),
            _texts(entry.name for library in imports for entry in library.entries),
            _texts(function.name for function in binary.exported_functions),
        )
    raise ValueError(f"{library}: not a library of Linux, macOS or Windows")


def _texts(names: Iterable[str | bytes]) -> frozenset[str]:
    return frozenset(name if isinstance(name, str) else name.decode() for name in names)


def faults_of(headers: Headers, machine: str, declared: frozenset[str]) -> list[str]:
    """Faults of a library, according to its headers."""
    expectations: Mapping[str, tuple[object, object]] = {
        "machine": (headers.machine, machine),
        "libraries that it needs": (_listed(headers.needs), _listed(())),
        "undefined symbols": (_listed(headers.undefined), _listed(())),
        "functions": (_listed(headers.functions), _listed(declared)),
    }
    return [
        f"{what}: found {found}, expected {expected}"
        for what, (found, expected) in expectations.items()
        if found != expected
    ]


def write_bill_of_materials(file: Path) -> None:
    """Write the parts of an installation of the built wheels, in the versions of the lock file."""
    [sdist] = DIST.glob("vidscore-*.tar.gz")
    _, version = parse_sdist_filename(sdist.name)
    environment = file.parent / "installed"
    shutil.rmtree(environment, ignore_errors=True)
    bootstrap.create(environment)
    wheels = ["--find-links", str(DIST), "--no-cache", "--constraint", str(bootstrap.LOCK)]
    bootstrap.install(environment, [*wheels, f"vidscore[server,web]=={version}"])
    reader = ["-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON"]
    about = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "application"]
    _run(sys.executable, *reader, *about, "-o", str(file), str(environment), cwd=ROOT)
    bill = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(of_release(bill, str(version)), indent=2) + "\n", encoding="utf-8")


def of_release(bill: dict[str, Any], version: str) -> dict[str, Any]:
    """A bill of materials with our version, which pyproject.toml lacks, and without pip."""
    about = bill["metadata"] | {"component": bill["metadata"]["component"] | {"version": version}}
    parts = [part for part in bill["components"] if part["name"] != "pip"]
    links = [link for link in bill["dependencies"] if not link["ref"].startswith("pip==")]
    return bill | {"metadata": about, "components": parts, "dependencies": links}


def _hatchling(target: str, project: Path, dist: Path, **variables: str) -> None:
    """Build with the installed versions of the tools, without a separate environment."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(dist)]
    _run(*command, cwd=project, **variables)


def _run(*command: str, cwd: Path, **variables: str) -> bytes:
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | variables, check=False, capture_output=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{(done.stdout + done.stderr).decode(errors='replace')}")
    return done.stdout


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def _sum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
