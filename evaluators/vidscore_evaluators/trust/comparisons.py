"""Comparisons of systems: their conclusions as sentences, and all results as a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.evaluator import Evaluator, Unit
from vidscore_evaluators.installed import software_versions
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.trust.differences import TOP, Difference, SystemPair, Verdict, system_pairs
from vidscore_evaluators.trust.doubts import doubts_of_draws
from vidscore_evaluators.trust.parts import drawn_parts
from vidscore_evaluators.trust.resampling import COVERAGE, DRAWS, possible_draws
from vidscore_evaluators.trust.systems import Contest, Drawn


class Comparison(Struct, frozen=True):
    """Systems compared with the first of them, by one evaluator.

    Attributes:
        evaluator: The evaluator.
        systems: Names of the systems.
        pairs: Each later system compared with the first one.
        sequence_count: Number of sequences.
        frame_count: Number of frames.
        drawn: Whether sequences or frames were drawn.
        run_count: Number of runs in which frames were drawn.
        doubts: Caveats about the intervals, or why there are none.
        draws: Number of draws; 0 if each domain has only one to draw, so that no draw differs.
        coverage: Probability that an interval covers a figure on other sequences.
        seed: Seed of the draws.
        top: Number of labels, domains, sequences and frames that are listed.
    """

    evaluator: Evaluator[Any]
    systems: tuple[str, ...]
    pairs: tuple[SystemPair, ...]
    sequence_count: int
    frame_count: int
    drawn: Drawn
    run_count: int
    doubts: tuple[str, ...]
    draws: int
    coverage: float
    seed: int
    top: int

    def pair(self, system: str) -> SystemPair:
        """A later system compared with the first one.

        Raises:
            KeyError: If there is no later system of that name.
        """
        for one in self.pairs:
            if one.second == system:
                return one
        raise KeyError(f"no system {system!r} after the first; there are {self.systems}")

    @property
    def answers(self) -> list[str]:
        """A sentence for each later system: whether it is better than the first."""
        return [_answer(one) for one in self.pairs]

    @property
    def notes(self) -> list[str]:
        """How intervals were computed, how reliable they are, and what is left out."""
        return list(_notes(self))

    def __str__(self) -> str:
        """The sentences."""
        return "\n".join(self.answers)

    def to_dict(self) -> dict[str, Any]:
        """All results as dictionaries, lists, strings and numbers."""
        evaluator = self.evaluator
        return {
            "evaluator": evaluator.name,
            "version": evaluator.version,
            **({} if evaluator.preset is None else {"preset": evaluator.preset}),
            "parameters": parameter_values(evaluator.parameters),
            "software": software_versions(),
            "specification": to_dict(evaluator.specification),
            **({"selection": to_dict(evaluator.selection)} if evaluator.selection else {}),
            "systems": list(self.systems),
            "sequences": self.sequence_count,
            "drawn": self.drawn.value,
            "draws": self.draws,
            "coverage": self.coverage,
            "seed": self.seed,
            "answers": self.answers,
            "notes": self.notes,
            "comparisons": [_document(one, self.top) for one in self.pairs],
        }


def compare_systems(
    evaluator: Evaluator[Any],
    contest: Contest,
    *,
    draws: int = DRAWS,
    coverage: float = COVERAGE,
    seed: int = 1,
    top: int = TOP,
    workers: int = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems with the first of them.

    Args:
        evaluator: The evaluator.
        contest: At least two systems.
        draws: Number of draws; none are made if no draw could differ.
        coverage: Probability that an interval covers a figure on other sequences.
        seed: Seed of the draws.
        top: Number of labels, domains, sequences and frames to list.
        workers: Processes to use; the result does not depend on it.
        progress: Called with (steps done, steps in all).

    Raises:
        ParameterError: If frames are to be drawn, and the evaluator judges whole sequences.
    """
    if contest.drawn is Drawn.FRAMES and evaluator.unit is Unit.SEQUENCE:
        found, expected = (
            f"{evaluator.name}, which judges whole sequences",
            "one that judges frames",
        )
        raise ParameterError([Fault(found, expected, field="draw", advice="draw sequences for it")])
    pairs = system_pairs(
        evaluator,
        contest,
        draws=draws,
        coverage=coverage,
        seed=seed,
        top=top,
        workers=workers,
        progress=progress,
    )
    parts = [part.key for part in drawn_parts(contest)]
    known = (one for pair in pairs for one in pair.differences if one.low is not None)
    labels = {one.label for one in known if one.label is not None}
    return Comparison(
        evaluator,
        tuple(contest.systems),
        pairs,
        len(contest.sequences),
        contest.truth.frame_count,
        contest.drawn,
        len(parts),
        tuple(doubts_of_draws(contest, labels)),
        possible_draws(parts, draws),
        coverage,
        seed,
        top,
    )


def _answer(pair: SystemPair) -> str:
    found = pair.overall
    if pair.verdict is Verdict.UNDEFINED:
        whose = [
            name
            for name, value in ((pair.first, found.first), (pair.second, found.second))
            if value is None
        ]
        return f"{pair.measure} is undefined for {' and '.join(whose)}"
    if pair.verdict is Verdict.UNDECIDED:
        said = f"{pair.second} has {_more(found)}{_between(found, 1.0)}"
        few = "" if pair.are_enough else " with so few sequences"
        return f"{pair.second} and {pair.first} cannot be told apart in {pair.measure}{few}: {said}"
    # The amount by which it is better, or worse, is positive.
    sign = 1.0 if (pair.verdict is Verdict.BETTER) != pair.lower_is_better else -1.0
    amount = f"{sign * (found.value or 0.0):.4g}{_between(found, sign)}"
    return f"{pair.second} is {pair.verdict} than {pair.first} in {pair.measure} by {amount}"


def _more(found: Difference) -> str:
    value = found.value or 0.0
    if value == 0.0:
        return "the same"
    return f"{abs(value):.4g} {'more' if value > 0.0 else 'less'}"


def _between(found: Difference, sign: float) -> str:
    """The interval of the difference times a sign, in brackets; empty if there is none."""
    if found.low is None or found.high is None:
        return ""
    low, high = sorted((sign * found.low + 0.0, sign * found.high + 0.0))
    return f" [{low:.4g}, {high:.4g}]"


def _notes(one: Comparison) -> Iterator[str]:
    if one.draws:
        of = f"{one.sequence_count} sequences"
        if one.drawn is Drawn.FRAMES:
            runs = f" in {one.run_count} runs" if one.run_count < one.frame_count else ""
            of = f"{one.frame_count} frames{runs}"
        yield (
            f"In brackets: the {100.0 * one.coverage:g} % interval of the difference over "
            f"{one.draws} draws of the {of}, seed {one.seed}."
        )
    yield from one.doubts
    if any(pair.frames is None for pair in one.pairs):
        yield f"{one.evaluator.name} does not say what became of objects, so no frames are listed."


def _document(pair: SystemPair, top: int) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "measure": pair.measure,
        "verdict": pair.verdict.value,
        "differences": [_difference(one) for one in pair.differences],
        "labels": [_difference(one) for one in pair.labels(top)],
        "domains": [_difference(one) for one in pair.domains(top)],
        "sequences": [
            {
                "domain": one.key.domain,
                "sequence": one.key.sequence,
                "first": one.first,
                "second": one.second,
                "contribution": one.contribution,
            }
            for one in pair.sequences
        ],
        "frames": None
        if pair.frames is None
        else [
            {
                "domain": one.key.domain,
                "sequence": one.key.sequence,
                "frame": one.frame,
                "first": one.first,
                "second": one.second,
            }
            for one in pair.frames
        ],
    }


def _difference(one: Difference) -> dict[str, Any]:
    document = asdict(one)
    return {**document, "difference": one.value}
