"""Python SDK of vidscore: stream detections to a scoring server and get reports back.

`connect` makes a synchronous client, `vidscore_client.aio.connect` an asyncio one with the same
methods. Arguments, reports, settings and errors are the same for both.
"""

from vidscore_client import aio
from vidscore_client._operations import Health
from vidscore_client._version import __version__
from vidscore_client.access import Tokens
from vidscore_client.benchmarks import Benchmarks, Rescoring
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
    QuotaExceededError,
    SubmissionEndedError,
    SupersededError,
    UnavailableError,
    UnsupportedError,
    VersionError,
    VidscoreError,
)
from vidscore_client.evaluators import EvaluatorChoice, EvaluatorDescription, Measure
from vidscore_client.frames import FrameFlag, Frames, Geometry, ObjectFlag, Side
from vidscore_client.hosting import (
    AuditRecord,
    Benchmark,
    Leaderboard,
    LeaderboardRow,
    NewToken,
    RankingQuestions,
    RescoreProgress,
    Role,
    ScoreDifference,
    StreamInfo,
    Submission,
    SubmissionScore,
    SubmissionState,
    SubmissionUpdate,
    Token,
    TrustDocument,
    TrustProgress,
    TruthRevision,
)
from vidscore_client.reports import Coverage, Curve, LiveReport, Report, ReportWarning, Row
from vidscore_client.servers import ServerInfo, StoreInfo
from vidscore_client.settings import Batching, Delivery, Keepalive, Live, Policy, Retry, Tls
from vidscore_client.stream import ScoreStream
from vidscore_client.submission_stream import SubmissionStream
from vidscore_client.submissions import Submissions
from vidscore_client.trust import Trust, TrustAnalysis

__all__ = [
    "AccessDeniedError",
    "AuditRecord",
    "BackPressureError",
    "Batching",
    "Benchmark",
    "Benchmarks",
    "CallCancelledError",
    "CallbackError",
    "Client",
    "ClosedError",
    "ConflictError",
    "Coverage",
    "Curve",
    "DeadlineError",
    "Delivery",
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
    "Keepalive",
    "Leaderboard",
    "LeaderboardRow",
    "LimitExceededError",
    "Live",
    "LiveReport",
    "Measure",
    "NewToken",
    "NotFoundError",
    "ObjectFlag",
    "Policy",
    "QuotaExceededError",
    "RankingQuestions",
    "Report",
    "ReportWarning",
    "RescoreProgress",
    "Rescoring",
    "Retry",
    "Role",
    "Row",
    "ScoreDifference",
    "ScoreStream",
    "ServerInfo",
    "Side",
    "StoreInfo",
    "StreamInfo",
    "Submission",
    "SubmissionEndedError",
    "SubmissionScore",
    "SubmissionState",
    "SubmissionStream",
    "SubmissionUpdate",
    "Submissions",
    "SupersededError",
    "Tls",
    "Token",
    "Tokens",
    "Trust",
    "TrustAnalysis",
    "TrustDocument",
    "TrustProgress",
    "TruthRevision",
    "UnavailableError",
    "UnsupportedError",
    "VersionError",
    "VidscoreError",
    "__version__",
    "aio",
    "connect",
]
