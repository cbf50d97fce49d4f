"""Cases of the suite, their sizes and their peers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench.measuring import Action, run_interleaved
from bench.rows import Goal, Row

RUN_S = 0.05
"""Minimum time of a run of each side; a shorter action is repeated within the run."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a run of the suite.

    Attributes:
        share: Fraction of the full data, in (0, 1].
        repeats: Number of measured runs of each side.
        minutes: Time over which memory is measured.
        is_judged: Whether goals apply; if not, the data may be smaller than they require.
    """

    share: float
    repeats: int
    minutes: float = 10.0
    is_judged: bool = True

    def of(self, full: int, least: int = 1) -> int:
        """The fraction `share` of the number of a full run.

        Args:
            full: The number of a full run.
            least: Lower bound if goals apply. Below it, the fixed cost of each call would dominate
                the cost that grows with the data.
        """
        return max(least if self.is_judged else 1, round(full * self.share))


FULL = Size(1.0, 5)
QUICK = Size(0.05, 3, 0.1)


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program that computes the same figures.

    Attributes:
        name: Its name.
        action: Runs it.
        goal: Goal for our ratio to it.
        share: Fraction of the work that the action does; its time is divided by it.
        agrees: Whether our result, the first argument, has the same figures as its result.
    """

    name: str
    action: Action
    goal: Goal
    share: float = 1.0
    agrees: Callable[[object, object], bool] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A named part of the suite that gives rows."""

    name: str
    run: Callable[[Size], Iterable[Row]]
    ours: Callable[[Size], Action] | None = None
    """Prepares only our side, for a profile."""


def compare(
    name: str, ours: Action, peers: Sequence[Peer], repeats: int, note: str = ""
) -> list[Row]:
    """Measure our action and its peers in turn; a row for each peer.

    Raises:
        ValueError: If the figures of a peer differ from ours, so that times are not comparable.
    """
    actions = [ours, *(peer.action for peer in peers)]
    samples, results = run_interleaved(actions, repeats, RUN_S)
    rows = []
    for peer, sample, result in zip(peers, samples[1:], results[1:], strict=True):
        if peer.agrees is not None and not peer.agrees(results[0], result):
            raise ValueError(f"{name}: ours and {peer.name} come to different figures")
        remarks = [note]
        if peer.share < 1.0:
            remarks.append(f"{peer.name}: timed on {peer.share:.3g} of the work")
        rows.append(
            Row(
                name=name,
                ours=samples[0],
                other=sample.scaled(1.0 / peer.share),
                other_name=peer.name,
                goal=peer.goal,
                note="; ".join(filter(None, remarks)),
            )
        )
    return rows
