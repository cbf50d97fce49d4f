"""Wheels for other machines: tags, libraries, and what a release refuses."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import hatch_build
import pytest
from hatch_build import TARGETS, compile_loops
from packaging.tags import mac_platforms, platform_tags
from tests.support.requirements import missing
from tests.support.tree import ROOT
from tests.support.varieties import mostly_nightly
from tools.release import MACHINES, Headers, differences, faults_of, of_release, wrong_files

SOURCES = ROOT / hatch_build.KERNELS
FIRST_BYTES = {"linux": b"\x7fELF", "macos": b"\xcf\xfa\xed\xfe", "windows": b"MZ"}
GOOD = Headers("ELF X86_64", frozenset(), frozenset(), frozenset({"first", "second"}))


@pytest.mark.parametrize("processor", ["x86_64", "arm64"])
def test_every_macos_from_11_on_installs_the_wheel_of_its_processor(processor: str) -> None:
    name = f"macos-{processor}"
    for release in ((11, 0), (12, 0), (14, 0), (15, 0)):
        assert set(TARGETS[name].platforms) & set(mac_platforms(release, processor))


def test_the_wheel_for_this_machine_has_the_tags_of_an_installation() -> None:
    if sys.platform != "linux":
        missing("Linux, whose wheels name no release of the system")
    own = {tag.removeprefix("linux_") for tag in platform_tags() if tag.startswith("linux_")}
    ours = {
        name for name, target in TARGETS.items() if set(target.platforms) & set(platform_tags())
    }
    assert ours == {"linux-x86_64"} if "x86_64" in own else {"linux-arm64"}


def test_the_linux_wheels_are_for_both_of_its_c_libraries() -> None:
    assert TARGETS["linux-arm64"].platforms == (
        "manylinux_2_17_aarch64",
        "musllinux_1_1_aarch64",
    )


def test_an_unknown_target_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        env={"VIDSCORE_TARGET": "amiga", "PATH": ""},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert f"VIDSCORE_TARGET is 'amiga', expected one of: {', '.join(TARGETS)}" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_nightly(TARGETS, gate=2))
def test_the_loops_compile_for_every_target(name: str, tmp_path: Path) -> None:
    """Without a warning, and with nothing missing: either would end the compiler or the linker."""
    for source in SOURCES.glob("*.[ch]"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    library = compile_loops(tmp_path, target=TARGETS[name]).read_bytes()
    assert library.startswith(FIRST_BYTES[name.partition("-")[0]])
    assert str(tmp_path.parent).encode() not in library


def test_every_target_has_an_expected_machine() -> None:
    assert MACHINES.keys() == TARGETS.keys()


def test_a_correct_library_has_no_fault() -> None:
    assert faults_of(GOOD, "ELF X86_64", GOOD.functions) == []


def test_all_faults_of_a_library_are_named_at_once() -> None:
    bad = Headers("PE AMD64", frozenset({"libm"}), frozenset({"sqrt"}), frozenset({"first"}))
    assert faults_of(bad, "ELF X86_64", GOOD.functions) == [
        "machine: found PE AMD64, expected ELF X86_64",
        "libraries that it needs: found libm, expected nothing",
        "undefined symbols: found sqrt, expected nothing",
        "functions: found first, expected first, second",
    ]


def complete(folder: Path) -> Path:
    folder.mkdir()
    names = [
        f"vidscore-1.0-py3-none-{'.'.join(target.platforms)}.whl" for target in TARGETS.values()
    ]
    names += ["vidscore_client-1.0-py3-none-any.whl"]
    names += ["vidscore-1.0.tar.gz", "vidscore_client-1.0.tar.gz"]
    for name in names:
        (folder / name).write_bytes(name.encode())
    return folder


def test_a_complete_release_has_every_distribution_once(tmp_path: Path) -> None:
    assert wrong_files(complete(tmp_path / "dist")) == []


def test_a_missing_wheel_another_version_and_an_unknown_wheel_are_named(tmp_path: Path) -> None:
    dist = complete(tmp_path / "dist")
    (dist / "vidscore-1.0-py3-none-win_amd64.whl").rename(
        dist / "vidscore-1.1-py3-none-win_arm64.whl"
    )
    assert wrong_files(dist) == [
        "vidscore for win_amd64: missing",
        "vidscore for win_arm64: not expected",
        "several versions: ['1.0', '1.1']",
    ]


def test_two_builds_differ_if_a_byte_or_a_file_does(tmp_path: Path) -> None:
    first, second = complete(tmp_path / "first"), complete(tmp_path / "second")
    assert differences(first, second) == []
    (second / "vidscore-1.0.tar.gz").write_bytes(b"other")
    (second / "vidscore_client-1.0.tar.gz").unlink()
    assert differences(first, second) == [
        "vidscore-1.0.tar.gz: two builds differ",
        "vidscore_client-1.0.tar.gz: two builds differ",
    ]


def test_the_bill_of_materials_has_our_version_and_not_the_installer() -> None:
    bill = {
        "metadata": {"component": {"name": "vidscore"}},
        "components": [{"name": "numpy"}, {"name": "pip"}],
        "dependencies": [{"ref": "numpy==2"}, {"ref": "pip==26"}],
    }
    assert of_release(bill, "1.0") == {
        "metadata": {"component": {"name": "vidscore", "version": "1.0"}},
        "components": [{"name": "numpy"}],
        "dependencies": [{"ref": "numpy==2"}],
    }


def test_the_library_has_one_name_everywhere() -> None:
    """The linker of macOS writes it into the library, in place of a path of the build."""
    names = re.findall(r"[\w/@]*loops\.so", (ROOT / "hatch_build.py").read_text("utf-8"))
    assert names == ["@rpath/loops.so"]
