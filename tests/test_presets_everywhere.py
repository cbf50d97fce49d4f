"""A preset can replace the name of an evaluator, and every interface gives the same reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.clients.cli.helpers import run_binary
from tests.support.sites import serving

import vidscore
from vidscore_cli.remote import to_frames
from vidscore_client import VidscoreError, connect
from vidscore_evaluators import read
from vidscore_evaluators.presets import find_preset, preset_names
from vidscore_evaluators.report import Report, report_from_dict, report_to_dict

pytestmark = pytest.mark.slow
NAME = "mot17"
EVALUATORS = [entry.name for entry in find_preset(NAME).evaluators]


@dataclass(frozen=True)
class Site:
    """A hosting server, and its organiser's secret."""

    address: str
    secret: str

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of the command line, with the organiser's token."""
        return {"VIDSCORE_SERVER": self.address, "VIDSCORE_TOKEN": self.secret}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sequences of pedestrians, cars and distractors, and the output of a tracker."""
    root = tmp_path_factory.mktemp("mot")
    random = np.random.default_rng(16)
    (root / "tracks").mkdir()
    for sequence in ("MOT17-02", "MOT17-04"):
        truth, tracks = [], []
        places = random.uniform((0, 0), (900, 500), (12, 2))
        for frame in range(1, 21):
            places += random.uniform(-5, 5, places.shape)
            for index, (x, y) in enumerate(places):
                kind = 1 if index < 8 else (2, 3, 7, 12)[index - 8]
                rest = f"40,100,{int(kind != 3)},{kind},{random.random():.3f}"
                truth.append(f"{frame},{index + 1},{x:.2f},{y:.2f},{rest}")
                if random.random() < 0.8:
                    track = index + (100 if frame > 10 and index % 3 == 0 else 1)
                    near = f"{x + random.uniform(-8, 8):.2f},{y + random.uniform(-8, 8):.2f}"
                    tracks.append(f"{frame},{track},{near},40,100,{random.random():.3f},-1,-1,-1")
        (root / "gt" / sequence / "gt").mkdir(parents=True)
        (root / "gt" / sequence / "gt/gt.txt").write_text("\n".join(truth) + "\n")
        (root / "tracks" / f"{sequence}.txt").write_text("\n".join(tracks) + "\n")
    (root / "own.toml").write_text(
        'title = "Own"\nbenchmark = "Own"\nversion = "1.0.0"\nscorer = "none"\n'
        'format = "motchallenge"\nlabels = ["pedestrian"]\n'
        '[[evaluators]]\nname = "clear"\nparameters = { threshold = 0.25 }\n'
    )
    return root


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server for this module alone."""
    with serving(tmp_path_factory.mktemp("site") / "site.db") as (server, secret):
        yield Site(server.address, secret)


def files(folder: Path) -> tuple[str, ...]:
    return ("--truth", str(folder / "gt"), "--detections", str(folder / "tracks"))


def printed(*arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Any:
    """The JSON that the installed command prints."""
    ran = run_binary(*arguments, "--format", "json", env=env, cwd=cwd)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def expected(folder: Path) -> list[dict[str, Any]]:
    """The library's reports, in their JSON form."""
    reports = vidscore.score(NAME, folder / "gt", folder / "tracks")
    assert isinstance(reports, tuple)
    return json.loads(json.dumps([report_to_dict(report) for report in reports]))  # type: ignore[no-any-return]


def test_the_library_gives_a_report_for_each_evaluator_in_the_order_of_the_file(
    expected: list[dict[str, Any]],
) -> None:
    assert [report["evaluator"] for report in expected] == EVALUATORS
    assert {report["preset"] for report in expected} == {NAME}
    assert {tuple(report["specification"]["classes"]) for report in expected} == {("pedestrian",)}
    assert [json.loads(report_from_dict(report).to_json()) for report in expected] == expected


def test_the_reports_are_those_of_the_evaluators_with_the_parameters_and_labels_of_the_preset(
    folder: Path, expected: list[dict[str, Any]]
) -> None:
    reports = vidscore.score(
        find_preset(NAME).evaluators,
        folder / "gt",
        folder / "tracks",
        specification=vidscore.BenchmarkSpec(classes=("pedestrian",)),
    )
    assert [{**report_to_dict(report), "preset": NAME} for report in reports] == [
        {**report, "parameters": dict(own.parameters)}
        for own, report in zip(reports, expected, strict=True)
    ]


def test_a_preset_of_one_evaluator_gives_one_report(folder: Path) -> None:
    report = vidscore.score(str(folder / "own.toml"), folder / "gt", folder / "tracks")
    assert isinstance(report, Report)
    assert (report.evaluator, report.preset) == ("clear", "own.toml")
    assert report.parameters["threshold"] == 0.25


def test_a_preset_in_a_list_gives_a_list_of_reports(folder: Path) -> None:
    reports = vidscore.score(["f1", NAME], folder / "gt", folder / "tracks")
    assert isinstance(reports, list)
    assert [report.evaluator for report in reports] == ["f1", *EVALUATORS]
    assert [report.preset for report in reports] == [None] + [NAME] * len(EVALUATORS)
    assert "classes" not in reports[0].specification


def test_the_command_line_gives_the_reports_of_the_library(
    folder: Path, expected: list[dict[str, Any]]
) -> None:
    assert printed("score", NAME, *files(folder)) == expected


def test_a_manifest_may_name_a_preset_and_a_file_beside_it(
    folder: Path, expected: list[dict[str, Any]]
) -> None:
    (folder / "named.toml").write_text(f'[[evaluators]]\nname = "{NAME}"\n')
    (folder / "beside.toml").write_text('[[evaluators]]\nname = "own.toml"\n')
    named = printed("score", "--manifest", str(folder / "named.toml"), *files(folder))
    assert named == expected
    beside = printed("score", "--manifest", str(folder / "beside.toml"), *files(folder))
    assert beside["preset"] == "own.toml"


def test_a_stream_gives_the_reports_of_the_library(
    folder: Path, site: Site, expected: list[dict[str, Any]]
) -> None:
    asked = ("stream", NAME, "--server", site.address, "--full-speed")
    assert printed(*asked, *files(folder)) == expected


def test_a_stream_with_a_preset_file_gives_the_report_of_the_library(
    folder: Path, site: Site
) -> None:
    report = vidscore.score(str(folder / "own.toml"), folder / "gt", folder / "tracks")
    asked = ("stream", "./own.toml", "--server", site.address, "--full-speed")
    streamed = printed(*asked, *files(folder), cwd=folder)
    assert streamed == json.loads(report.to_json())


def test_a_client_sends_the_name_of_a_preset_and_gets_the_reports(
    folder: Path, site: Site, expected: list[dict[str, Any]]
) -> None:
    sides = (read(folder / "gt"), read(folder / "tracks", side="detections"))
    with connect(site.address) as client:
        reports = client.score(
            [NAME],
            *([to_frames(side)] for side in sides),
            truth_geometry="box",
            detection_geometry="box",
        )
    assert [json.loads(report.to_json())["scores"] for report in reports] == [
        report["scores"] for report in expected
    ]
    assert {report.preset for report in reports} == {NAME}


def test_a_server_accepts_neither_a_path_nor_parameters(folder: Path, site: Site) -> None:
    frames = [to_frames(read(folder / "gt"))]
    own = str(folder / "own.toml")
    with connect(site.address) as client:

        def score(evaluator: str, **parameters: float) -> object:
            return client.score(
                [(evaluator, parameters)],
                frames,
                frames,
                truth_geometry="box",
                detection_geometry="box",
            )

        with pytest.raises(VidscoreError, match="cannot be read from here"):
            score(own)
        with pytest.raises(VidscoreError, match="fixes its parameters"):
            score(NAME, threshold=0.25)
        with pytest.raises(VidscoreError, match=r"did you mean mot17\?"):
            score("mot71")


def test_a_server_lists_its_presets(site: Site) -> None:
    with connect(site.address) as client:
        listed = {preset.name: preset for preset in client.presets()}
    assert tuple(listed) == preset_names()
    for name, found in listed.items():
        own = find_preset(name)
        assert (found.version, found.title, found.benchmark, found.scorer, found.format) == (
            own.version,
            own.title,
            own.benchmark,
            own.scorer,
            own.format,
        )
        assert found.labels == own.labels
        assert found.evaluators == tuple(
            (entry.name, dict(entry.parameters)) for entry in own.evaluators
        )


@pytest.mark.nightly
def test_a_hosted_benchmark_gives_the_scores_of_the_library(
    folder: Path, site: Site, expected: list[dict[str, Any]]
) -> None:
    """Create it, upload truth, submit, rank by the preset's first evaluator, and examine scores."""
    (folder / "benchmark.toml").write_text(
        f'title = "Streets"\n[[evaluators]]\nname = "{NAME}"\n[policy]\nvisibility = "live"\n'
    )

    def call(*arguments: str) -> str:
        ran = run_binary(*arguments, env=site.environment, cwd=folder)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    call("benchmark", "create", "streets", "benchmark.toml")
    call("benchmark", "truth", "streets", "--truth", "gt", "--complete")
    shown = json.loads(call("benchmark", "show", "streets", "--format", "json"))
    assert shown["definition"]["evaluators"] == [{"name": NAME}]
    for system in ("one", "two"):
        named = ("submit", "streets", "--detections", "tracks", "--name", system)
        reports = json.loads(call(*named, "--format", "json"))
        assert [report["evaluator"] for report in reports] == EVALUATORS
        assert [report["preset"] for report in reports] == [NAME] * len(EVALUATORS)
        assert [report["scores"] for report in reports] == [one["scores"] for one in expected]
    board = json.loads(call("leaderboard", "streets", "--format", "json"))
    assert EVALUATORS[0] in json.dumps(board)
    examination = ("trust", "ranking", "--benchmark", "streets", "--draws", "1", "--trials", "1")
    examined = json.loads(call(*examination, "--format", "json"))
    assert {one["evaluator"] for one in examined["rankings"]} == set(EVALUATORS)


def test_a_benchmark_by_a_path_or_with_an_evaluator_twice_is_refused(
    folder: Path, site: Site
) -> None:
    for text, why in (
        ('[[evaluators]]\nname = "own.toml"\n', "cannot be read from here"),
        (f'[[evaluators]]\nname = "{NAME}"\n[[evaluators]]\nname = "hota"\n', "each evaluator"),
    ):
        (folder / "wrong.toml").write_text(f'title = "Wrong"\n{text}')
        ran = run_binary(
            *("benchmark", "create", "wrong", "wrong.toml"), env=site.environment, cwd=folder
        )
        assert ran.returncode == 1
        assert why in ran.stderr
