"""Shrink a world that breaks a law to as few acts as possible."""

from __future__ import annotations

from tests.campaigns.simulation.world import Outcome, play


def shrunk(found: Outcome) -> Outcome:
    """The same world without the acts that the violation does not need.

    Leaves out halves first, then quarters, and so on, as long as a law is still broken.

    Args:
        found: A world that breaks a law.
    """
    size = max(1, len(found.acts) // 2)
    while True:
        start, smaller = 0, False
        while start < len(found.acts):
            left = play(found.seed, found.acts[:start] + found.acts[start + size :])
            if left.broken:
                found, smaller = left, True
            else:
                start += size
        if size == 1 and not smaller:
            return found
        size = max(1, size // 2)


def command(found: Outcome) -> str:
    """The command that replays a world, from the root of the repository."""
    acts = " ".join(map(str, found.acts))
    return f".venv/bin/python -m tests.campaigns.simulation {found.seed} {acts}".strip()
