"""Submissions through a faulty network, each by a program of one client, and their invariants.

A life is one submission. Its programs are the client's conformance runner; each continues where
the one before died or gave up. Whatever happens, a program ends or reports an error; the frames
that it was told are durable are stored; and in the end every frame counts once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.campaigns.network import GONE, Weather
from tests.conformance.cases import STREETS, Document
from tests.conformance.comparing import ascending, equal, hold
from tests.conformance.runners import COMPLETED, KILLED, REFUSED, Outcome, Runner, Started
from tests.conformance.site import Site, wait_until
from tests.conformance.stage import BENCHMARK
from tests.crash.writers import insistently
from tests.support.chaos import ChaosProxy

from vidscore_client import NotFoundError, Submission, SubmissionState

FRAME_COUNT = len(STREETS.document["detections"])

LIVELY: Mapping[str, Any] = {
    "rate_hz": 60,
    "batch_frames": 4,
    "batch_interval_s": 0.02,
    "window_frames": 16,
    "retry_initial_s": 0.05,
    "retry_maximum_s": 0.3,
    "acknowledge_timeout_s": 3,
    "keepalive_interval_s": 10,
    "keepalive_timeout_s": 2,
    "give_up_after_s": 150,
    "timeout_s": 10,
    "wait_s": 120,
}
"""A live system whose client reconnects soon and has the shortest allowed timeout for silence."""

FAULT_COUNT = 6
FIRST_FRAMES = 16
GIVING_UP: Mapping[str, Any] = {"rate_hz": 10, "give_up_after_s": 2}
"""So slow that the network fails before the last frame."""

PAUSE_S = 0.3
LONGEST_S = 300.0
"""Time limit of a submission once its network works, whatever the server does."""

PASSING = ("unavailable", "deadline")
"""Errors of a program that could not open its stream or ask for its result."""

LAST_FRAMES: int = LIVELY["window_frames"]
"""Upper bound on the frames of a dead program that may still arrive during the next one."""

WRITABLE = (SubmissionState.OPEN, SubmissionState.RECEIVING)


@dataclass(frozen=True)
class Reference:
    """The expected result of every complete submission.

    Attributes:
        scores: Its scores as runners print them.
        digests: The digests of its frames, as the organiser sees them, by evaluator.
    """

    scores: list[Document]
    digests: Mapping[str, str]


def digests_of(site: Site, name: str) -> dict[str, str]:
    """The digests of the frames that a submission was scored with, by evaluator."""
    scores = insistently(lambda: site.organiser.submissions.scores(f"{BENCHMARK}/{name}"))
    return {score.report.evaluator: score.report.detections_digest for score in scores}


class Life:
    """One submission.

    Args:
        runner: The runner of the client.
        site: The server.
        reference: The expected result.
        kind: Names the submission, together with the language.
        chance: Decides what happens to it.

    Attributes:
        name: Name of the submission.
        language: Language of the client.
        broken: The number of its broken connections.
        slowed: How often its network was slow or narrow.
    """

    def __init__(
        self, runner: Runner, site: Site, reference: Reference, kind: str, chance: Random
    ) -> None:
        self.language = runner.language
        self.name = f"{self.language}-{kind}"
        self.broken = self.slowed = 0
        self.chance = chance
        self._runner = runner
        self._site = site
        self._reference = reference
        self._durable = 0

    def frame_count(self) -> int:
        """The number of its durable frames; 0 if it does not exist yet."""
        found = self._found()
        return 0 if found is None else found.frame_count

    def _found(self) -> Submission | None:
        submissions = self._site.organiser.submissions
        try:
            return insistently(lambda: submissions.get(f"{BENCHMARK}/{self.name}"))
        except NotFoundError:
            return None

    def start(self, proxy: ChaosProxy, **more: object) -> Started:
        """Start a program that sends the submission or continues it."""
        return self._runner.start(
            "submit",
            address=proxy.address,
            token=self._site.token,
            benchmark=BENCHMARK,
            submission=self.name,
            frames=STREETS.frames_file,
            replay=True,
            **{**LIVELY, **more},
        )

    # --- the kinds of lives ------------------------------------------------------------------

    def stream(self) -> None:
        """Send everything through a faulty network that is silent once."""
        self._through_faults(silence=True)

    def by_single_calls(self) -> None:
        """Send everything with one call per batch."""
        self._through_faults(silence=False, unary=True)

    def _through_faults(self, *, silence: bool, **more: object) -> None:
        with ChaosProxy(self._site.address) as proxy:
            weather = Weather(proxy, self.chance, FAULT_COUNT, silence=silence)
            with weather.lasting():
                self._send_all(proxy, **more)
            self._note(proxy, weather.slowed)
        self._check_kept()

    def dying(self) -> None:
        """Kill the program after some acknowledgements; the frames stay, and the next continues."""
        told = self.chance.randint(5, FRAME_COUNT - FIRST_FRAMES)
        with ChaosProxy(self._site.address) as proxy:
            weather = Weather(proxy, self.chance, FAULT_COUNT, silence=False)
            with weather.lasting():
                died = self._insist(lambda: self.start(proxy, die_after_acknowledged=told))
                hold(died.code in KILLED, f"ended with {died.code} in place of dying: {died.said}")
                self._hold_durable(told)
                self._send_all(proxy)
            self._note(proxy, weather.slowed)
        self._check_kept()

    def given_up(self) -> None:
        """Break the network for good: the program reports it and ends, and the next one goes on."""
        way = self.chance.choice(list(GONE))
        with ChaosProxy(self._site.address) as proxy:
            said = self._insist(lambda: self._left_alone(proxy, way), until=self._has_begun)
            kinds = PASSING if way == "silent" else PASSING[:1]
            hold(_kind(said) in kinds, f"{way} for good, and it said: {said.said}")
            self._hold_durable(self._durable)
            proxy.calm()
            self._send_all(proxy)
            self._note(proxy, 0)
        self._check_kept()

    def _left_alone(self, proxy: ChaosProxy, way: str) -> Started:
        """A program whose network fails once its first frames are durable."""
        proxy.calm()
        sending = self.start(proxy, **GIVING_UP)
        try:
            wait_until(lambda: self._has_begun() or not sending.running, "the first frames")
        except BaseException:
            sending.end()
            raise
        self._durable = self.frame_count()
        GONE[way](proxy, self.chance)
        return sending

    def _has_begun(self) -> bool:
        return self.frame_count() >= FIRST_FRAMES

    # --- what must hold ----------------------------------------------------------------------

    def _insist(
        self, start: Callable[[], Started], until: Callable[[], bool] | None = None
    ) -> Outcome:
        """Run one program after the other, as long as they cannot even open a stream.

        Args:
            start: Starts one.
            until: Whether a program has begun; then it may fail. Without it none may fail.
        """
        give_up_s = time.monotonic() + LONGEST_S
        while True:
            before = self.frame_count()
            outcome = start().wait()
            if _kind(outcome) not in PASSING or (until is not None and until()):
                return outcome
            if until is None:
                self._hold_not_begun(before, outcome)
            hold(time.monotonic() < give_up_s, f"does not come through: {outcome.said}")
            time.sleep(PAUSE_S)

    def _hold_not_begun(self, before: int, outcome: Outcome) -> None:
        """Require that a program that gave up had no stream: breaks must not end streams."""
        if (found := self._found()) is None or found.state not in WRITABLE:
            return  # It was sealed, and a break may end the wait for its scores.
        grown = found.frame_count - before
        said = f"{grown} frames came, and then a break was the end: {outcome.said}"
        hold(grown <= LAST_FRAMES, said)

    def _send_all(self, proxy: ChaosProxy, **more: object) -> None:
        """Run programs until one completes the submission, or finds it sealed."""
        outcome = self._insist(lambda: self.start(proxy, **more))
        if _kind(outcome) == "submission_ended":
            return  # An earlier program has sealed it, but could not ask for its result.
        result = outcome.result()
        equal(result["state"], "scored", "state")
        equal(result["frame_count"], FRAME_COUNT, "frame_count")
        equal(result["acknowledged_frames"], FRAME_COUNT, "acknowledged_frames")
        ascending(result["acknowledged"], "acknowledged offsets")
        hold(result["opened_offset"] >= self._durable, f"began at {result['opened_offset']}")
        equal(result["scores"], self._reference.scores, "scores")

    def _hold_durable(self, told: int) -> None:
        """Require that the frames that were acknowledged or seen before are on the server."""
        found = self.frame_count()
        hold(found >= told, f"{told} frames were durable, and {found} are there")
        self._durable = told

    def _check_kept(self) -> None:
        """Check that every frame counts once, by the digests that the organiser sees."""
        found = insistently(
            lambda: self._site.organiser.submissions.wait(f"{BENCHMARK}/{self.name}", LONGEST_S)
        )
        equal(found.state.value, "scored", "state")
        equal(found.frame_count, FRAME_COUNT, "durable frames")
        equal(digests_of(self._site, self.name), dict(self._reference.digests), "digests")

    def _note(self, proxy: ChaosProxy, slowed: int) -> None:
        self.broken += proxy.connections_broken
        self.slowed += slowed


def _kind(outcome: Outcome) -> str:
    """The kind of the error that ended a program; empty if it reported none."""
    if outcome.code == COMPLETED or outcome.document is None:
        return ""
    error = outcome.document.get("error", {})
    hold(outcome.code == REFUSED and error.get("message"), f"no error of its own: {outcome.said}")
    kind = str(error["kind"])
    if kind == "unavailable":
        hold(error["retryable"], f"not to be tried again: {error}")
    return kind
