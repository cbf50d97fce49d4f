"""The bootstrap program shows its progress, and falls back to pip quietly."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.support.tree import ROOT
from tools import bootstrap

FAILING = 'echo "error: invalid peer certificate"; exit 2'
WORKING = 'echo "  Building vidscore @ file:///here"; echo "warning: something"; echo "$@"'


def program(file: Path, body: str) -> None:
    """A shell script that records its arguments and environment."""
    file.parent.mkdir(parents=True, exist_ok=True)
    log = f'echo "$@" >> {file}.calls; env > {file}.environment'
    file.write_text(f"#!/bin/sh\n{log}\n{body}\n")
    file.chmod(0o755)


def calls(file: Path) -> list[str]:
    return Path(f"{file}.calls").read_text().splitlines()


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with a pip, and a place for uv."""
    monkeypatch.setattr(bootstrap, "UV_FOLDER", tmp_path / "uv")
    monkeypatch.setattr(bootstrap, "UV", tmp_path / "uv/bin/uv")
    program(tmp_path / "venv/bin/pip", "")
    return tmp_path / "venv"


def test_a_stage_is_a_line_with_seconds_and_nothing_else_is_shown(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(bootstrap.UV, WORKING)
    bootstrap.install(environment, ["--editable", "."])
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert all(re.match(r" *\d+ s  \S", line) for line in lines)
    texts = [line.partition(" s  ")[2] for line in lines]
    assert texts == [
        "installing; a C compiler (100 MB) is fetched to build vidscore, and not kept",
        "Building vidscore @ file:///here",
        "installed",
    ]
    assert shown.err == ""


def test_uv_installs_pip_and_the_packages_and_trusts_the_systems_authorities(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_SYSTEM_CERTS", raising=False)
    monkeypatch.setenv("VIRTUAL_ENV", "/elsewhere")
    program(bootstrap.UV, WORKING)
    bootstrap.install(environment, ["--editable", "."])
    assert calls(bootstrap.UV) == [
        f"pip install --python {environment}/bin/python pip --editable ."
    ]
    variables = Path(f"{bootstrap.UV}.environment").read_text().splitlines()
    assert {"UV_SYSTEM_CERTS=1", "UV_NATIVE_TLS=1"} <= set(variables)
    assert not [line for line in variables if line.startswith("VIRTUAL_ENV=")]


def test_locked_packages_are_installed_first_and_the_rest_adds_no_dependencies(
    environment: Path,
) -> None:
    program(bootstrap.UV, WORKING)
    bootstrap.install_locked(environment, ["--group", "dev"])
    lock = ROOT / "requirements.lock"
    into = f"pip install --python {environment}/bin/python pip"
    assert calls(bootstrap.UV) == [
        f"{into} --requirement {lock}",
        f"{into} --no-deps --build-constraint {lock} --group dev",
    ]


@pytest.mark.parametrize("uv", [FAILING, None])
def test_if_uv_fails_or_is_unavailable_pip_installs_and_no_error_is_shown(
    environment: Path, capsys: pytest.CaptureFixture[str], uv: str | None
) -> None:
    python = environment / "bin/python"
    program(python, f'case "$*" in *--target*) {FAILING};; esac')
    if uv is not None:
        program(bootstrap.UV, uv)
    bootstrap.install(environment, ["--editable", "."])
    wanted = [bootstrap.PIP_REQUIREMENT, "--editable ."]
    assert calls(python)[-2:] == [f"-m pip install --progress-bar off {text}" for text in wanted]
    shown = capsys.readouterr()
    assert "that did not work; pip, which is slower, does it instead" in shown.out
    assert "certificate" not in shown.out + shown.err


def test_if_pip_fails_too_the_output_of_both_is_shown(environment: Path) -> None:
    program(bootstrap.UV, FAILING)
    program(environment / "bin/python", 'echo "no space left"; exit 1')
    with pytest.raises(SystemExit) as ended:
        bootstrap.install(environment, ["."])
    assert re.fullmatch(
        r"error: invalid peer certificate\nno space left\ncould not install pip>=25.1 into \S+venv",
        str(ended.value),
    )


def test_a_long_silence_is_interrupted_by_a_message(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The installer waits here until the message has been shown."""
    gate = environment / "gate"
    os.mkfifo(gate)

    def say(text: str) -> None:
        print(text)
        if text == bootstrap.STILL_BUSY and not opened:
            opened.append(text)
            gate.write_text("go on")

    opened: list[str] = []
    monkeypatch.setattr(bootstrap, "_say", say)
    monkeypatch.setattr(bootstrap, "SILENCE_S", 0.01)
    program(bootstrap.UV, f"cat {gate}")
    bootstrap.install(environment, ["."])
    assert bootstrap.STILL_BUSY in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("target", "extra"),
    [
        ("demo", ["--editable", ".[server,web]"]),
        ("demo-web", ["--editable", ".[server,web]"]),
        (
            "venv",
            [
                "--editable",
                ".[server,postgresql,video,web,plot,parquet,dataframes,mqtt,mcap,nats,kafka,dask,s3]",
                "--group",
                "dev",
            ],
        ),
    ],
)
def test_the_demo_installs_what_users_install_and_developers_more(
    target: str, extra: list[str]
) -> None:
    """Into the same environment, where one completes the other."""
    # In CI the pinned versions are installed; users get the latest that fit.
    commands = ["make", "--dry-run", "--always-make", "--no-print-directory", target, "CI="]
    printed = subprocess.run(commands, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    [line] = [line for line in printed.splitlines() if "bootstrap.py" in line]
    wanted = ["tools/bootstrap.py", ".venv", "--editable", "./clients/python"]
    assert shlex.split(line)[1:] == wanted + extra


def test_the_demo_ends_with_the_line_about_its_site() -> None:
    commands = ["make", "--dry-run", "--no-print-directory", "demo", "CI="]
    printed = subprocess.run(commands, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert "make demo-web shows its competition at an address" in printed.splitlines()[-1]


def test_an_existing_environment_is_kept(environment: Path) -> None:
    program(environment / "bin/python", "exit 1")
    before = (environment / "bin/python").stat()
    bootstrap.create(environment)
    assert (environment / "bin/python").stat() == before
