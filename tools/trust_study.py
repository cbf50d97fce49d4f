"""Make the study of docs/trust.md: every sanity test, and the trust in the main protocols.

    python -m tools.trust_study            run what build/trust lacks, fill in the page
    python -m tools.trust_study --fresh    run everything again (15 minutes on two idle cores)

On the page, ``<!-- study: NAME -->`` and ``<!-- end of study -->`` surround a result.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from tools import trust_approximate_truth
from tools.docs_pages import ROOT, table
from tools.studies import fill_page, kept_results

from vidscore_cli.demo.scenes import SKY, STREETS, Detector, simulate_detections, simulate_truth
from vidscore_evaluators.annotations import concatenate
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.trust.analyses import RankingAnalysis
from vidscore_evaluators.trust.consistency import describe, search_violations
from vidscore_evaluators.trust.criterion import (
    Candidate,
    Plan,
    declared_candidates,
    paper_candidates,
    run_criterion_test,
)
from vidscore_evaluators.trust.dissimilarities import ranking_measures
from vidscore_evaluators.trust.paper import BASES
from vidscore_evaluators.trust.ranking import Questions
from vidscore_evaluators.trust.sanity import SANITY_TESTS
from vidscore_evaluators.trust.systems import Contest, Request
from vidscore_evaluators.trust.tables import (
    FigureRow,
    TextTable,
    error_rows,
    error_tables,
    indicator_rows,
    indicator_table,
    ranking_tables,
)

PAGE = ROOT / "docs/trust.md"
RESULTS = ROOT / "build/trust"
SEED = 1
WORKERS = 2

PLANS = {
    "multiclass-detection": Plan(40, 5, SEED),
    "singleclass-detection": Plan(40, 5, SEED),
    "tracking": Plan(10, 1, SEED),
}
PROTOCOL_PLAN = Plan(40, 5, SEED)
PROTOCOLS = ("spotgeo", "neovision2")
METRICS = ("hausdorff", "emd", "ospa", "track-hausdorff", "track-emd", "track-ospa", "ospa2")
"""Evaluators whose dissimilarity is proven to be a metric, with either base."""

SHOWN_DRAWS = 500
NOISE_PX = {"spotgeo": 1.0, "neovision2": 3.0}

LADDER = tuple(
    Detector(
        f"system {number}",
        miss_rate=0.05 + 0.02 * number,
        position_error_px=10.0 - 1.2 * number,
        size_error=0.05,
        wrong_class_rate=0.03,
        false_alarms_per_frame=0.2,
    )
    for number in range(1, 7)
)
"""Six simulated systems: each misses more than the one before, and localises more precisely."""


def main() -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fresh", action="store_true", help="run everything anew")
    fresh = parser.parse_args().fresh
    blocks = {name: "\n\n".join(make(fresh)) for name, make in STUDY.items()}
    fill_page(PAGE, blocks)


def results(name: str, make: Callable[[], Any], fresh: bool) -> Any:
    """The stored results of an earlier run, or the results of a new one."""
    return kept_results(RESULTS / f"{name}.json", make, fresh=fresh)


def sanity_test(test: str) -> Callable[[bool], Iterator[str]]:
    """Both tables of a sanity test, with the paper's criteria."""

    def made(fresh: bool) -> Iterator[str]:
        found = results(test, lambda: _run(test, paper_candidates(test), PLANS[test]), fresh)
        yield from _sanity_tables(test, found)

    return made


def protocol_test(evaluator: str) -> Callable[[bool], Iterator[str]]:
    """Ranking errors of a protocol in the multi-class test, over its parameters."""
    test = "multiclass-detection"

    def made(fresh: bool) -> Iterator[str]:
        found = results(
            evaluator, lambda: _run(test, declared_candidates(evaluator, {}), PROTOCOL_PLAN), fresh
        )
        yield from _sanity_tables(test, found)

    return made


def consistency(_fresh: bool) -> Iterator[str]:
    """The smallest counter-example for each law and each measure of the two protocols."""
    rows = []
    for name in PROTOCOLS:
        evaluator = create_evaluator(name)
        for measure in ranking_measures(evaluator):
            found = search_violations(evaluator, measure, seed=SEED)
            for law, example in found.counterexamples.items():
                sets = (
                    []
                    if example is None
                    else [describe(objects, tracks=False) for objects in example.sets]
                )
                values = {} if example is None else example.dissimilarities
                shown = ", ".join(f"{key} = {value:g}" for key, value in values.items())
                rows.append(
                    [f"{name} `{measure.name}`", law, " ".join(sets) or "none found", shown]
                )
    yield table(("measure", "law", "smallest counter-example x, y, z", "dissimilarities"), rows)


def metrics(_fresh: bool) -> Iterator[str]:
    """Violations found for measures that are proven metrics: any violation shows a bug."""
    rows = []
    for name, base in product(METRICS, BASES):
        found = search_violations(create_evaluator(name, {"base": base}), seed=SEED)
        broken = [law for law, example in found.counterexamples.items() if example is not None]
        rows.append([name, base, str(found.pairs), ", ".join(broken) or "none found"])
    yield table(("measure", "base", "pairs of sets", "laws that are broken"), rows)


def approximate_truth(fresh: bool) -> Iterator[str]:
    """Ranking errors with the truth as the reference, and with an approximate truth."""
    plan = Plan(40, 1, SEED)
    found = results(
        "approximate-truth", lambda: trust_approximate_truth.errors(plan, WORKERS), fresh
    )
    headings = [f"{one.name} {one.base}" for one in trust_approximate_truth.candidates()]
    rows = [
        [reference, where, *(f"{mean:.3g} ({std:.3g})" for mean, std in figures)]
        for reference, printed in trust_approximate_truth.PAPER.items()
        for where, figures in (("here", found[reference]), ("paper", printed))
    ]
    yield table(("reference", "", *headings), rows)


def ranking(evaluator: str) -> Callable[[bool], Iterator[str]]:
    """All tables of a protocol's ranking of the simulated systems in `LADDER`."""

    def made(fresh: bool) -> Iterator[str]:
        found = results(f"{evaluator}-ranking", lambda: _rank_ladder(evaluator), fresh)
        for entry in found:
            yield _markdown(TextTable(**entry))

    return made


def _run(test: str, candidates: Sequence[Candidate], plan: Plan) -> dict[str, list[FigureRow]]:
    outcomes = run_criterion_test(test, candidates, plan, workers=WORKERS)
    return {
        "errors": error_rows(test, outcomes),
        "indicators": indicator_rows(test, outcomes, plan.seed),
    }


def _rank_ladder(evaluator: str) -> list[dict[str, Any]]:
    scenes = (SKY,) if evaluator == "spotgeo" else STREETS
    truths = [simulate_truth(scene, SEED) for scene in scenes]
    systems = {
        detector.name: concatenate(
            [
                simulate_detections(detector, scene, truth, SEED)
                for scene, truth in zip(scenes, truths, strict=True)
            ]
        )
        for detector in LADDER
    }
    judge = create_evaluator(evaluator)
    contest = Contest.of(concatenate(truths), systems)
    questions = Questions(draws=SHOWN_DRAWS, noise_px=NOISE_PX[evaluator], seed=SEED)
    analysis = RankingAnalysis((Request.of(judge),), contest, questions)
    tables = ranking_tables(analysis.run(workers=WORKERS))
    return [
        {"title": one.title, "headings": one.headings, "leading": one.leading, "lines": one.lines}
        for one in tables
    ]


def _sanity_tables(test: str, found: Mapping[str, list[FigureRow]]) -> Iterator[str]:
    title = SANITY_TESTS[test].title
    for one in error_tables(title, found["errors"]):
        yield _markdown(one)
    if found["indicators"]:
        yield _markdown(indicator_table(title, found["indicators"]))


def _markdown(one: TextTable) -> str:
    """A table under its title; a name that equals the one in the line above is left out."""
    lines = []
    for before, line in zip([None, *one.lines], one.lines, strict=False):
        repeated = before is not None and one.leading > 1 and before[0] == line[0]
        lines.append(["" if repeated else line[0], *line[1:]])
    return f"**{one.title}**\n\n{table(one.headings, lines)}"


STUDY: Mapping[str, Callable[[bool], Iterator[str]]] = {
    **{test: sanity_test(test) for test in PLANS},
    **{name: protocol_test(name) for name in PROTOCOLS},
    "consistency": consistency,
    "metrics": metrics,
    "approximate-truth": approximate_truth,
    **{f"{name}-ranking": ranking(name) for name in PROTOCOLS},
}

if __name__ == "__main__":
    main()
