"""Whether a submission answered a live benchmark online, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vidscore_evaluators.names import counted, escape_controls

if TYPE_CHECKING:
    from vidscore_client import Client, OnlineRecord, Submission

LIVE_STREAM = "live"
"""The append stream of the answers of a live submission."""


def online_of(client: Client, submission: Submission) -> OnlineRecord | None:
    """How a scored submission answered online; None if it did not answer a live benchmark."""
    if submission.stream(LIVE_STREAM) is None:
        return None
    found = (score.online for score in client.submissions.scores(submission.name))
    return next(filter(None, found), None)


def online_text(online: OnlineRecord) -> str:
    """Certified or why not, latencies, and where the frames came from."""
    counts = f"{online.in_time_count} of {counted(online.frame_count, 'frame')} in time"
    why = counts if online.certified else escape_controls(online.message)
    parts = [f"{'certified' if online.certified else 'not certified'}: {why}"]
    latencies = {
        "50 %": online.latency_50_s,
        "90 %": online.latency_90_s,
        "99 %": online.latency_99_s,
        "worst": online.latency_worst_s,
    }
    known = [f"{value:.3f} s ({name})" for name, value in latencies.items() if value is not None]
    if known:
        parts.append("latency " + ", ".join(known))
    parts.append(f"frames: {escape_controls(online.frames)}")
    return "; ".join(parts)


def clock_text(live: Mapping[str, Any]) -> str:
    """Frame rate of the clock of a live benchmark, and where the frames come from."""
    own = len(live.get("sequences", ()))
    rate = live.get("frame_rate")
    parts = [
        *([] if rate is None else [f"{counted(rate, 'frame', form='g')} per second"]),
        *([f"{counted(own, 'sequence')} with times of their own"] if own else []),
        f"frames: {live.get('frames', 'held by the participant')}",
    ]
    return "; ".join(parts)
