"""Make the table of docs/hidden-truth.md: the gain of an attack on a board under each policy.

python -m tools.attack_study            run what build/attack lacks, fill in the page
python -m tools.attack_study --fresh    run everything again (minutes)
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from tools.board_attack import Setting, gains
from tools.docs_pages import ROOT, table
from tools.studies import block_of, fill_page, kept_results

PAGE = ROOT / "docs/hidden-truth.md"
RESULTS = ROOT / "build/attack"
BLOCK = "attacks"

SEQUENCES = (5, 20, 50, 200)
BUDGETS = {"default": 0, "50": 50, "500": 500}
"""Number of an attacker's submissions; 0: as many as the policy allows by default."""

RUNS = {"default": 100, "50": 100, "500": 20}
STEP = 0.01


def _policy(visibility: str, step: float | None = STEP, private_share: float = 0.0) -> Setting:
    """A setting; without a step, the step is derived from the truth."""
    given = {} if step is None else {"ladder_step": step}
    return Setting({"visibility": visibility, **given}, private_share)


SETTINGS: Mapping[str, Setting] = {
    "every score exactly": Setting({"visibility": "live"}),
    "`live`: and a score of each sequence": Setting({"visibility": "live"}, by_sequence=True),
    "`final`, step 0.01": _policy("final"),
    "`ladder`, step 0.01": _policy("ladder"),
    "`ladder`, default step": _policy("ladder", None),
    "`bootstrap`, default step": _policy("bootstrap", None),
    "`ladder`, step 0.01, half of the sequences private": _policy("ladder", private_share=0.5),
}
"""Rows of the table."""


class Gain(NamedTuple):
    """Mean gain of several attacks.

    Attributes:
        mean: Mean gain.
        error: Standard error of the mean.
    """

    mean: float
    error: float


def mean_gain(found: list[float]) -> Gain:
    """The mean of some gains and its standard error."""
    return Gain(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(len(found))))


def main() -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--fresh", action="store_true", help="run everything anew")
    fresh = parser.parse_args().fresh
    rows = []
    for name, setting in SETTINGS.items():
        for budget, submissions in BUDGETS.items():
            cells = []
            for sequences in SEQUENCES:
                make = partial(gains, setting, sequences, submissions, range(RUNS[budget]))
                path = RESULTS / f"{_file_name(name)}-{budget}-{sequences}.json"
                found = mean_gain(kept_results(path, make, fresh=fresh))
                cells.append(f"{found.mean:.3f} ({found.error:.3f})")
            rows.append([name, budget, *cells])
    headings = ("shown to teams", "submissions", *(f"{count} sequences" for count in SEQUENCES))
    fill_page(PAGE, {BLOCK: table(headings, rows)})


def documented_gains() -> dict[tuple[str, str, int], Gain]:
    """The gains on the page, by row, budget and number of sequences."""
    found = {}
    for line in block_of(PAGE, BLOCK).splitlines()[2:]:
        name, budget, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
        for sequences, cell in zip(SEQUENCES, cells, strict=True):
            mean, error = cell.replace("(", "").replace(")", "").split()
            found[name, budget, sequences] = Gain(float(mean), float(error))
    return found


def _file_name(name: str) -> str:
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name).split())


if __name__ == "__main__":
    main()
