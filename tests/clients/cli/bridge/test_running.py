"""How a bridge ends if its server does not answer."""

from __future__ import annotations

import os
import signal
import socket
import threading
from pathlib import Path

import pytest
from tests.clients.cli.bridge.test_bridge import ACCEPTED, bridge, connected
from tests.clients.cli.helpers import run
from tests.clients.cli.test_pipe_hosted import Environment, frame_count, host, lines
from tests.support.ports import free_port
from tests.support.waiting import TIMEOUT_S, eventually

from vidscore_cli.bridge import running
from vidscore_cli.bridge.running import wait_for
from vidscore_cli.demo.network import ServerProcess
from vidscore_cli.session import ExitCode


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "TELL_S", 0.0)
    monkeypatch.setattr(running, "STOP_S", 0.0)
    monkeypatch.setattr(running, "END_S", 0.0, raising=False)


def test_a_stop_delayed_by_the_server_is_reported_and_abandoned(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stopping, free = threading.Event(), threading.Event()
    stopping.set()
    thread = threading.Thread(target=free.wait, args=(TIMEOUT_S,))
    thread.start()
    assert wait_for([thread], stopping, free.set)
    assert not thread.is_alive()
    assert capsys.readouterr().err.count("waiting for the server until all read messages") == 1


def test_a_source_that_cannot_end_is_left_behind() -> None:
    """For example a named pipe that no program has opened to write."""
    stopping, free = threading.Event(), threading.Event()
    stopping.set()
    thread = threading.Thread(target=free.wait, args=(TIMEOUT_S,), daemon=True)
    thread.start()
    assert wait_for([thread], stopping, lambda: None)
    assert thread.is_alive()
    free.set()


def test_a_bridge_that_need_not_stop_keeps_waiting(capsys: pytest.CaptureFixture[str]) -> None:
    free = threading.Event()
    thread = threading.Thread(target=free.wait, args=(TIMEOUT_S,))
    thread.start()
    threading.Timer(0.01, free.set).start()
    assert not wait_for([thread], threading.Event(), pytest.fail)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_bridge_whose_server_never_answers_ends_by_a_signal_with_exit_code_3(
    tmp_path: Path,
) -> None:
    store, port = str(tmp_path / "site.db"), free_port()
    own: Environment = {"VIDSCORE_TOKEN": run("init", "--store", store).stdout.strip()}
    own["XDG_CONFIG_HOME"] = str(tmp_path)

    def stop_when_sent() -> None:
        sender = connected(("127.0.0.1", port), socket.AF_INET)
        with sender:
            sender.sendall(lines(0, 5).encode())
            eventually(lambda: frame_count(own, "stopped")[0] == 5)
            server.kill()
            sender.sendall(lines(5, 10).encode())
        os.kill(os.getpid(), signal.SIGTERM)

    with ServerProcess("--workers", "1", "--store", store) as server:
        own["VIDSCORE_SERVER"] = server.address
        host(own, tmp_path, "street")
        stopper = threading.Thread(target=stop_when_sent)
        stopper.start()
        options = (f"tcp://127.0.0.1:{port}", "--schema", "jsonl", *ACCEPTED)
        result = bridge(own, *options, "--submission", "stopped")
        stopper.join()
    assert result.exit_code == ExitCode.UNREACHABLE, result.stderr
    assert "street/stopped is not sealed: the server does not answer" in result.stderr
    assert "continue with --submission stopped when it is back" in result.stderr
