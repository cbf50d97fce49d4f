"""Sentences about submissions and quotas, from the plain values of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vidscore_evaluators.explanation.answer import in_words
from vidscore_server.web.site.phrases import counted, sentence, things, time_text

STATES = (
    "receiving",
    "sealed",
    "waiting_for_truth",
    "scoring",
    "scored",
    "failed",
    "cancelled",
)
"""Order of the listed states of submissions."""

ENDED = frozenset({"scored", "failed", "cancelled"})
TAKES_FRAMES = frozenset({"open", "receiving"})
CANCELLABLE = TAKES_FRAMES | {"sealed", "waiting_for_truth"}

_WORDS = {
    "open": "Draft.",
    "receiving": "Receiving.",
    "sealed": "Sealed.",
    "waiting_for_truth": "Waiting for ground truth.",
    "scoring": "Being scored.",
    "scored": "Scored.",
    "failed": "Failed.",
    "cancelled": "Cancelled.",
}

_REASONS = {
    "created": "It is a draft, which nothing counts, until its first frames arrive.",
    "frames_received": "Its frames are stored as they arrive.",
    "sealed_by_team": "It takes no more frames, and is scored next.",
    "sealed_when_quiet": "No frames came for a while, so it was sealed.",
    "sealed_at_closing": "The benchmark has closed, so it was sealed.",
    "truth_missing": "It is scored once ground truth is there.",
    "scoring_started": "Its scores are being computed.",
    "scoring_interrupted": "Its scoring was interrupted, and begins again by itself.",
    "scored": "Its scores are ready; the policy decides which of them are shown.",
    "scored_without_all_truth": (
        "It was scored on the ground truth that was there; frames without it are left out."
    ),
    "scoring_failed": "It could not be scored. No frame is lost, and a retry costs no quota.",
    "scoring_timed_out": (
        "Scoring it took longer than the server allows. No frame is lost, and a retry costs no "
        "quota."
    ),
    "scoring_retried": "It is scored once more.",
    "truth_never_came": "No ground truth came in time. No frame is lost, and it can be retried.",
    "cancelled_by_team": "Its team has cancelled it. It costs no quota; its frames are deleted.",
    "cancelled_by_organiser": "An organiser has cancelled it, and its frames are deleted.",
    "cancelled_when_quiet": "No frames came for a while, so it was cancelled. It costs no quota.",
    "cancelled_at_closing": "The benchmark closed before it was sealed. It costs no quota.",
    "cancelled_by_quota": "The quota of its team was used up when it would have been sealed.",
    "cancelled_without_frames": "It had no frames.",
}
"""By reason code: why a submission is in its state, and the consequences."""

_DUE = {
    "draft_deleted": "Without frames it is deleted on {time}.",
    "sealed_when_quiet": "It is sealed on {time} if nothing more comes.",
    "cancelled_when_quiet": "It is cancelled on {time} if nothing more comes.",
    "sealed_at_closing": "It is sealed when the benchmark closes, on {time}.",
    "cancelled_at_closing": "It is cancelled when the benchmark closes, on {time}.",
    "scored_without_all_truth": "On {time} it is scored on the ground truth that is there.",
    "truth_never_came": "It fails on {time} if no ground truth has come.",
}

_SPANS = {"submissions_per_day": "today", "submissions_in_all": "in all"}


def state_words(state: str) -> str:
    """A state as the first words of a sentence."""
    return _WORDS.get(state, state.replace("_", " ").capitalize() + ".")


def reason_sentences(submission: Mapping[str, Any]) -> str:
    """Why a submission is in its state, and its next event by time alone."""
    reason = submission["state_reason"]
    said = [_REASONS.get(reason) or f"{reason.replace('_', ' ').capitalize()}."]
    if submission["state"] == "failed" and submission["state_message"]:
        said.append(sentence(submission["state_message"]))
    due = _DUE.get(submission["due_reason"])
    if due and submission["due_time"] is not None:
        said.append(due.format(time=time_text(submission["due_time"])))
    return " ".join(said)


def online_words(online: Mapping[str, Any]) -> str:
    """How a submission answered the clock of a live benchmark, in sentences."""
    if not online["certified"]:
        said = f"Not certified: {online['message']}."
    else:
        said = f"Certified: {things(online['frame_count'], 'frame')} answered in time."
    worst = online["latency_worst_s"]
    return said if worst is None else f"{said} The worst latency was {worst:.3f} s."


def event_words(event: Mapping[str, Any]) -> tuple[str, bool]:
    """An event in a submission's history as a sentence, and whether something went wrong."""
    reason = event["reason"]
    if reason == "created":
        return "Created.", False
    if reason == "stream_opened":
        stream = event["stream"]
        return f"The stream {stream} was opened again, and goes on after its last frame.", False
    words = reason.replace("_", " ").capitalize()
    return f"{words}.", reason.startswith(("cancelled", "scoring_failed", "scoring_timed_out"))


def quota_facts(quotas: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """A team's used submissions: ``("Today", "2 of 3 used")``."""
    found = []
    for quota in quotas:
        if (span := _SPANS.get(quota["name"])) is not None:
            used = quota["maximum"] - quota["left"]
            found.append((span.capitalize(), f"{used:,} of {quota['maximum']:,} used"))
    return found


def quota_sentence(quotas: Sequence[Mapping[str, Any]]) -> str:
    """What a team may submit: ``Your team may submit two more times today``; empty if unlimited."""
    parts = []
    for quota in quotas:
        span = _SPANS.get(quota["name"])
        if span is None:
            continue
        times = "time" if quota["left"] == 1 else "times"
        until = ""
        if quota["renew_time"] is not None:
            until = f" (until {time_text(quota['renew_time'])})"
        parts.append(f"{in_words(quota['left'])} more {times} {span}{until}")
    return f"Your team may submit {' and '.join(parts)}." if parts else ""


def left_text(quotas: Sequence[Mapping[str, Any]]) -> str:
    """What a team has left: ``two of three submissions today``; empty if nothing limits it."""
    return ", ".join(
        f"{in_words(quota['left']) if quota['left'] else 'none'} of "
        f"{counted(quota['maximum'], 'submission')} {_SPANS[quota['name']]}"
        for quota in quotas
        if quota["name"] in _SPANS
    )
