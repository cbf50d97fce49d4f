"""Python SDK of vidscore: stream detections to a scoring server and get reports back.

`connect` makes a synchronous client, `vidscore_client.aio.connect` an asyncio one with the same
methods. Arguments, reports, settings and errors are the same for both.
"""

from vidscore_client import aio
from vidscore_client._operations import Health
from vidscore_client._version import __version__
from vidscore_client.client import Client, connect
from vidscore_client.errors import (
    AccessDeniedError,
    BackPressureError,
    CallbackError,
    CallCancelledError,
    ClosedError,
    ConflictError,
    DeadlineError,
    FieldViolation,
    InputError,
    InternalError,
    InvalidArgumentError,
    LimitExceededError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
    VidscoreError,
)
from vidscore_client.evaluators import EvaluatorChoice, EvaluatorDescription, Measure
from vidscore_client.frames import FrameFlag, Frames, Geometry, ObjectFlag, Side
from vidscore_client.reports import Coverage, Curve, LiveReport, Report, ReportWarning, Row
from vidscore_client.settings import Batching, Live, Policy, Tls
from vidscore_client.stream import ScoreStream

__all__ = [
    "AccessDeniedError",
    "BackPressureError",
    "Batching",
    "CallCancelledError",
    "CallbackError",
    "Client",
    "ClosedError",
    "ConflictError",
    "Coverage",
    "Curve",
    "DeadlineError",
    "EvaluatorChoice",
    "EvaluatorDescription",
    "FieldViolation",
    "FrameFlag",
    "Frames",
    "Geometry",
    "Health",
    "InputError",
    "InternalError",
    "InvalidArgumentError",
    "LimitExceededError",
    "Live",
    "LiveReport",
    "Measure",
    "NotFoundError",
    "ObjectFlag",
    "Policy",
    "Report",
    "ReportWarning",
    "Row",
    "ScoreStream",
    "Side",
    "Tls",
    "UnavailableError",
    "UnsupportedError",
    "VidscoreError",
    "__version__",
    "aio",
    "connect",
]
