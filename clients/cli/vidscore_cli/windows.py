"""Windows over a stream: scores of its last frames, and drift from a baseline."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from vidscore_cli.failures import InputRefusedError
from vidscore_cli.input_paths import InputPath
from vidscore_cli.options import Decorator, together
from vidscore_cli.output import say
from vidscore_cli.thresholds import Measured, Threshold, overall_value, parse_threshold
from vidscore_cli.webhook import Webhook, check_url

if TYPE_CHECKING:
    from vidscore_evaluators.annotations import Annotations
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.report import Report


class LastFrames:
    """The last frames of a stream that have truth, in order of arrival.

    Args:
        size: Number of frames.
        evaluators: The evaluators.
        truth: The evaluated frames of the truth.

    Attributes:
        size: Number of frames of a full window.
        frame_count: Number of all frames so far.
    """

    def __init__(self, size: int, evaluators: Sequence[Evaluator[Any]], truth: Annotations) -> None:
        from vidscore_evaluators.annotations import frame_keys

        self.size = size
        self.frame_count = 0
        self._evaluators = evaluators
        self._truth = truth
        self._known = frozenset(frame_keys(truth))
        self._parts: deque[Annotations] = deque()
        self._held = 0

    def add(self, detections: Annotations) -> Iterator[int]:
        """Add frames; those without truth are ignored.

        Yields:
            The number of frames so far, whenever the window is full of new ones.
        """
        import numpy as np

        from vidscore_evaluators.annotations import frame_keys

        rows = np.flatnonzero([key in self._known for key in frame_keys(detections)])
        while len(rows):
            part = detections.take_frames(rows[: self.size - self.frame_count % self.size])
            rows = rows[part.frame_count :]
            self._parts.append(part)
            self.frame_count += part.frame_count
            self._held += part.frame_count
            while self._held - self._parts[0].frame_count >= self.size:
                self._held -= self._parts.popleft().frame_count
            if self.frame_count % self.size == 0:
                yield self.frame_count

    def reports(self) -> list[Report]:
        """The reports of the last frames alone, as `vidscore score` gives them."""
        from vidscore_evaluators.alignment import frames_in
        from vidscore_evaluators.annotations import concatenate

        if not self._parts:
            return []
        joined = concatenate(self._parts)
        detections = joined.frame_run(max(0, joined.frame_count - self.size), joined.frame_count)
        truth = self._truth.take_frames(frames_in(self._truth, detections))
        return [one.report(one.tally(truth, detections)) for one in self._evaluators]


class Alert(Struct, frozen=True):
    """A measure, and by how much it may be worse than in a baseline.

    Attributes:
        threshold: The measure; its bound is the allowed drop.
        baseline: Its value in the baseline.
    """

    threshold: Threshold
    baseline: float

    def drop(self, reports: Sequence[Report], what: str) -> Drop | None:
        """The drop of the measure; None if there is none, or no report is of its evaluator.

        Args:
            reports: The reports.
            what: The frames that they cover, in words.
        """
        wanted = self.threshold
        report = next((one for one in reports if one.evaluator == wanted.evaluator), None)
        if report is None:
            return None
        value = overall_value(report, wanted.measure)
        sign = -1.0 if wanted.is_greatest else 1.0
        if value is not None and sign * (self.baseline - value) <= wanted.bound:
            return None
        return Drop(wanted, self.baseline, value, what)


class Drop(Struct, frozen=True):
    """A measure that is worse than in a baseline by more than is allowed.

    Attributes:
        threshold: The measure; its bound is the allowed drop.
        baseline: Its value in the baseline.
        value: Its value now; None for undefined.
        over: The frames that the value covers, in words.
    """

    threshold: Threshold
    baseline: float
    value: float | None
    over: str

    @property
    def sentence(self) -> str:
        """The drop, in words for people."""
        wanted = self.threshold
        found = "undefined" if self.value is None else str(self.value)
        return (
            f"{wanted.measure} of {wanted.evaluator} over {self.over} is {found}, "
            f"the baseline has {self.baseline}: worse by more than {wanted.bound} (--alert)"
        )

    def to_dict(self) -> dict[str, object]:
        """The same for a webhook; ``text`` is what chats show."""
        return {
            "text": self.sentence,
            "evaluator": self.threshold.evaluator,
            "measure": self.threshold.measure,
            "over": self.over,
            "value": self.value,
            "baseline": self.baseline,
            "drop": self.threshold.bound,
        }


class Alarm:
    """Watches windows, and says once when a measure has dropped, and again after it recovered.

    Args:
        alerts: The alerts that it can give.
        webhook: Webhook for alerts; None for none.

    Attributes:
        rang: Whether an alert was given.
    """

    def __init__(self, alerts: Sequence[Alert], webhook: Webhook | None = None) -> None:
        self._alerts = alerts
        self._webhook = webhook
        self._down: set[Alert] = set()
        self.rang = False

    def judge(self, reports: Sequence[Report], what: str) -> None:
        """Judge the reports of a window; see `Alert.drop`."""
        for alert in self._alerts if reports else ():
            drop = alert.drop(reports, what)
            if drop is None:
                self._down.discard(alert)
                continue
            self.rang = True
            if alert not in self._down:
                self._down.add(alert)
                say(f"Alert: {drop.sentence}", err=True)
                if self._webhook is not None:
                    self._webhook.post(drop.to_dict())


@contextmanager
def alarm_of(
    typed: Sequence[str], baseline: str | None, url: str | None, evaluators: Sequence[Measured]
) -> Iterator[Alarm]:
    """The alarm for the options; pending alerts are delivered at the end of the block.

    Args:
        typed: Values of ``--alert`` as typed.
        baseline: Path of a report, or of several, as JSON; None if there is none.
        url: Address for alerts; None for none.
        evaluators: The evaluators that score.

    Raises:
        click.UsageError: As `read_alerts`, and if there is an address without an alert.
    """
    alerts = read_alerts(typed, baseline, evaluators)
    if url is None:
        yield Alarm(alerts)
        return
    if not alerts:
        raise click.UsageError("--alert-url needs --alert")
    with Webhook(url) as webhook:
        yield Alarm(alerts, webhook)


def alert_options() -> Decorator:
    """``--baseline``, ``--alert`` and ``--alert-url``."""
    return together(
        click.option(
            "--baseline",
            metavar="FILE",
            type=InputPath(),
            help="Report as JSON with which --alert compares.",
        ),
        click.option(
            "--alert",
            metavar="[EVALUATOR.]MEASURE=DROP",
            multiple=True,
            help="Alert, and exit with 6 in the end, if a window, or everything without "
            "--window, is worse than the baseline by more than this; may be repeated.",
        ),
        click.option(
            "--alert-url",
            metavar="URL",
            callback=check_url,
            help="Post alerts as JSON to this http or https address, too.",
        ),
    )


def read_alerts(
    typed: Sequence[str], baseline: str | None, evaluators: Sequence[Measured]
) -> list[Alert]:
    """Parse ``--alert`` and ``--baseline``.

    Args:
        typed: Values of ``--alert`` as typed.
        baseline: Path of a report, or of several, as JSON; None if there is none.
        evaluators: The evaluators that score.

    Raises:
        click.UsageError: If one goes without the other, or what is typed is not a measure.
        click.BadParameter: If the file has no report of the evaluator, or no value of the measure.
        InputRefusedError: If it is not a report.
    """
    if bool(typed) != (baseline is not None):
        raise click.UsageError("--alert needs --baseline, and --baseline needs --alert")
    if baseline is None:
        return []
    reports = _read_reports(baseline)
    alerts = [_alert(text, reports, evaluators) for text in typed]
    for evaluator in evaluators:
        for report in reports:
            if report.evaluator == evaluator.name:
                _warn_of_other_rules(report, evaluator)
    return alerts


def _warn_of_other_rules(report: Report, evaluator: Measured) -> None:
    """Warn if scores of a baseline are not comparable with those of an evaluator here."""
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.parameters import parameter_values

    if not isinstance(evaluator, Evaluator):
        return
    own = {"version": evaluator.version, **parameter_values(evaluator.parameters)}
    other = {"version": report.version, **report.parameters}
    names = ", ".join(name for name, value in own.items() if other.get(name) != value)
    if names:
        told = f"the baseline of {report.evaluator} has another {names}; score it again with this"
        say(f"Warning: {told}", err=True)


def _alert(text: str, reports: Sequence[Report], evaluators: Sequence[Measured]) -> Alert:
    threshold = parse_threshold(text, evaluators, "--alert")
    if threshold.bound < 0:
        raise click.UsageError(f"--alert {text}: expected a drop of 0 or more")
    for report in reports:
        value = overall_value(report, threshold.measure)
        if report.evaluator == threshold.evaluator and value is not None:
            return Alert(threshold, value)
    problem = f"no report of {threshold.evaluator} with a value of {threshold.measure}"
    raise click.BadParameter(problem, param_hint="--baseline")


def _read_reports(path: str) -> list[Report]:
    from vidscore_evaluators.errors import VidscoreError
    from vidscore_evaluators.report import report_from_dict

    try:
        document = json.loads(Path(path).read_bytes())
        entries = document if isinstance(document, list) else [document]
        return [report_from_dict(entry) for entry in entries]
    except (ValueError, KeyError, TypeError, AttributeError, VidscoreError):
        problem = f"{path} is not a report as `vidscore score --format json` writes it"
        raise InputRefusedError(problem) from None
