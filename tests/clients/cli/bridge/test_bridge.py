"""`vidscore bridge` from files and sockets to a submission, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from tests.clients.cli.helpers import BINARY, run, well
from tests.clients.cli.test_pipe_hosted import (
    Environment,
    answer_late,
    environment,
    frame_count,
    host,
    lines,
)
from tests.support.ports import free_port
from tests.support.waiting import TIMEOUT_S, eventually

from vidscore_cli.session import ExitCode
from vidscore_client import Client, Frames, InvalidArgumentError, connect

__all__ = ["environment"]

FRAMES = 20
ACCEPTED = ("--accept", "no-confidence")


def bridge(environment: Environment, *options: str, input_: str | None = None) -> Result:
    return run("bridge", *options, "--benchmark", "street", env=environment, input_=input_)


def deepstream(number: int) -> dict[str, object]:
    """The message of DeepStream for a frame, as nv.Frame in JSON."""
    box = {"leftX": number, "topY": 0, "rightX": number + 10, "bottomY": 10}
    found = {"id": "1", "type": "car", "confidence": 0.5 + number / 100, "bbox": box}
    return {
        "version": "4.0",
        "id": str(number),
        "timestamp": f"2026-01-31T12:00:{number / 10:06.3f}Z",
        "sensorId": "cam",
        "objects": [found],
    }


def messages(numbers: Sequence[int]) -> str:
    return "".join(json.dumps(deepstream(number)) + "\n" for number in numbers)


# --- files -----------------------------------------------------------------------------------


def test_a_file_is_submitted_to_its_end_and_scored(
    environment: Environment, tmp_path: Path
) -> None:
    (tmp_path / "found.jsonl").write_text(messages(range(FRAMES)))
    options = ("--schema", "nvidia-json", "--sequence", "cam=street", "--submission", "file")
    result = bridge(environment, str(tmp_path / "found.jsonl"), *options)
    assert result.exit_code == 0, result.stderr
    assert "street/file is sealed: 20 frames" in result.stderr
    eventually(lambda: frame_count(environment, "file") == (FRAMES, "scored"))


def test_a_slow_server_is_reported_with_the_source(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_late(monkeypatch)
    (tmp_path / "found.jsonl").write_text(lines(0, FRAMES))
    options = ("--schema", "jsonl", *ACCEPTED, "--submission", "late")
    result = bridge(environment, str(tmp_path / "found.jsonl"), *options)
    assert result.exit_code == 0, result.stderr
    assert f": waiting for the server, {FRAMES} frames not durable yet: no answer" in result.stderr


def test_frames_are_numbered_by_their_times(environment: Environment, tmp_path: Path) -> None:
    """Ten frames per second from 12:00:00 UTC on, which is 1769860800 s."""
    (tmp_path / "found.jsonl").write_text(messages(range(FRAMES)))
    options = ("--schema", "nvidia-json", "--sequence", "*=street", "--submission", "times")
    rate = ("--rate-hz", "10", "--start-s", "1769860800")
    well(bridge(environment, str(tmp_path / "found.jsonl"), *options, *rate))
    eventually(lambda: frame_count(environment, "times") == (FRAMES, "scored"))


def test_several_sources_of_one_file_are_one_submission(
    environment: Environment, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text(messages(range(10)))
    (tmp_path / "b.jsonl").write_text(lines(10, FRAMES))
    (tmp_path / "sources.toml").write_text(
        f"""
[[sources]]
name = "a"
url = "{tmp_path}/a.jsonl"
schema = "nvidia-json"
sequences = {{ cam = "street" }}

[[sources]]
name = "b"
url = "{tmp_path}/b.jsonl"
schema = "jsonl"
accept = ["no-confidence"]
"""
    )
    options = ("--sources", str(tmp_path / "sources.toml"), "--submission", "several")
    well(bridge(environment, *options))
    eventually(lambda: frame_count(environment, "several") == (FRAMES, "scored"))


def test_an_invalid_message_ends_the_run_and_the_same_file_continues_after_it(
    environment: Environment, tmp_path: Path
) -> None:
    path = tmp_path / "found.jsonl"
    path.write_text(messages(range(5)) + "oops" + " " * (len(messages([5])) - 5) + "\n")
    options = (str(path), "--schema", "nvidia-json", "--sequence", "*=street")
    result = bridge(environment, *options, "--submission", "mended")
    assert result.exit_code == ExitCode.INPUT
    end = len(messages(range(6)))
    assert f"bridge, before byte {end}" in result.stderr
    assert frame_count(environment, "mended") == (5, "receiving")
    path.write_text(messages(range(FRAMES)))
    result = bridge(environment, *options, "--submission", "mended")
    assert "5 frames durable before" in result.stderr
    assert frame_count(environment, "mended")[0] == FRAMES


def test_repeated_frames_count_once(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "found.jsonl").write_text(messages([*range(10), *range(5, FRAMES)]))
    options = ("--schema", "nvidia-json", "--sequence", "*=street", "--submission", "repeated")
    result = bridge(environment, str(tmp_path / "found.jsonl"), *options)
    assert "Warning: bridge: repeated frame: 5" in result.stderr
    assert frame_count(environment, "repeated")[0] == FRAMES


def test_standard_input_is_a_source(environment: Environment) -> None:
    options = ("-", "--schema", "jsonl", *ACCEPTED, "--submission", "stdin")
    well(bridge(environment, *options, input_=lines(0, FRAMES)))
    assert frame_count(environment, "stdin")[0] == FRAMES


# --- refusals --------------------------------------------------------------------------------


def test_a_suspicious_feed_is_refused_before_a_frame_is_sent(
    environment: Environment, tmp_path: Path
) -> None:
    (tmp_path / "found.jsonl").write_text(messages(range(0, 60, 3)))
    options = (str(tmp_path / "found.jsonl"), "--schema", "nvidia-json", "--sequence", "*=street")
    result = bridge(environment, *options, "--submission", "doubtful")
    assert result.exit_code == ExitCode.INPUT
    assert (
        "bridge: gaps: frames are missing between others: 38; only one frame in 3" in result.stderr
    )
    assert "--accept gaps accepts it as it is" in result.stderr
    assert frame_count(environment, "doubtful") == (0, "open")


def test_every_fault_of_a_file_of_sources_is_reported(
    environment: Environment, tmp_path: Path
) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(
        '[[sources]]\nurl = 3\nschema = "nvidia"\nrate_hz = 0\nsize = [1]\ncolour = "red"\n'
        'spool = "a\\u0000"\n'
    )
    result = bridge(environment, "--sources", str(path))
    assert result.exit_code == ExitCode.INPUT
    for place in ("url", "schema", "rate_hz", "size", "colour", "spool"):
        assert f"sources[0].{place}: " in result.stderr


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("9" * 5000, "a number of too many digits"),
        ("[" * 5000 + "]" * 5000, "arrays or tables that are too deep"),
    ],
)
def test_a_file_of_sources_over_a_limit_is_refused(
    environment: Environment, tmp_path: Path, value: str, found: str
) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(f"sources = {value}\n")
    result = bridge(environment, "--sources", str(path))
    assert (result.exit_code, found in result.stderr) == (ExitCode.INPUT, True)


def test_two_sources_of_one_file_cannot_share_a_spool(
    environment: Environment, tmp_path: Path
) -> None:
    path = tmp_path / "sources.toml"
    spools = (tmp_path / "a.spool", tmp_path / "b.spool", tmp_path / "x" / ".." / "a.spool")
    path.write_text(
        "".join(
            f'[[sources]]\nurl = "udp://127.0.0.1:1"\nschema = "jsonl"\nspool = "{spool}"\n'
            for spool in spools
        )
    )
    result = bridge(environment, "--sources", str(path))
    assert result.exit_code == ExitCode.INPUT
    assert "sources[2].spool: found " in result.stderr
    assert "which sources[0] uses, expected a separate file" in result.stderr
    assert "sources[1]" not in result.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("x.jsonl",), "SOURCE needs --schema"),
        ((), "name one SOURCE"),
        (("udp://127.0.0.1:1", "--schema", "jsonl"), "name a --spool file"),
        (("ftp://a/b", "--schema", "jsonl"), "expected file, tcp, unix, udp, mqtt, nats or kafka"),
        (("tcp://127.0.0.1", "--schema", "jsonl"), "a port is missing"),
        (("mqtt://127.0.0.1", "--schema", "jsonl"), "a topic is missing"),
        (("nats://127.0.0.1", "--schema", "jsonl"), "a stream is missing"),
        (("kafka://127.0.0.1", "--schema", "jsonl"), "a topic is missing"),
        (("kafka://127.0.0.1/found", "--schema", "jsonl", "--topic", "a"), "only for recordings"),
        (("mqtt://127.0.0.1/a+", "--schema", "jsonl"), "found the topic a+, expected"),
    ],
)
def test_an_invalid_source_is_a_usage_error_and_leaves_no_draft(
    environment: Environment, options: Sequence[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client, "submit", None)
    result = bridge(environment, *options)
    assert result.exit_code == ExitCode.USAGE
    assert told in result.stderr


def test_a_missing_file_leaves_no_draft(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client, "submit", None)
    result = bridge(environment, str(tmp_path / "x.jsonl"), "--schema", "jsonl")
    assert result.exit_code == ExitCode.INPUT
    assert "No such file or directory" in result.stderr


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("udp://127.0.0.1:1", "datagrams cannot wait: name a --spool file"),
        ("tcp://127.0.0.1", "a port is missing"),
    ],
)
def test_an_invalid_source_in_a_file_is_an_error_of_the_file(
    environment: Environment, tmp_path: Path, url: str, told: str
) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(f'[[sources]]\nname = "cam"\nurl = "{url}"\nschema = "jsonl"\n')
    result = bridge(environment, "--sources", str(path))
    assert result.exit_code == ExitCode.INPUT
    assert f"Error: {path}, cam: {url}" in result.stderr
    assert told in result.stderr


def test_a_source_position_has_a_maximum_length(environment: Environment) -> None:
    """16,384 bytes are stored and returned; one more is refused, and nothing is stored."""
    frame = Frames(
        sequences=(("", "street"),),
        frame_sequences=np.zeros(1, dtype=np.int64),
        frame_numbers=np.zeros(1, dtype=np.int64),
        frame_starts=np.zeros(2, dtype=np.int64),
        coordinates=np.zeros((0, 4)),
    )
    server, token = environment["VIDSCORE_SERVER"], environment["VIDSCORE_TOKEN"]
    with connect(server, token=token) as client:
        with client.submit("street", "long") as stream:
            stream.send_batch(frame, source_position="é" * 8192)
        with client.submit("street", "long") as stream:
            assert stream.source_position == "é" * 8192
        refused = pytest.raises(InvalidArgumentError, match=r"source_position: found 16385 bytes")
        with refused, client.submit("street", "longer") as stream:
            stream.send_batch(frame, source_position="a" * 16_385)
        assert client.submissions.get("street/longer").frame_count == 0


# --- processes -------------------------------------------------------------------------------


@contextmanager
def bridging(environment: Environment, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A `vidscore bridge` to the benchmark that runs until it is stopped."""
    with subprocess.Popen(
        [str(BINARY), "bridge", "--benchmark", "street", *options],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def stopped(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=TIMEOUT_S)
    return process.returncode, stderr.decode()


def connected(address: object, family: socket.AddressFamily) -> socket.socket:
    """A connection, as soon as a server listens."""
    found: list[socket.socket] = []

    def connect() -> bool:
        attempt = socket.socket(family, socket.SOCK_STREAM)
        try:
            attempt.connect(address)  # type: ignore[arg-type]
        except OSError:
            attempt.close()
            return False
        found.append(attempt)
        return True

    eventually(connect)
    return found[0]


@pytest.mark.slow
def test_programs_can_write_to_sockets(environment: Environment, tmp_path: Path) -> None:
    """Two connections at once to a TCP port and one to a Unix socket."""
    port, path = free_port(), str(tmp_path / "found.sock")
    (tmp_path / "sources.toml").write_text(
        "".join(
            f'[[sources]]\nurl = "{url}"\nschema = "jsonl"\naccept = ["no-confidence"]\n'
            for url in (f"tcp://127.0.0.1:{port}", f"unix://{path}")
        )
    )
    options = ("--sources", str(tmp_path / "sources.toml"), "--submission", "sockets")
    with bridging(environment, *options) as process:
        tcp = ("127.0.0.1", port)
        senders: list[tuple[Callable[[], socket.socket], str]] = [
            (lambda: connected(tcp, socket.AF_INET), lines(0, 5)),
            (lambda: connected(tcp, socket.AF_INET), lines(5, 10)),
            (lambda: connected(path, socket.AF_UNIX), lines(10, 15)),
        ]
        open_ones = [(connect(), text) for connect, text in senders]
        for connection, text in open_ones:
            connection.sendall(text.encode())
            connection.close()
        eventually(lambda: frame_count(environment, "sockets")[0] == 15)
        status, stderr = stopped(process)
    assert status == 0, stderr
    assert "street/sockets is not sealed" in stderr


def send(port: int, number: int, size: int = 0) -> bool:
    """Send a frame as a datagram, padded with blanks to a size."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.sendto(lines(number, number + 1).encode().ljust(size), ("127.0.0.1", port))
    return True


@pytest.mark.slow
def test_datagrams_wait_in_the_spool_while_the_server_is_away(tmp_path: Path) -> None:
    from vidscore_cli.demo.network import ServerProcess

    store, port = str(tmp_path / "site.db"), free_port(socket.SOCK_DGRAM)
    own = {"VIDSCORE_TOKEN": run("init", "--store", store).stdout.strip()}
    own["XDG_CONFIG_HOME"] = str(tmp_path)
    served = ("--workers", "1", "--store", store)
    options = (f"udp://127.0.0.1:{port}", "--schema", "jsonl", *ACCEPTED, "--submission", "spooled")
    spool = tmp_path / "found.spool"
    with ServerProcess(*served) as first:
        own["VIDSCORE_SERVER"] = address = first.address
        host(own, tmp_path, "street")
        with bridging(own, *options, "--spool", str(spool)) as process:
            eventually(spool.exists)
            # A datagram sent before the port is bound is lost; a repeated frame counts once.
            eventually(lambda: send(port, 0) and frame_count(own, "spooled")[0] == 1)
            first.kill()
            for number in range(1, 10):
                send(port, number)
            eventually(lambda: b'"frame": 9,' in spool.read_bytes())
            process.kill()
            process.wait()
        with (
            ServerProcess("--listen", address, *served),
            bridging(own, *options, "--spool", str(spool)) as process,
        ):
            eventually(lambda: frame_count(own, "spooled")[0] == 10)
            status, stderr = stopped(process)
            assert status == 0, stderr


def grown(path: Path, before: int) -> bool:
    return path.stat().st_size > before


@pytest.mark.nightly
def test_datagrams_beyond_the_spool_are_lost_and_the_exit_code_says_so(tmp_path: Path) -> None:
    """Datagrams of 50,000 bytes and a spool of 1 MiB, which has room for 20 of them."""
    from vidscore_cli.demo.network import ServerProcess

    store, port = str(tmp_path / "site.db"), free_port(socket.SOCK_DGRAM)
    own = {"VIDSCORE_TOKEN": run("init", "--store", store).stdout.strip()}
    own["XDG_CONFIG_HOME"] = str(tmp_path)
    spool = tmp_path / "found.spool"
    (tmp_path / "sources.toml").write_text(
        f'[[sources]]\nurl = "udp://127.0.0.1:{port}"\nschema = "jsonl"\n'
        f'accept = ["no-confidence"]\nspool = "{spool}"\nspool_mebibytes = 1\n'
    )
    served = ("--workers", "1", "--store", store)
    options = ("--sources", str(tmp_path / "sources.toml"), "--submission", "lost")
    with ServerProcess(*served) as first:
        own["VIDSCORE_SERVER"] = address = first.address
        host(own, tmp_path, "street")
        with bridging(own, *options) as process:
            eventually(spool.exists)
            eventually(lambda: send(port, 0) and frame_count(own, "lost")[0] == 1)
            first.kill()
            for number in range(1, 30):
                before = spool.stat().st_size
                send(port, number, 50_000)
                if number < 20:
                    eventually(partial(grown, spool, before))
            with ServerProcess("--listen", address, *served):
                eventually(lambda: frame_count(own, "lost")[0] >= 20)
                status, stderr = stopped(process)
    assert status == ExitCode.UNREACHABLE, stderr
    assert "Warning: source-1: message lost: " in stderr
    assert "street/lost is not sealed" in stderr
