"""Replay a world: `python -m tests.campaigns.simulation SEED [ACT]...` prints the broken laws."""

from __future__ import annotations

import sys
from random import Random

from tests.campaigns.simulation import acts
from tests.campaigns.simulation.rules import Rules
from tests.campaigns.simulation.world import play


def main() -> int:
    """Play the named world; returns whether it breaks a law."""
    seed, *wanted = map(int, sys.argv[1:])
    chance = Random(seed)
    print(Rules.drawn(chance))
    for number, act in enumerate(acts.drawn(chance)):
        if not wanted or number in wanted:
            print(f"{act.at_s:8.1f} s  {act.kind}")
    outcome = play(seed, wanted or None)
    for law in outcome.broken:
        print(f"broken: {law}")
    return int(bool(outcome.broken))


if __name__ == "__main__":
    sys.exit(main())
