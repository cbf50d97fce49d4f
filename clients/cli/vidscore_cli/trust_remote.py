"""Trust analyses that a server runs: asked for, watched, and cancelled by Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial

from vidscore_cli.names import within
from vidscore_cli.progress import ProgressBar
from vidscore_cli.remote import open_client, to_frames
from vidscore_cli.selection import Settings, select_evaluators
from vidscore_cli.server_choice import ServerChoice
from vidscore_client import (
    Client,
    EvaluatorChoice,
    RankingQuestions,
    TrustAnalysis,
    TrustProgress,
    VidscoreError,
)
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.trust.analyses import Document
from vidscore_evaluators.trust.criterion import Plan
from vidscore_evaluators.trust.ranking import Questions

WAITING = "waiting for its turn"


def examine_hosted(
    server: ServerChoice,
    benchmark: str,
    submissions: Sequence[str],
    evaluators: tuple[Sequence[str], Sequence[str]],
    questions: Questions,
) -> Document:
    """Let a server examine the ranking of a benchmark that it hosts.

    Args:
        server: The server.
        benchmark: The benchmark.
        submissions: Its submissions; none for all that have a score.
        evaluators: Names and settings, as they were typed.
        questions: What is asked.

    Raises:
        click.ClickException: If the server refuses, fails or cannot be reached.
    """
    with ProgressBar() as bar, open_client(server, typed=True) as client:
        bar.stage(WAITING)
        analysis = client.trust.examine_ranking(
            benchmark,
            [within(benchmark, submission) for submission in submissions],
            evaluators=_choices(client, benchmark, *evaluators),
            questions=RankingQuestions(**asdict(questions)),
        )
        return _outcome(analysis, bar)


def examine_files(
    server: ServerChoice,
    sides: tuple[Annotations, Mapping[str, Annotations]],
    specification: BenchmarkSpec,
    settings: Settings,
    questions: Questions,
) -> Document:
    """Let a server examine the ranking of systems that it does not keep.

    Args:
        server: The server.
        sides: The truth, and the detections of each system by its name.
        specification: The specification, with who ranks.
        settings: Settings of the evaluators, as they were typed.
        questions: What is asked.

    Raises:
        click.ClickException: If the server refuses, fails or cannot be reached.
    """
    truth, systems = sides
    with ProgressBar() as bar, open_client(server, typed=True) as client:
        bar.stage("sending")
        return client.trust.examine_upload(
            [to_frames(truth)],
            {name: [to_frames(detections)] for name, detections in systems.items()},
            evaluators=[
                (entry.name, settings.get(entry.name, {})) for entry in specification.evaluators
            ],
            specification=to_dict(specification),
            questions=RankingQuestions(**asdict(questions)),
            on_progress=partial(_show, bar),
        )


def test_remotely(
    server: ServerChoice, test: str, criteria: Sequence[EvaluatorSpec], plan: Plan
) -> Document:
    """Let a server test criteria.

    Args:
        server: The server.
        test: Name of the test.
        criteria: The criteria; none for all of the paper.
        plan: How many families of scenes.

    Raises:
        click.ClickException: If the server refuses, fails or cannot be reached.
    """
    with ProgressBar() as bar, open_client(server, typed=True) as client:
        bar.stage(WAITING)
        analysis = client.trust.test_criterion(
            test,
            [(entry.name, entry.parameters) for entry in criteria],
            strata=plan.strata,
            realisations=plan.realisations,
            seed=plan.seed,
        )
        return _outcome(analysis, bar)


def _choices(
    client: Client, benchmark: str, names: Sequence[str], settings: Sequence[str]
) -> list[EvaluatorChoice]:
    """Evaluators that were typed, each with the settings that were; the server knows the rest."""
    if not names and not settings:
        return []
    own = client.benchmarks.get(benchmark).definition["evaluators"]
    hosted = BenchmarkSpec(evaluators=tuple(EvaluatorSpec(entry["name"]) for entry in own))
    specification, typed = select_evaluators(names, settings, hosted)
    return [(entry.name, typed.get(entry.name, {})) for entry in specification.evaluators]


def _outcome(analysis: TrustAnalysis, bar: ProgressBar) -> Document:
    try:
        return analysis.wait(on_progress=partial(_show, bar))
    except KeyboardInterrupt:
        with suppress(VidscoreError):
            analysis.cancel()
        raise


def _show(bar: ProgressBar, progress: TrustProgress) -> None:
    bar.show(progress.stage or WAITING, progress.pieces_done, progress.pieces_in_all)
