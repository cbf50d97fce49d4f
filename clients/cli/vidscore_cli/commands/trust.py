"""`vidscore trust` and its commands."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import CommandTree, command
from vidscore_cli.options import (
    Decorator,
    all_faults_option,
    complete_evaluator,
    confidence_scale_option,
    evaluator_options,
    format_option,
    image_size_option,
    input_format_option,
    number_option,
    output_option,
    server_options,
    settings_option,
    together,
    truth_option,
    workers_option,
)

SECTIONS = {
    "Commands": {
        "ranking": "vidscore_cli.commands.trust:ranking",
        "criterion": "vidscore_cli.commands.trust:criterion",
        "consistency": "vidscore_cli.commands.trust:consistency",
    },
}

TESTS = ("multiclass-detection", "singleclass-detection", "tracking", "figure-3", "figure-11")
"""Names of the sanity tests, here so that help needs not import them."""


def _seed_option() -> Decorator[Any]:
    return number_option("--seed", 0, 2**32 - 1, 1, "Seed of all chance.")


def _form_options() -> Decorator[Any]:
    return together(format_option("table", "json"), output_option())


@click.group("trust", cls=CommandTree, sections=SECTIONS)
def trust() -> None:
    """Find out which ranking, and which criterion, can be relied on."""


@command(
    "ranking",
    examples=(
        "vidscore trust ranking f1 --truth truth --system a=detections --system b=truth",
        "vidscore trust ranking --benchmark sky --draws 100",
    ),
)
@evaluator_options()
@truth_option(required=False)
@click.option(
    "--system",
    "systems",
    metavar="[NAME=]PATH",
    multiple=True,
    help="Detections of a system: a file or a folder; two or more systems are needed.",
)
@input_format_option()
@image_size_option()
@confidence_scale_option()
@click.option(
    "--benchmark",
    metavar="BENCHMARK",
    help="Examine the ranking of this hosted benchmark, on its server, and not that of files.",
)
@click.option(
    "--submission",
    "submissions",
    metavar="SUBMISSION",
    multiple=True,
    help="One of its scored submissions, two or more; all unless some are named.",
)
@server_options()
@number_option("--draws", 0, 100_000, 1000, "Draws of sequences for the bootstrap; 0 for none.")
@click.option(
    "--noise-px",
    type=click.FloatRange(0.0, 1000.0),
    default=0.0,
    show_default=True,
    help="Move each coordinate of the truth by up to so many pixels, and see what changes.",
)
@number_option("--trials", 1, 10_000, 20, "Trials with noise.")
@_seed_option()
@workers_option()
@click.option(
    "--pictures",
    metavar="FOLDER",
    type=click.Path(),
    help="Write an SVG picture of the ranks over each parameter to this folder.",
)
@_form_options()
@all_faults_option()
def ranking(**choices: Any) -> None:
    """Find out how far the order of some systems can be relied on.

    Would it be another with another threshold, other sequences, other annotations, or another
    evaluator? EVALUATOR is one or more names that `vidscore evaluators` lists; those that compare
    boxes by IoU are also asked by GIoU unless their base is set. The systems are files or, with
    --benchmark, submissions; without an EVALUATOR the benchmark's own rank them. With files and
    --server, that server examines them and keeps nothing.
    """
    from vidscore_cli.trust_ranking import RankingExamination, examine_ranking

    source = click.get_current_context().get_parameter_source("server")
    there = source is click.core.ParameterSource.COMMANDLINE
    examine_ranking(RankingExamination(server_is_typed=there, **choices))


@command(
    "criterion",
    examples=(
        "vidscore trust criterion ospa map --strata 4 --realisations 1",
        "vidscore trust criterion ospa emd hausdorff f1 --test figure-3",
        "vidscore trust criterion spotgeo --set tau=5 --strata 1 --realisations 1 --format json",
    ),
)
@click.argument("criteria", metavar="[CRITERION]...", nargs=-1, shell_complete=complete_evaluator)
@settings_option()
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default=TESTS[0],
    show_default=True,
    help="Which scenes are to be ranked.",
)
@number_option(
    "--strata",
    1,
    1000,
    40,
    "Parts into which the range of object numbers is cut; more lower the variance.",
)
@number_option("--realisations", 1, 1000, 5, "Families of 20 prediction sets for each stratum.")
@_seed_option()
@workers_option()
@server_options(instead="Let this server run the test; its organisers may.")
@click.option(
    "--indicators",
    is_flag=True,
    help="In JSON, give the indicators of how ranks depend on a parameter, not the errors.",
)
@_form_options()
def criterion(**choices: Any) -> None:
    """Test whether criteria rank systems as their purpose intends.

    Each sanity test draws scenes whose true order is known, from the best to the worst; the
    ranking error says how far a criterion's order is from it: 0 is the same order, 50 is no
    better than chance. CRITERION is one of the criteria of the trustworthiness paper, which are
    all tested unless some are named, or any evaluator.
    """
    from vidscore_cli.trust_criterion import CriterionTest, test_criteria

    test_criteria(CriterionTest(**choices))


@command(
    "consistency",
    examples=(
        "vidscore trust consistency f1 --sets 10",
        "vidscore trust consistency map --set thresholds=0.5 --sets 10 --format json",
        "vidscore trust consistency spotgeo --measure mse --sets 10",
    ),
)
@click.argument("evaluator", metavar="EVALUATOR", shell_complete=complete_evaluator)
@settings_option()
@click.option(
    "--measure",
    metavar="MEASURE",
    help="Which of its measures; the first that ranks systems unless one is named.",
)
@number_option(
    "--sets",
    0,
    200,
    40,
    "Random sets of two and three objects that are compared with all others.",
)
@_seed_option()
@_form_options()
def consistency(**choices: Any) -> None:
    """Look for the smallest proof that a measure is no distance.

    A distance is 0 for equal sets and no others, the same both ways, and never longer than a
    detour. Small sets of objects are compared, all with all. A counter-example is a proof; that
    none is found is none.
    """
    from vidscore_cli.trust_consistency import ConsistencySearch, search_consistency

    search_consistency(ConsistencySearch(**choices))
