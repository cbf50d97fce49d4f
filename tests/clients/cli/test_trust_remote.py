"""`vidscore trust` on a server prints what the same files give locally, to the last bit.

The command is the installed one, and the server is a separate process.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from tests.clients.cli.conftest import spotgeo_entry
from tests.clients.cli.helpers import BINARY, run, run_binary
from tests.clients.cli.terminal import on_terminal, read_rest, read_until
from tests.support.sites import serving
from tests.support.varieties import mostly_nightly

from vidscore_cli.demo.network import ServerProcess
from vidscore_client import (
    CallCancelledError,
    Client,
    Frames,
    LimitExceededError,
    RankingQuestions,
    connect,
)

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
TIMEOUT_S = 120.0

Environment = Mapping[str, str]


def write_sky(path: Path, error_px: float, sequences: range = SEQUENCES) -> None:
    """Five frames of two points in each sequence, displaced more and more."""
    entries = [
        spotgeo_entry(
            frame,
            (50.0 * frame + error_px * sequence / 3, 100.0),
            (60.0 * frame, 200.0 + error_px * frame / 2),
            sequence=sequence,
        )
        for sequence in sequences
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
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with boxes of two classes."""
    made = tmp_path_factory.mktemp("boxes")
    for name, error_px in {"truth": 0.0, **ERRORS_PX}.items():
        found = [
            {
                "image_id": image,
                "category_id": 1 + image % 2,
                "bbox": [10.0 * image + error_px * image / 5, 20.0, 30.0, 40.0],
            }
            for image in range(1, 7)
        ]
        document = {
            "images": [
                {"id": image, "width": 200, "height": 200, "file_name": f"{image}.png"}
                for image in range(1, 7)
            ],
            "categories": [{"id": 1, "name": "car"}, {"id": 2, "name": "bus"}],
            "annotations": [
                {**entry, "id": row, "area": 1200.0, "iscrowd": 0}
                for row, entry in enumerate(found, 1)
            ],
        }
        written = document if name == "truth" else [{**entry, "score": 0.5} for entry in found]
        (made / f"{name}.json").write_text(json.dumps(written))
    return made


@pytest.fixture(scope="module")
def organiser(folder: Path) -> Iterator[Environment]:
    """Environment of an organiser whose server hosts the benchmark with both systems scored."""
    with serving(folder / "site.db") as (server, secret):
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
    """The output of a command of `vidscore trust`."""
    done = run_binary("trust", *arguments, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("form", mostly_nightly(["json", "table"]))
def test_a_hosted_ranking_equals_that_of_the_same_files(
    form: str, folder: Path, organiser: Environment, tmp_path: Path
) -> None:
    """With the benchmark's evaluator and its parameters, including pictures."""
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    mostly_nightly(
        [
            ("--manifest", "manifest.toml"),
            ("spotgeo", "f1", "--manifest", "manifest.toml", "--set", "f1.base=euclidean"),
            ("ospa", "f1", "--set", "ospa.base=giou"),
        ]
    ),
    ids=["manifest", "points", "boxes"],
)
def test_a_server_without_a_store_ranks_files_as_locally(
    chosen: tuple[str, ...], folder: Path, boxes: Path, tmp_path: Path
) -> None:
    """Except for tables, which are made from the document: the same JSON and the same pictures."""
    place = boxes if "ospa" in chosen else folder
    files = [word for name in ERRORS_PX for word in ("--system", f"{name}.json")]
    typed = ("ranking", *chosen, "--truth", "truth.json", *files, *QUESTIONS, "--format", "json")
    texts, pictures = [], []
    with ServerProcess("--workers", "1") as server:
        for name, options in (("here", ()), ("there", ("--server", server.address))):
            target = tmp_path / name
            target.mkdir()
            texts.append(printed(place, *typed, "--pictures", str(target), *options))
            pictures.append({path.name: path.read_bytes() for path in target.iterdir()})
    assert texts[0] == texts[1]
    assert pictures[0] == pictures[1]
    assert json.loads(texts[0])["systems"] == list(ERRORS_PX)
    assert pictures[0]


def test_files_are_sent_only_to_a_server_that_is_typed(folder: Path) -> None:
    """VIDSCORE_SERVER is for benchmarks; nothing listens there."""
    files = [word for name in ERRORS_PX for word in ("--system", f"{name}.json")]
    typed = ("ranking", "spotgeo", "--truth", "truth.json", *files, "--draws", "0")
    assert printed(folder, *typed, env={"VIDSCORE_SERVER": "127.0.0.1:1"})


@pytest.mark.nightly
def test_chosen_evaluators_and_submissions_equal_those_of_the_files(
    folder: Path, organiser: Environment
) -> None:
    """`tau` overrides the benchmark's; the other evaluator is not one of the benchmark's."""
    chosen = ("spotgeo", "f1", "--set", "f1.base=euclidean", "--set", "spotgeo.tau=6")
    options = (*chosen, *QUESTIONS, "--format", "json")
    files = ("--truth", "truth.json", "--system", "far.json", "--system", "near.json")
    named = ("--submission", "far", "--submission", "sky/near")
    here = printed(folder, "ranking", *options, *files)
    there = printed(folder, "ranking", *options, "--benchmark", "sky", *named, env=organiser)
    assert here == there
    assert json.loads(here)["systems"] == ["far", "near"]


@pytest.mark.slow
@pytest.mark.parametrize("more", mostly_nightly([("--indicators", "--format", "json"), ()]))
def test_a_criterion_test_on_a_server_equals_the_local_one(
    more: tuple[str, ...], folder: Path, organiser: Environment
) -> None:
    words = ("criterion", "ospa-c", "spotgeo", "--set", "spotgeo.tau=5")
    size = ("--strata", "2", "--realisations", "1")
    server = ("--server", organiser["VIDSCORE_SERVER"])
    here = printed(folder, *words, *size, *more, env={"VIDSCORE_SERVER": "nowhere:1"})
    assert here == printed(folder, *words, *size, *more, *server, env=organiser)


@pytest.mark.slow
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
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert (process.returncode, stdout, stderr.strip()) == (130, "", "")
        with pytest.raises(CallCancelledError):
            analysis.wait(TIMEOUT_S)


def newest_criterion_test(client: Client) -> str:
    """Wait for the operation of a requested test of criteria."""
    give_up_s = time.monotonic() + TIMEOUT_S
    while time.monotonic() < give_up_s:
        [newest] = client.audit(1)
        if newest.action == "TestCriterion":
            return f"operations/{newest.detail}"
        time.sleep(0.05)
    raise AssertionError("no test was asked for")


@pytest.mark.slow
def test_ctrl_c_frees_the_place_of_files_on_the_server(tmp_path: Path) -> None:
    """Only one place: others are refused while files are examined, which would take minutes."""
    sky = str(tmp_path / "sky.json")
    write_sky(Path(sky), 0.0, sequences=range(1, 801))
    files = ("--truth", sky, "--system", f"a={sky}", "--system", f"b={sky}")
    long = ("--draws", "0", "--noise-px", "3", "--trials", "10000")
    with ServerProcess("--workers", "1") as server, connect(server.address) as client:
        typed = ("trust", "ranking", "spotgeo", *files, *long, "--server", server.address)
        with on_terminal(*typed) as (process, terminal):
            shown = read_until(terminal, "examining")
            assert "examining" in shown, shown
            with pytest.raises(LimitExceededError, match="maximum_trust_analyses") as caught:
                examine_dots(client)
            process.send_signal(signal.SIGINT)
            shown += read_rest(terminal)
        assert not caught.value.retryable
        assert process.returncode == 130
        assert "Traceback" not in shown
        assert "Error" not in shown
        wait_for_a_place(client)


def examine_dots(client: Client) -> None:
    """Let a server examine two systems that find the only point of the truth."""
    dots = Frames(
        sequences=[("", "1")],
        frame_sequences=np.array([0]),
        frame_numbers=np.array([1]),
        frame_starts=np.array([0, 1]),
        coordinates=np.array([[10.0, 20.0]]),
    )
    client.trust.examine_upload(
        [dots],
        {"a": [dots], "b": [dots]},
        evaluators=["spotgeo"],
        questions=RankingQuestions(draws=0),
    )


def wait_for_a_place(client: Client) -> None:
    """Wait until a server examines files again: it notices the end of a call a little later."""
    give_up_s = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return examine_dots(client)
        except LimitExceededError:
            assert time.monotonic() < give_up_s, "the place is still taken"
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("ranking", "--benchmark", "sky", "--truth", "t"),
            "not together with --benchmark: --truth",
        ),
        (("ranking", "f1", "--submission", "a"), "--submission needs --benchmark"),
        (("ranking", "f1", "--system", "a"), "name a --benchmark"),
        (
            ("ranking", "f1", "--system", "a", "--server", "x:1", "--workers", "2"),
            "not together with --server: --workers",
        ),
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


@pytest.mark.slow
def test_an_evaluator_that_the_server_does_not_have_is_a_usage_error(
    folder: Path, organiser: Environment
) -> None:
    done = run_binary(
        "trust", "ranking", "spotgio", "--benchmark", "sky", cwd=folder, env=organiser
    )
    assert done.returncode == 2
    assert "found 'spotgio', expected an evaluator or preset of this server" in done.stderr
