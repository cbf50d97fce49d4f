"""The SDK for commands: clients whose errors have exit codes, and conversions of its types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, get_args

import click

from vidscore_cli.failures import (
    AccessRefusedError,
    InputRefusedError,
    ServerFailedError,
    ServerUnreachableError,
)
from vidscore_cli.records import short_names
from vidscore_cli.sites import ServerChoice

if TYPE_CHECKING:
    from vidscore_client import (
        AccessDeniedError,
        Benchmark,
        Client,
        DeadlineError,
        Frames,
        Geometry,
        InputError,
        UnavailableError,
        VidscoreError,
    )
    from vidscore_client import Outcomes as RemoteOutcomes
    from vidscore_client import Report as RemoteReport
    from vidscore_client.aio import AsyncClient
    from vidscore_evaluators.annotations import Annotations
    from vidscore_evaluators.outcome_table import Outcomes
    from vidscore_evaluators.report import Report

TYPED_ARGUMENTS = {
    "target": "--server",
    "root_certificates": "--tls-root",
    "certificate": "--tls-certificate",
    "private_key": "--tls-key",
    "token": "--token",
    "states": "--state",
}
"""Options, by the argument of the SDK that each becomes."""

GRPC_FOUND_HTTP = "http1.x server"
"""Part of grpc's message if it meets HTTP/1."""

SPEAKS_HTTP = (
    "this port speaks HTTP, like that of a site",
    "name the address of the server's gRPC port",
)
"""What that means, and what to do."""

TYPED_MISTAKES = {"UNKNOWN_EVALUATOR", "INVALID_PARAMETER", "INVALID_SPECIFICATION"}
"""Reasons that are usage errors if the refused part was typed on the command line."""

ALL_TYPED = ("",)
"""Endings of fields if everything about evaluators was typed."""

UNAUTHENTICATED = "UNAUTHENTICATED"
HAS_SUBMISSIONS = "HAS_SUBMISSIONS"
"""Reasons whose messages name metadata and fields, not options."""

NOT_SERVED = "it hosts no benchmarks (vidscore serve --store does), or is older than this command"

KEY_ADVICE = "set VIDSCORE_TOKEN, give --token, or use vidscore login"


def connect_to(server: ServerChoice, *, timeout_s: float) -> Client:
    """A client of a server, whose errors are the SDK's.

    Args:
        server: The server.
        timeout_s: Seconds that a call, or the opening of a stream, may take.
    """
    from vidscore_client import connect

    return connect(server.address, timeout_s=timeout_s, **_connection(server))


@contextmanager
def open_client(
    server: ServerChoice, *, timeout_s: float = 10.0, typed: tuple[str, ...] = ()
) -> Iterator[Client]:
    """A client of a server, whose errors become messages with the right exit code.

    Args:
        server: The server.
        timeout_s: Seconds that a call, or the opening of a stream, may take.
        typed: Endings of the fields about evaluators that were typed rather than read from a file.

    Raises:
        click.ClickException: For every error of the SDK.
    """
    with _messages(server, typed=typed), connect_to(server, timeout_s=timeout_s) as client:
        yield client


def open_async_client(server: ServerChoice) -> AsyncClient:
    """An asyncio client of a server, for use within `open_client`, which explains its errors."""
    from vidscore_client import aio

    return aio.connect(server.address, **_connection(server))


def _connection(server: ServerChoice) -> dict[str, Any]:
    return {
        "tls": server.sdk_tls,
        "token": server.token or None,
        "allow_plaintext_token": server.plaintext_token,
    }


def geometry_of(annotations: Annotations) -> Geometry:
    """The SDK's word for the shape of objects."""
    from vidscore_client import Geometry
    from vidscore_client.frames import ARITIES

    known: tuple[Geometry, ...] = get_args(Geometry)
    return next(name for name in known if ARITIES[name] == annotations.arity)


def detection_arity(benchmark: Benchmark) -> int:
    """Coordinates that a detection of a benchmark has.

    Raises:
        InputRefusedError: If it has no truth yet, which determines the shape.
    """
    from vidscore_client.frames import ARITIES

    if benchmark.detection_geometry is None:
        name = short_names(benchmark.name)
        raise InputRefusedError(f"{name} has no truth yet, so it takes no detections")
    return ARITIES[benchmark.detection_geometry]


def to_frames(annotations: Annotations) -> Frames:
    """The same columns for the SDK, without copying."""
    from vidscore_client import Frames, Masks

    masks = annotations.masks
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
        frame_times_s=annotations.frame_times_s,
        masks=None if masks is None else Masks(masks.sizes, masks.starts, masks.runs),
    )


def to_annotations(frames: Frames) -> Annotations:
    """Inverse of `to_frames`, with every column."""
    import numpy as np

    from vidscore_evaluators.annotations import NO_TRACK, Annotations, SequenceKey
    from vidscore_evaluators.masks import Masks

    masks = frames.masks
    count, frame_count = len(frames.coordinates), len(frames.frame_numbers)

    def column(values: Any, usual: float, dtype: Any, length: int = count) -> Any:
        return np.full(length, usual, dtype=dtype) if values is None else values.astype(dtype)

    return Annotations(
        sequences=tuple(SequenceKey(*names) for names in frames.sequences),
        labels=tuple(map(str, frames.labels)) or ("",),
        frame_sequences=frames.frame_sequences.astype(np.int64),
        frame_numbers=frames.frame_numbers.astype(np.int64),
        frame_flags=column(frames.frame_flags, 0, np.uint8, frame_count),
        frame_starts=frames.frame_starts.astype(np.int64),
        coordinates=frames.coordinates,
        label_indices=column(frames.label_indices, 0, np.int32),
        confidences=column(frames.confidences, 1.0, np.float64),
        track_ids=column(frames.track_ids, NO_TRACK, np.int64),
        flags=column(frames.flags, 0, np.uint8),
        columns=dict(frames.columns),
        frame_times_s=frames.frame_times_s,
        masks=None if masks is None else Masks(masks.sizes, masks.starts, masks.runs),
    )


def to_reports(reports: Iterable[RemoteReport]) -> list[Report]:
    """The SDK's reports as reports of the evaluators, so that the same code shows both."""
    from vidscore_evaluators.report import report_from_dict

    return [report_from_dict(report.to_dict()) for report in reports]


def to_outcomes(outcomes: RemoteOutcomes) -> Outcomes:
    """The SDK's outcomes as outcomes of the evaluators."""
    import numpy as np

    from vidscore_client.outcomes import OUTCOMES, SIDES
    from vidscore_evaluators.annotations import SequenceKey, Side
    from vidscore_evaluators.outcome_table import CODES, Outcome, Outcomes
    from vidscore_evaluators.outcome_table import SIDES as OWN_SIDES

    sides = np.array([OWN_SIDES.index(Side(name)) for name in SIDES], dtype=np.uint8)
    codes = np.array([CODES[Outcome(name)] for name in OUTCOMES], dtype=np.uint8)
    return Outcomes(
        sequence_keys=tuple(SequenceKey(*names) for names in outcomes.sequences),
        label_names=outcomes.labels,
        sides=sides[outcomes.sides],
        sequences=outcomes.row_sequences.astype(np.int32),
        frames=outcomes.frame_numbers.astype(np.int64),
        rows=outcomes.places.astype(np.int32),
        labels=outcomes.label_indices.astype(np.int32),
        confidences=outcomes.confidences,
        tracks=outcomes.track_ids.astype(np.int64),
        outcomes=codes[outcomes.outcomes],
        partners=outcomes.partners.astype(np.int32),
        similarities=outcomes.similarities,
        distances_px=outcomes.distances_px,
        shares=outcomes.shares,
        id_switches=outcomes.id_switches,
        fragmentations=outcomes.fragmentations,
        columns=outcomes.columns,
    )


@contextmanager
def _messages(server: ServerChoice, *, typed: tuple[str, ...]) -> Iterator[None]:
    from vidscore_client import (
        AccessDeniedError,
        DeadlineError,
        InputError,
        InternalError,
        UnavailableError,
        UnsupportedError,
        VidscoreError,
    )

    address = server.address
    try:
        yield
    except InputError as error:
        if error.argument in TYPED_ARGUMENTS:
            raise click.UsageError(in_typed_words(error)) from None
        raise InputRefusedError(_with_notes(str(error), error)) from None
    except (UnavailableError, DeadlineError) as error:
        raise ServerUnreachableError(_no_service(server, error)) from None
    except AccessDeniedError as error:
        raise AccessRefusedError(_access_refused(server, error)) from None
    except UnsupportedError:
        said = f"the server at {address} does not serve this: {NOT_SERVED}"
        raise ServerUnreachableError(said) from None
    except InternalError as error:
        raise ServerFailedError(f"the server at {address} failed: {error}") from None
    except VidscoreError as error:
        fields = [violation.field for violation in error.violations] or [""]
        if error.reason in TYPED_MISTAKES and any(field.endswith(typed) for field in fields):
            raise click.UsageError(_describe(error)) from None
        raise InputRefusedError(_with_notes(_describe(error), error)) from None


def in_typed_words(error: InputError) -> str:
    """An error about an argument of the SDK, in terms of the typed option."""
    said = str(error).removeprefix(error.argument)
    typed = said.replace("allow_plaintext_token=True", "--plaintext-token")
    return f"{TYPED_ARGUMENTS.get(error.argument, error.argument)}{typed}"


def _no_service(server: ServerChoice, error: UnavailableError | DeadlineError) -> str:
    if error.reason != error.code:
        return f"the server at {server.address} cannot serve this now: {error}"
    cause = without_grpc_talk(str(error))  # no server has said why
    if cause == "Socket closed":  # by a server that expects TLS, or another certificate
        cause = f"{cause}; {no_answer_advice(server)}"
    return f"no server answers at {server.address}: {cause}"


def no_answer_advice(server: ServerChoice) -> str:
    """What to do if a connection is closed before a server answers."""
    if not server.sdk_tls:
        return "if the server has a certificate, add --tls or --tls-root"
    if not server.tls_certificate:
        return "if the server requires client certificates, add --tls-certificate and --tls-key"
    return (
        "is it a vidscore server, and is the client's certificate valid and signed by its "
        "authority?"
    )


def without_grpc_talk(text: str) -> str:
    """The cause alone if grpc lists every address that it tried."""
    if "WRONG_VERSION_NUMBER" in text:
        return "this port is not encrypted; omit --tls and its files"
    if GRPC_FOUND_HTTP in text:
        return "; ".join(SPEAKS_HTTP)
    if "Hostname Verification Check failed" in text:
        return "its certificate is for another name; vidscore doctor says what to do"
    distrusted = re.search("CERTIFICATE_VERIFY_FAILED: ([^:]+)", text)
    if distrusted is not None:
        return f"its certificate is not trusted: {distrusted[1]}; vidscore doctor says what to do"
    return text.rpartition(": ")[2] if "last error: " in text else text


def _access_refused(server: ServerChoice, error: AccessDeniedError) -> str:
    if error.reason != UNAUTHENTICATED:
        return f"the server at {server.address} refuses: {error}"
    if server.token:
        return f"the server at {server.address} refuses the token: {error}; {KEY_ADVICE}"
    return f"the server at {server.address} requires a token: {KEY_ADVICE}"


def _with_notes(text: str, error: Exception) -> str:
    """A message, followed by the notes of the error."""
    return "\n".join([text, *getattr(error, "__notes__", ())])


def _describe(error: VidscoreError) -> str:
    """Every violation once: the server's message repeats the first one."""
    if error.reason == HAS_SUBMISSIONS:
        return "the benchmark has submissions; --force deletes them too"
    if not error.violations:
        return short_names(str(error))
    lines = [str(violation) for violation in error.violations]
    if error.violation_count > len(lines):
        lines.append(f"... and {error.violation_count - len(lines)} more")
    return "\n  ".join(["the server refuses the input:", *lines])
