"""Run the suite: ``python -m bench [--quick] [--case NAME ...]``, or profile one case."""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.case import FULL, QUICK, Case, Size
from bench.page import answer, render, summary, write_page
from bench.rows import Row
from bench.suite import CASES
from vidscore_evaluators import runtime

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a twentieth of the data, fewer repeats"
    )
    parser.add_argument("--share", type=float, help="fraction of the full data")
    parser.add_argument("--minutes", type=float, help="time over which memory is measured")
    parser.add_argument("--case", action="append", help="run only this case; may be repeated")
    parser.add_argument("--profile", action="store_true", help="profile our side of the cases")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file for the rows")
    parser.add_argument("--page", type=Path, help="file for the Markdown page")
    chosen = parser.parse_args(arguments)
    size = QUICK if chosen.quick else FULL
    if chosen.share is not None:
        size = replace(size, share=chosen.share)
    if chosen.minutes is not None:
        size = replace(size, minutes=chosen.minutes)
    names = [case.name for case in CASES]
    if unknown := sorted(set(chosen.case or ()).difference(names)):
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(names)}")
    cases = [case for case in CASES if not chosen.case or case.name in chosen.case]
    if chosen.profile:
        for case in cases:
            _profile(case, size)
        return 0
    rows: list[Row] = []
    for case in cases:
        for row in case.run(size):
            print(summary(row), flush=True)
            rows.append(row)
        # After each case, so that a run that is stopped keeps its results so far.
        text = json.dumps([row.as_json() for row in rows], indent=1)
        chosen.results.write_text(text + "\n", encoding="utf-8")
        if chosen.page is not None:
            points = list(dict.fromkeys(point for row in rows for point in row.points))
            text, others = render(rows), bool(chosen.case)
            write_page(chosen.page, text, points, answer(rows), keep_others=others)
    wrong = [row.name for row in rows if row.is_wrong]
    if chosen.quick and wrong:
        print(f"goals that should be met and are not: {'; '.join(wrong)}")
        return 1
    return 0


def _profile(case: Case, size: Size) -> None:
    """Show where our side of a case spends its time."""
    if case.ours is None:
        print(f"{case.name}: nothing to profile in this process")
        return
    # The profiler records only the thread that starts it.
    runtime.MAX_THREADS = 1
    action = case.ours(size)
    action()
    profiler = cProfile.Profile()
    profiler.runcall(action)
    print(f"== {case.name}")
    pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    runtime.tune_malloc()  # as the command line does; it applies to peers in this process, too
    raise SystemExit(main())
