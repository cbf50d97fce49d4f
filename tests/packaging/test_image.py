"""The Dockerfile's steps make an environment in which an unprivileged user can serve.

No Docker engine is needed: the RUN lines of the build take their paths from PREFIX. Here they run
in a folder, and without privileges if the tests have any to drop.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.requirements import missing
from tests.support.tree import ROOT, tracked_files

NOBODY = 65534
"""User and group without privileges, by the convention of Linux."""

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
STAGES = re.split(r"(?m)^FROM ", DOCKERFILE)[1:]


def instructions(stage: str, name: str) -> list[str]:
    """Arguments of every instruction of that name, in order."""
    return re.findall(rf"(?m)^{name} +(.+)$", stage)


def test_there_are_two_stages_and_the_last_one_runs_nothing() -> None:
    assert len(STAGES) == 2
    assert instructions(STAGES[1], "RUN") == []
    assert instructions(STAGES[1], "COPY") == [
        "--from=build ${PREFIX} ${PREFIX}",
        "--from=build --chown=10001:10001 ${SITE} /site",
    ]


def test_the_image_does_not_run_as_root_and_its_user_owns_the_folder_of_the_site() -> None:
    [user] = instructions(STAGES[1], "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert f"--chown={user} " in instructions(STAGES[1], "COPY")[1]


def test_the_image_serves_and_checks_its_own_health() -> None:
    assert instructions(STAGES[1], "ENTRYPOINT") == ['["vidscore", "serve"]']
    [check] = instructions(STAGES[1], "HEALTHCHECK")
    assert json.loads(check.partition("CMD ")[2]) == ["vidscore", "health"]


def test_every_copied_file_is_admitted_to_the_build() -> None:
    """Each source of a COPY exists, and .dockerignore names it."""
    allowed = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    sources = [name for copy in instructions(STAGES[0], "COPY") for name in copy.split()[:-1]]
    assert [name for name in sources if not (ROOT / name).exists()] == []
    assert [name for name in sources if f"!{name}" not in allowed] == []


@pytest.fixture(scope="module")
def prefix() -> Iterator[Path]:
    """What the build stage leaves at PREFIX.

    Not in a folder of pytest, which only its own user may read.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "source"
        for copy in instructions(STAGES[0], "COPY"):
            for file in copy.split()[:-1]:
                copy_tracked(ROOT / file, source)
        (folder / "home").mkdir()
        if os.geteuid() == 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        python = usable_python(folder)
        variables = {
            "PREFIX": str(folder / "prefix"),
            "SITE": str(folder / "site"),
            "PATH": path_with(python, folder),
        }
        for command in instructions(STAGES[0], "RUN"):
            done = unprivileged(["sh", "-c", command], source, variables)
            assert done.returncode == 0, done.stdout + done.stderr
        yield folder / "prefix"


def copy_tracked(wanted: Path, target: Path) -> None:
    """Copy the tracked files at a path, as a fresh clone has them."""
    for file in tracked_files():
        if file == wanted or file.is_relative_to(wanted):
            copy = target / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def usable_python(folder: Path) -> Path:
    """A Python that the unprivileged user may run, and that can make environments."""
    own = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    others = [Path(f"/usr/bin/python3.{minor}") for minor in range(11, 20)]
    usable = next((python for python in (own, *others) if can_run(python, folder)), None)
    return usable or missing("a Python with ensurepip that a user without privileges may run")


def can_run(python: Path, folder: Path) -> bool:
    program = "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"
    try:
        return unprivileged([str(python), "-c", program], folder, {}).returncode == 0
    except OSError:
        return False


def path_with(python: Path, folder: Path) -> str:
    """A search path on which ``python`` is that of the image."""
    scripts = folder / "bin"
    scripts.mkdir(exist_ok=True)
    link = scripts / "python"
    if not link.exists():
        link.symlink_to(python)
    return os.pathsep.join([str(scripts), os.environ["PATH"]])


def unprivileged(
    command: list[str], folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment_with(variables, folder),
        check=False,
        capture_output=True,
        text=True,
        **identity(),
    )


def identity() -> dict[str, Any]:
    """Arguments of subprocess that drop root."""
    if os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def environment_with(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in {"VIRTUAL_ENV", "PYTHONPATH"} and not name.startswith("VIDSCORE_")
    }
    return {**inherited, "HOME": str(folder), **variables}


def image_environment(prefix: Path) -> dict[str, str]:
    """What the image sets with ENV."""
    [line] = instructions(STAGES[1], "ENV")
    known = {"PREFIX": str(prefix), "PATH": os.environ["PATH"]}
    pairs = (entry.partition("=") for entry in shlex.split(line))
    return {
        name: re.sub(r"\$\{(\w+)\}", lambda match: known[match[1]], value)
        for name, _, value in pairs
    }


def command_of(instruction: str, prefix: Path) -> list[str]:
    """The command of a JSON list, as the image's search path finds it."""
    program, *arguments = json.loads(instruction)
    return [str(prefix / "bin" / program), *arguments]


@pytest.mark.campaign
def test_what_the_steps_install_serves_and_is_healthy(prefix: Path) -> None:
    """The entry point listens, the health check succeeds, and after SIGTERM it exits with 0."""
    variables = {**image_environment(prefix), "VIDSCORE_SERVER_LISTEN": "127.0.0.1:0"}
    environment = environment_with(variables, prefix.parent / "home")
    [serve] = instructions(STAGES[1], "ENTRYPOINT")
    [check] = instructions(STAGES[1], "HEALTHCHECK")
    with subprocess.Popen(
        command_of(serve, prefix),
        cwd="/",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        **identity(),
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[3]
        asking = {**variables, "VIDSCORE_SERVER": address}
        asked = unprivileged(command_of(check.partition("CMD ")[2], prefix), Path("/"), asking)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
    assert (asked.returncode, asked.stdout) == (0, f"{address} serves\n"), asked.stderr


@pytest.mark.campaign
def test_a_hosted_site_runs_on_a_read_only_root(prefix: Path) -> None:
    """As docs/server.md runs it: init, serve with a site, health, sign in; no other writes."""
    site = prefix.parent / "site"
    variables = {
        **image_environment(prefix),
        "TMPDIR": str(site),
        "VIDSCORE_SERVER_STORE": str(site / "site.db"),
        "VIDSCORE_SERVER_LISTEN": "127.0.0.1:0",
        "VIDSCORE_SERVER_WEB": "127.0.0.1:0",
    }
    environment = environment_with(variables, prefix.parent / "home")
    program = str(prefix / "bin/vidscore")
    made = subprocess.run(
        read_only([program, "init", "--store", str(site / "site.db")], site),
        env=environment, cwd="/", capture_output=True, text=True, check=True,
    )  # fmt: skip
    [secret] = re.findall(r"vidscore_\w+", made.stdout)
    with subprocess.Popen(
        read_only([program, "serve"], site),
        env=environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        address = server.stdout.readline().split()[3]
        url = server.stdout.readline().split()[-1]
        asked = unprivileged(
            [program, "health"], Path("/"), {**variables, "VIDSCORE_SERVER": address}
        )
        form = urllib.request.Request(
            f"{url}/sign-in", f"token={secret}&next=/organise".encode(), {"Origin": url}
        )
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        page = opener.open(form, timeout=60)
        signed_in = page.status, page.url
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
    assert asked.returncode == 0, asked.stderr
    assert signed_in == (200, f"{url}/organise")
    assert {path.name for path in site.iterdir()} == {"site.db", "site.db.lock"}


def read_only(command: list[str], writable: Path) -> list[str]:
    """A command by the unprivileged user, for whom everything is read-only but one folder.

    Without namespaces, it must be enough that the user may write nowhere else.
    """
    if os.geteuid() != 0:
        return command
    dropped = [
        "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command,
    ]  # fmt: skip
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
        return dropped
    folder = shlex.quote(str(writable))
    script = (
        f"mount --bind {folder} {folder} && mount --rbind / /mnt && "
        f"mount -o remount,ro,bind /mnt && exec chroot /mnt {shlex.join(dropped)}"
    )
    return ["unshare", "--mount", "sh", "-c", script]


@pytest.mark.campaign
def test_the_environment_has_no_build_tools(prefix: Path) -> None:
    scripts = {path.name for path in (prefix / "bin").iterdir()}
    assert {"python", "vidscore"} <= scripts
    assert not {name for name in scripts if re.match(r"(pip|hatch|uvx?$|wheel)", name)}
    packages = {path.name for path in prefix.glob("lib/python3.*/site-packages/*")}
    assert not packages & {"pip", "setuptools", "hatchling"}


@pytest.mark.campaign
def test_the_image_refuses_to_listen_on_other_addresses_by_default(prefix: Path) -> None:
    beyond = {**image_environment(prefix), "VIDSCORE_SERVER_LISTEN": "0.0.0.0:0"}
    refused = unprivileged([str(prefix / "bin/vidscore"), "serve"], Path("/"), beyond)
    assert refused.returncode == 1
    assert "VIDSCORE_SERVER_LISTEN: found 0.0.0.0:0, expected" in refused.stderr
