"""`vidscore trust` by a server: what it prints is what the same files give here, to the last bit.

The command is the installed one and the server a process of its own.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.clients.cli.conftest import spotgeo_entry
from tests.clients.cli.helpers import BINARY, run, run_binary

from vidscore_cli.server_process import ServerProcess
from vidscore_client import CallCancelledError, Client, connect

SEQUENCES = range(1, 5)
QUESTIONS = ("--draws", "40", "--noise-px", "3", "--trials", "4", "--seed", "5")
BENCHMARK = """
truth_geometry = "point"
detection_geometry = "point"

[[evaluators]]
name = "spotgeo"
parameters = { tau = 8.0 }
"""
ERRORS_PX = {"near": 1.0, "far": 5.0}
PATIENCE_S = 120.0

Environment = Mapping[str, str]


def write_sky(path: Path, error_px: float) -> None:
    """Five frames of two points in each sequence, off by more and more."""
    entries = [
        spotgeo_entry(
            frame,
            (50.0 * frame + error_px * sequence / 3, 100.0),
            (60.0 * frame, 200.0 + error_px * frame / 2),
            sequence=sequence,
        )
        for sequence in SEQUENCES
        for frame in range(1, 6)
    ]
    path.write_text(json.dumps(entries))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with truth, and a file for each system."""
    made = tmp_path_factory.mktemp("sky")
    write_sky(made / "truth.json", 0.0)
    for name, error_px in ERRORS_PX.items():
        write_sky(made / f"{name}.json", error_px)
    (made / "benchmark.toml").write_text(BENCHMARK)
    (made / "manifest.toml").write_text(BENCHMARK.partition("\n\n")[2])
    return made


@pytest.fixture(scope="module")
def organiser(folder: Path) -> Iterator[Environment]:
    """Where a server hosts the benchmark with both systems scored, and its organiser's key."""
    store = str(folder / "site.db")
    secret = run("init", "--store", store).stdout.strip()
    with ServerProcess("--workers", "1", "--store", store) as server:
        environment = {"VIDSCORE_SERVER": server.address, "VIDSCORE_TOKEN": secret}
        commands = [
            ("benchmark", "create", "sky", "benchmark.toml"),
            ("benchmark", "truth", "sky", "--truth", "truth.json", "--complete"),
            *(
                ("submit", "sky", "--detections", f"{name}.json", "--name", name)
                for name in ERRORS_PX
            ),
        ]
        for command in commands:
            done = run_binary(*command, cwd=folder, env=environment)
            assert done.returncode == 0, done.stderr
        yield environment


def printed(folder: Path, *arguments: str, env: Environment | None = None) -> str:
    """What a command of `vidscore trust` prints."""
    done = run_binary("trust", *arguments, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("form", ["json", "table"])
def test_a_hosted_ranking_is_that_of_the_same_files(
    form: str, folder: Path, organiser: Environment, tmp_path: Path
) -> None:
    """By the benchmark's evaluator with its parameters, pictures included."""
    files = [word for name in ERRORS_PX for word in ("--system", f"{name}.json")]
    pictures = {}
    texts = {}
    for place, options, env in (
        ("here", ("--manifest", "manifest.toml", "--truth", "truth.json", *files), None),
        ("there", ("--benchmark", "sky"), organiser),
    ):
        target = tmp_path / place
        target.mkdir()
        shown = ("--format", form, "--pictures", str(target))
        texts[place] = printed(folder, "ranking", *options, *QUESTIONS, *shown, env=env)
        pictures[place] = {path.name: path.read_bytes() for path in target.iterdir()}
    assert texts["here"] == texts["there"]
    assert pictures["here"] == pictures["there"]
    assert set(pictures["here"]) == {"spotgeo-tau.svg", "spotgeo-epsilon.svg"}


def test_chosen_evaluators_and_submissions_are_those_of_the_files(
    folder: Path, organiser: Environment
) -> None:
    """`tau` is set over the benchmark's; the other evaluator is none of the benchmark's."""
    chosen = ("spotgeo", "f1", "--set", "f1.base=euclidean", "--set", "spotgeo.tau=6")
    options = (*chosen, *QUESTIONS, "--format", "json")
    files = ("--truth", "truth.json", "--system", "far.json", "--system", "near.json")
    named = ("--submission", "far", "--submission", "sky/near")
    here = printed(folder, "ranking", *options, *files)
    there = printed(folder, "ranking", *options, "--benchmark", "sky", *named, env=organiser)
    assert here == there
    assert json.loads(here)["systems"] == ["far", "near"]


@pytest.mark.parametrize("more", [(), ("--indicators", "--format", "json")])
def test_a_criterion_test_by_a_server_is_the_one_here(
    more: tuple[str, ...], folder: Path, organiser: Environment
) -> None:
    words = ("criterion", "ospa-c", "spotgeo", "--set", "spotgeo.tau=5")
    size = ("--strata", "2", "--realisations", "1")
    server = ("--server", organiser["VIDSCORE_SERVER"])
    here = printed(folder, *words, *size, *more, env={"VIDSCORE_SERVER": "nowhere:1"})
    assert here == printed(folder, *words, *size, *more, *server, env=organiser)


def test_ctrl_c_cancels_the_analysis_on_the_server(folder: Path, organiser: Environment) -> None:
    command = ("trust", "criterion", "--test", "tracking", "--strata", "100")
    address, secret = organiser["VIDSCORE_SERVER"], organiser["VIDSCORE_TOKEN"]
    with (
        connect(address, token=secret) as client,
        subprocess.Popen(
            [BINARY, *command, "--server", address, "--token", secret],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process,
    ):
        analysis = client.trust.analysis(newest_criterion_test(client))
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, stdout, stderr.strip()) == (130, "", "")
        with pytest.raises(CallCancelledError):
            analysis.wait(PATIENCE_S)


def newest_criterion_test(client: Client) -> str:
    """The operation of a test of criteria that has been asked for, once it has been."""
    give_up_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_s:
        [newest] = client.audit(1)
        if newest.action == "TestCriterion":
            return f"operations/{newest.detail}"
        time.sleep(0.05)
    raise AssertionError("no test was asked for")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("ranking", "--benchmark", "sky", "--truth", "t"),
            "not together with --benchmark: --truth",
        ),
        (("ranking", "f1", "--submission", "a"), "of which --benchmark"),
        (("ranking", "f1", "--system", "a"), "name a --benchmark"),
        (
            ("criterion", "--server", "x:1", "--workers", "2"),
            "not together with --server: --workers",
        ),
    ],
)
def test_options_that_do_not_go_together_are_a_usage_error(
    arguments: tuple[str, ...], message: str
) -> None:
    result = run("trust", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_an_evaluator_that_the_server_does_not_have_is_a_usage_error(
    folder: Path, organiser: Environment
) -> None:
    done = run_binary(
        "trust", "ranking", "spotgio", "--benchmark", "sky", cwd=folder, env=organiser
    )
    assert done.returncode == 2
    assert "found 'spotgio', expected an evaluator of this server" in done.stderr
