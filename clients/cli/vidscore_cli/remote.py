"""Between this side's annotations, reports and exit codes and those of the SDK."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import get_args

import click

from vidscore_cli.failures import InputRefusedError, ServerFailedError, ServerUnreachableError
from vidscore_client import (
    DeadlineError,
    Frames,
    Geometry,
    InputError,
    InternalError,
    UnavailableError,
    UnsupportedError,
    VidscoreError,
)
from vidscore_client import Report as RemoteReport
from vidscore_client.frames import ARITIES
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.report import Report
from vidscore_evaluators.report_json import report_from_dict

TYPED_MISTAKES = {"UNKNOWN_EVALUATOR", "INVALID_PARAMETER"}
"""Reasons of the server that are about what was typed, where it was typed."""


def geometry_of(annotations: Annotations) -> Geometry:
    """The SDK's word for the shape of objects."""
    known: tuple[Geometry, ...] = get_args(Geometry)
    return next(name for name in known if ARITIES[name] == annotations.arity)


def to_frames(annotations: Annotations) -> Frames:
    """The same columns as the SDK takes them; nothing is copied."""
    return Frames(
        sequences=annotations.sequences,
        frame_sequences=annotations.frame_sequences,
        frame_numbers=annotations.frame_numbers,
        frame_starts=annotations.frame_starts,
        coordinates=annotations.coordinates,
        labels=annotations.labels,
        label_indices=annotations.label_indices,
        confidences=annotations.confidences,
        track_ids=annotations.track_ids,
        flags=annotations.flags,
        frame_flags=annotations.frame_flags,
        columns=annotations.columns,
    )


def to_reports(reports: Iterable[RemoteReport]) -> list[Report]:
    """The SDK's reports as reports of the evaluators, so that one way of showing serves both."""
    return [report_from_dict(report.to_dict()) for report in reports]


@contextmanager
def server_errors(address: str, *, typed: bool = False) -> Iterator[None]:
    """Turn what the SDK raises into messages with the right exit code.

    Args:
        address: The server's address, for the message.
        typed: Whether evaluators and parameters were typed rather than read from a file.

    Raises:
        click.ClickException: For every error of the SDK.
    """
    try:
        yield
    except InputError as error:
        if error.argument == "target":
            raise click.BadParameter(str(error), param_hint="--server") from None
        raise InputRefusedError(str(error)) from None
    except (UnavailableError, DeadlineError) as error:
        raise ServerUnreachableError(
            f"the server at {address} cannot be reached: {error}"
        ) from None
    except (InternalError, UnsupportedError) as error:
        raise ServerFailedError(f"the server at {address} failed: {error}") from None
    except VidscoreError as error:
        if typed and error.reason in TYPED_MISTAKES:
            raise click.UsageError(str(error)) from None
        raise InputRefusedError(str(error)) from None
