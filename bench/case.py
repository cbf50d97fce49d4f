"""What a case of the suite is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench.measuring import Action, run_interleaved
from bench.rows import Goal, Row

RUN_S = 0.05
"""Least time of a run of each side, in which a short one is repeated."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much a run works on.

    Attributes:
        share: Share of the full data, in (0, 1].
        repeats: Measured runs of each side.
        minutes: Time over which memory is watched.
        is_judged: Whether goals are held against what is measured; if not, it may be of anything.
    """

    share: float
    repeats: int
    minutes: float = 10.0
    is_judged: bool = True

    def of(self, full: int, least: int = 1) -> int:
        """So much of a full number.

        Args:
            full: The number of a full run.
            least: The fewest at which a goal is about what grows with them, and not about what
                each call costs whatever it is given.
        """
        return max(least if self.is_judged else 1, round(full * self.share))


FULL = Size(1.0, 5)
QUICK = Size(0.05, 3, 0.1)


@dataclass(frozen=True, slots=True)
class Peer:
    """Another way to the same figures.

    Attributes:
        name: What it is.
        action: Runs it.
        goal: What our ratio to it should be.
        share: Share of the work that the action does; its time is scaled up by it.
        agrees: Says whether our result and its result are the same figures; given both.
    """

    name: str
    action: Action
    goal: Goal
    share: float = 1.0
    agrees: Callable[[object, object], bool] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A named part of the suite, which gives rows."""

    name: str
    run: Callable[[Size], Iterable[Row]]
    ours: Callable[[Size], Action] | None = None
    """What to profile: our side alone, ready to run."""


def compare(
    name: str, ours: Action, peers: Sequence[Peer], repeats: int, note: str = ""
) -> list[Row]:
    """Measure our action and its peers in turn; a row for each peer.

    Raises:
        ValueError: If a peer comes to other figures: then the times compare nothing.
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
