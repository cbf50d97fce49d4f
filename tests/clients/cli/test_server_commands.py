"""`serve`, `health` and `stream` against a real server process."""

from __future__ import annotations

import json
import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.clients.cli.helpers import as_remote, example_report, run, run_binary

from vidscore_cli.commands.stream import ReplayProgress
from vidscore_cli.demo.network import ServerProcess
from vidscore_cli.main import cli
from vidscore_cli.session import ExitCode
from vidscore_client import Coverage, LiveReport
from vidscore_server.domain.administration import initialise
from vidscore_server.settings import setting_names

NOBODY = "127.0.0.1:1"
"""An address at which no server answers: the port is reserved."""


def sides(data: Path, kind: str = "spotgeo") -> tuple[str, ...]:
    ending = ".json" if kind == "spotgeo" else ""
    truth, detections = data / f"truth{ending}", data / f"detections{ending}"
    return (kind, "--truth", str(truth), "--detections", str(detections))


@pytest.mark.parametrize("kind", ["spotgeo", "neovision2"])
@pytest.mark.parametrize("speed", [["--full-speed"], ["--rate", "200"]])
def test_a_streamed_report_equals_that_of_the_files_to_the_last_bit(
    kind: str, speed: list[str], data: Path, server: str
) -> None:
    arguments = (*sides(data, kind), "--format", "json")
    streamed = run("stream", *arguments, "--server", server, *speed)
    scored = run("score", *arguments)
    assert streamed.exit_code == scored.exit_code == 0
    assert streamed.stdout == scored.stdout


def test_several_evaluators_of_a_manifest_share_one_stream(data: Path, server: str) -> None:
    manifest = data / "manifest.toml"
    manifest.write_text(
        '[[evaluators]]\nname = "neovision2"\nparameters = { c_m = 2.0 }\n'
        '[[evaluators]]\nname = "f1"\n'
        '[[sequences]]\ndomain = "Tower"\nname = "001"\nframe_count = 5\n'
    )
    arguments = (*sides(data, "neovision2")[1:], "--manifest", str(manifest), "--format", "json")
    streamed = run("stream", *arguments, "--server", server, "--full-speed")
    assert [report["evaluator"] for report in json.loads(streamed.stdout)] == ["neovision2", "f1"]
    assert streamed.stdout == run("score", *arguments).stdout


def test_a_live_report_becomes_a_line_with_frames_and_ranking_scores() -> None:
    progress = ReplayProgress(20, {"neovision2": ("mean_nmotda",)})
    coverage = Coverage(
        paired_frames=12, frames_waiting_for_detections=1, frames_waiting_for_truth=2
    )
    progress.take(LiveReport((as_remote(example_report()),), coverage))
    assert progress.line() == (
        "12 of 20 frames, 3 wait for their other side, neovision2 mean_nmotda 0.8750"
    )


def test_the_server_is_taken_from_the_environment_if_it_is_not_typed(
    data: Path, server: str
) -> None:
    result = run("stream", *sides(data), "--full-speed", env={"VIDSCORE_SERVER": server})
    assert result.exit_code == 0
    assert "mse                54.0000" in result.stdout


@pytest.mark.parametrize(
    ("setting", "said"), [("tau=-1", "expected more than 0"), ("taw=1", "did you mean tau?")]
)
def test_a_parameter_that_the_server_refuses_is_a_usage_error(
    setting: str, said: str, data: Path, server: str
) -> None:
    result = run("stream", *sides(data), "--server", server, "--set", setting)
    assert result.exit_code == 2
    assert said in result.stderr


def test_an_evaluator_that_the_server_lacks_is_a_usage_error(data: Path, server: str) -> None:
    result = run("stream", "spotgio", *sides(data)[1:], "--server", server)
    assert result.exit_code == 2
    assert "spotgio" in result.stderr


@pytest.mark.parametrize(
    ("evaluators", "said"),
    [
        (("f1", "f1"), "an evaluator is named twice"),
        (("map", "dota"), "found map by itself and of the preset dota"),
        (("own.toml", "--set", "own.toml.x=1"), "the preset own.toml fixes its parameters"),
        (("own.toml", "f1"), "a preset's file that lists labels beside other evaluators"),
    ],
)
def test_evaluators_that_a_stream_cannot_use_are_a_usage_error_as_for_files(
    evaluators: tuple[str, ...],
    said: str,
    data: Path,
    server: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(data)
    about = 'title = "Own"\nbenchmark = "Own"\nversion = "1.0.0"\nscorer = "none"\n'
    text = f'{about}labels = ["car"]\n[[evaluators]]\nname = "clear"\n'
    Path("own.toml").write_text(text)
    sides_of = (*sides(data)[1:], "--input-format", "spotgeo-json")
    result = run("stream", *evaluators, *sides_of, "--server", server)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_an_evaluator_of_a_manifest_that_the_server_refuses_is_an_input_error(
    data: Path, server: str
) -> None:
    manifest = data / "manifest.toml"
    manifest.write_text('[[evaluators]]\nname = "map"\n[[evaluators]]\nname = "dota"\n')
    named = (*sides(data)[1:], "--input-format", "spotgeo-json", "--manifest", str(manifest))
    result = run("stream", *named, "--server", server)
    assert (result.exit_code, "of the preset dota" in result.stderr) == (1, True)


def test_an_unreachable_server_is_exit_code_3(data: Path) -> None:
    for arguments in (["health"], ["stream", *sides(data)]):
        result = run(*arguments, "--server", NOBODY)
        assert (result.exit_code, result.stdout) == (3, "")
        assert f"no server answers at {NOBODY}" in result.stderr


@pytest.mark.parametrize(
    "command", [("submission", "outcomes", "sky/falcon"), ("benchmark", "read-truth", "sky", "t")]
)
def test_what_resumes_after_a_break_does_not_wait_for_a_server_that_never_answered(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*command, "--server", NOBODY)
    assert result.exit_code == ExitCode.UNREACHABLE
    assert f"no server answers at {NOBODY}" in result.stderr


@pytest.mark.slow
def test_a_server_that_answers_with_an_error_is_not_reported_as_unreachable(tmp_path: Path) -> None:
    """Its disk is full."""
    store = tmp_path / "site.db"
    secret = initialise(store).secret
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_FSIZE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, hard))  # The server inherits this.
        server = stack.enter_context(ServerProcess("--workers", "1", "--store", str(store)))
        arguments = ("token", "create", "participant", "--team", "x", "--server", server.address)
        results = (run(*arguments, env={"VIDSCORE_TOKEN": secret}) for _ in range(1000))
        result = next(result for result in results if result.exit_code)
    assert result.exit_code == 3
    assert f"the server at {server.address} cannot serve this now: the store" in result.stderr


def test_an_invalid_address_is_a_usage_error() -> None:
    result = run("health", "--server", "somewhere")
    assert result.exit_code == 2
    assert "Error: --server: found 'somewhere', expected host:port" in result.stderr


def test_health_of_a_serving_server_is_exit_code_0(server: str) -> None:
    result = run("health", "--server", server)
    assert (result.exit_code, result.output) == (0, f"{server} serves\n")


def test_a_port_in_use_is_reported_once_and_by_us() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = run_binary("serve", "--listen", address, "--workers", "1")
    *logged, said = ended.stderr.splitlines()
    assert said.startswith(f"Error: cannot listen at {address}: the port is in use")
    assert all(json.loads(line) for line in logged)


def test_every_setting_of_the_server_is_an_option_of_serve() -> None:
    text = run("serve", "--help").output
    for name in setting_names():
        assert f"--{name.replace('_', '-')}" in text


@pytest.mark.parametrize(
    ("typed", "reflection"), [([], None), (["--reflection"], True), (["--no-reflection"], False)]
)
def test_a_setting_that_is_on_can_be_switched_off_on_the_command_line(
    typed: list[str], reflection: bool | None
) -> None:
    """An option that is not typed is None, so that the environment and the file count."""
    serve = cli.find("serve")
    assert serve is not None
    assert serve.make_context("serve", typed).params["reflection"] is reflection


@pytest.mark.parametrize(
    ("arguments", "env", "code", "reason"),
    [
        (["--listen", "0.0.0.0:1"], {}, 2, "--listen: found 0.0.0.0:1, expected an address of"),
        (["--maximum-streams", "none"], {}, 2, "--maximum-streams: found 'none', expected"),
        ([], {"VIDSCORE_SERVER_WORKERS": "-1"}, 1, "VIDSCORE_SERVER_WORKERS: found '-1'"),
        (["--config", "no.toml"], {}, 1, "no.toml: found No such file or directory"),
    ],
)
def test_invalid_settings_are_refused_where_they_were_set(
    arguments: list[str], env: dict[str, str], code: int, reason: str
) -> None:
    result = run("serve", *arguments, env=env)
    assert result.exit_code == code
    assert reason in result.stderr


@pytest.mark.slow
def test_a_server_does_not_create_a_missing_store(tmp_path: Path) -> None:
    """An empty site without tokens would hide that a path is wrong or a file is missing."""
    store = tmp_path / "site.db"
    result = run_binary("serve", "--listen", "127.0.0.1:0", "--store", str(store))
    assert result.returncode == 1
    assert f"there is no store at {store}" in result.stderr
    assert f"vidscore init --store {store}" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_port_in_use_is_an_error_that_says_so(server: str) -> None:
    done = run_binary("serve", "--listen", server, "--workers", "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"Error: cannot listen at {server}" in done.stderr
