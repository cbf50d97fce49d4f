"""Values of the SDK and of the command line mean the same."""

from __future__ import annotations

from typing import NoReturn

import click
import pytest
from tests.clients.cli.helpers import as_remote, example_report, run

import vidscore_client
from vidscore_cli.remote import ALL_TYPED, geometry_of, open_client, to_frames, to_reports
from vidscore_cli.session import ExitCode
from vidscore_cli.sites import ServerChoice
from vidscore_evaluators.report import report_to_dict, report_to_json
from vidscore_evaluators.testing.examples import make_annotations


def test_a_report_of_the_sdk_becomes_the_same_report() -> None:
    report = example_report()
    assert report_to_json(to_reports([as_remote(report)])[0]) == report_to_json(report)
    assert as_remote(report).to_dict() == report_to_dict(report)


@pytest.mark.parametrize(
    ("coordinates", "geometry"),
    [((1, 2), "point"), ((1, 2, 3, 4), "box"), ((1, 2, 3, 4, 5, 6, 7, 8), "quadrilateral")],
)
def test_frames_keep_their_columns_and_their_geometry(
    coordinates: tuple[float, ...], geometry: str
) -> None:
    annotations = make_annotations({("Tower", "001"): {3: [coordinates], 4: []}})
    frames = to_frames(annotations)
    assert geometry_of(annotations) == geometry
    assert frames.coordinates is annotations.coordinates
    assert frames.frame_numbers.tolist() == [3, 4]
    assert frames.frame_starts.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (vidscore_client.UnavailableError("gone"), ExitCode.UNREACHABLE),
        (vidscore_client.DeadlineError("late"), ExitCode.UNREACHABLE),
        (vidscore_client.InvalidArgumentError("wrong"), ExitCode.INPUT),
        (vidscore_client.LimitExceededError("much"), ExitCode.INPUT),
        (vidscore_client.InternalError("broken"), ExitCode.INTERNAL),
        (vidscore_client.UnsupportedError("Method not found!"), ExitCode.UNREACHABLE),
        (vidscore_client.InputError("target", "'x'", "host:port"), ExitCode.USAGE),
        (vidscore_client.InputError("coordinates", "'x'", "numbers"), ExitCode.INPUT),
    ],
)
def test_each_error_of_the_sdk_has_its_exit_code(
    error: vidscore_client.VidscoreError, code: ExitCode
) -> None:
    def fail() -> NoReturn:
        raise error

    with pytest.raises(click.ClickException) as raised, open_client(ServerChoice("127.0.0.1:1")):
        fail()
    assert raised.value.exit_code == code


def test_a_server_without_a_store_is_not_an_internal_error(server: str) -> None:
    """It has no calls of hosted benchmarks; grpc reports an unknown method."""
    result = run("benchmark", "list", "--server", server)
    said = f"Error: the server at {server} does not serve this: it hosts no benchmarks"
    assert (result.exit_code, said in result.stderr) == (3, True), result.stderr


@pytest.mark.parametrize(("typed", "code"), [(ALL_TYPED, ExitCode.USAGE), ((), ExitCode.INPUT)])
def test_a_typed_parameter_that_the_server_refuses_is_a_usage_error(
    typed: tuple[str, ...], code: ExitCode
) -> None:
    error = vidscore_client.InvalidArgumentError("tau: 0", reason="INVALID_PARAMETER")
    with (
        pytest.raises(click.ClickException) as raised,
        open_client(ServerChoice("127.0.0.1:1"), typed=typed),
    ):
        raise error
    assert raised.value.exit_code == code
