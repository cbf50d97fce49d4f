"""Ctrl-C ends a command and its worker processes at once and quietly."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.clients.cli.helpers import BINARY, run, signalled
from tests.support.requirements import missing

from vidscore_cli.start import interrupt

pytestmark = pytest.mark.slow


def children_of(process_id: int) -> list[int]:
    """Child processes of a process, as Linux lists them."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = status.read_text().rpartition(")")[2].split()
        except OSError:  # It has ended meanwhile.
            continue
        if int(after_name[1]) == process_id:
            found.append(int(status.parent.name))
    return found


def is_importing(process_id: int) -> bool:
    """Whether a process has reached numpy, one of the first imports of a worker."""
    try:
        return "_multiarray_umath" in Path(f"/proc/{process_id}/maps").read_text()
    except OSError:
        return False


def wait_for_workers(process: subprocess.Popen[str]) -> None:
    give_up = time.monotonic() + 60
    while not any(map(is_importing, children_of(process.pid))) and time.monotonic() < give_up:
        assert process.poll() is None, "ended before its workers had started"
        time.sleep(0.005)


@pytest.mark.parametrize("options", ["--workers 2", "--dask local --shards 2"])
def test_ctrl_c_while_workers_start_exits_with_130_and_no_traceback(
    options: str, data: Path
) -> None:
    if not Path("/proc/self/stat").exists():
        missing("a /proc file system, to see worker processes start")
    with subprocess.Popen(
        [BINARY, "score", "neovision2", "--truth", "truth", "--detections", "detections",
         *options.split()],
        cwd=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:  # fmt: skip
        wait_for_workers(process)
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr.strip()) == (130, "", "")


IMPORTING = """
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "vidscore_cli.main":
            print("importing", flush=True)
            sys.stdin.read()


sys.meta_path.insert(0, Finder())
from vidscore_cli.start import main

main()
"""


def test_ctrl_c_while_the_command_imports_exits_with_130_and_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", IMPORTING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "")


def test_ctrl_c_while_a_module_defines_a_class_is_not_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Up to Python 3.11 such an interrupt arrives as a RuntimeError."""

    def read(*_: object) -> None:
        raise RuntimeError("Error calling __set_name__ on 'Field'") from KeyboardInterrupt()

    monkeypatch.setattr("vidscore_cli.commands.validate._read", read)
    result = run("validate", "truth.csv")
    assert (result.exit_code, result.stderr) == (130, "")


def test_an_interrupt_leaves_no_lock_of_the_import_system_taken() -> None:
    """It waits until no function of that system runs."""
    steps: list[str] = []
    source = "raise_signal(SIGINT)\nsteps.append('released')"
    place = importlib.import_module.__globals__["_bootstrap"]._find_and_load.__code__.co_filename
    names = {"steps": steps, "raise_signal": signal.raise_signal, "SIGINT": signal.SIGINT}

    def work() -> None:
        exec(compile(source, place, "exec"), names)
        time.sleep(60)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert steps == ["released"]


def test_a_closed_terminal_ends_a_server_and_its_workers_in_order() -> None:
    """Its signal reaches all processes, also the one that cleans up after the others."""
    arguments = ["serve", "--listen", "127.0.0.1:0", "--workers", "1"]
    status, stderr = signalled(arguments, signal.SIGHUP, after="worker started", on_error=True)
    assert (status, "Traceback" in stderr) == (0, False)
    assert '"stopped"' in stderr


FILLING = """
import sys
from pathlib import Path

from vidscore_cli.output import atomic_file, atomic_folder

kind, path = sys.argv[1:]
with atomic_folder(Path(path)) if kind == "folder" else atomic_file(Path(path), 0o644) as part:
    if kind == "folder":
        (part / "1.png").write_bytes(b"")
    print("filling", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_partial_file(kind: str, sent: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FILLING, kind, str(tmp_path / "out")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "filling\n"
        assert list(tmp_path.iterdir())
        process.send_signal(sent)
        process.communicate(timeout=60)
    assert process.returncode == -sent
    assert list(tmp_path.iterdir()) == []
