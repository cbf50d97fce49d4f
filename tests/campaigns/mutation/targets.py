"""Which modules are mutated, which tests concern each, and the mutants that nothing can tell."""

from __future__ import annotations

from collections.abc import Mapping

TARGETS: Mapping[str, tuple[str, ...]] = {
    "vidscore_evaluators.exact_sums": ("tests/evaluators/test_exact.py",),
    "vidscore_evaluators.tally": (
        "tests/evaluators/test_tally.py",
        "tests/evaluators/test_exact.py",
        "tests/evaluators/test_tally_bytes.py",
    ),
    "vidscore_evaluators.detection._ranking": ("tests/evaluators/detection/test_ranking.py",),
    "vidscore_evaluators.distances._plans": ("tests/evaluators/distances/test_outcomes.py",),
    "vidscore_evaluators.trust.spread": ("tests/evaluators/trust/test_spread.py",),
    "vidscore_server.domain.states": ("tests/server/domain/test_states.py",),
    "vidscore_server.domain.release": (
        "tests/server/domain/test_release.py",
        "tests/server/domain/test_outcome_release.py",
    ),
    "vidscore_server.domain.access": (
        "tests/server/domain/test_gate.py",
        "tests/server/domain/test_tokens.py",
    ),
    "vidscore_server.domain.appends": (
        "tests/server/domain/test_append_writer.py",
        "tests/server/domain/test_check_appends.py",
    ),
    "vidscore_server.domain.browser_sessions": ("tests/server/domain/test_browser_sessions.py",),
    "vidscore_server.domain.invitations": ("tests/server/domain/test_invitations.py",),
    "vidscore_server.domain.portions": ("tests/server/domain/test_portions.py",),
    "vidscore_server.domain.private_part": (
        "tests/server/domain/test_private_part.py",
        "tests/server/domain/test_portions.py",
    ),
    "vidscore_server.api.guard": (
        "tests/server/api/test_guard.py",
        "tests/server/api/test_message_sizes.py",
        "tests/server/api/test_places.py",
    ),
}
"""Modules, and the files of the tests that hold their rules."""

EQUIVALENT: Mapping[str, str] = {
    "tally._merge_by_name: 0 => 1": "all parts have the same names here, and there are two or more",
    "tally._bounded: table.row_count <= table.schema.first"
    " => table.row_count < table.schema.first": (
        "as many rows as are kept are all kept by what follows, too"
    ),
    "tally._sorted_vocabulary: 1 => 2": "numpy takes any negative length for the unknown one",
    "tally._group: row_count > _ROWS_TO_COMPARE => row_count >= _ROWS_TO_COMPARE": (
        "both ways of sorting give the same order"
    ),
    "tally.merge_tables: True => False": "tables of one schema have as many sums",
    "exact_sums.ExactSums.of: 2 => 3": "more room than the sums need",
    "exact_sums.ExactSums.of: 0 => 1 (#2)": "the least of all bounds, of nothing",
    "exact_sums.ExactSums.of: np.abs(high).max(initial=0) < _MOST_HIGH"
    " => np.abs(high).max(initial=0) <= _MOST_HIGH": (
        "2**35 is well below what fits: its 2**61 and a lower half are below 2**63"
    ),
    "exact_sums.ExactSums.spare_bits: joined & -joined => joined | -joined": (
        "the one is 2**k and the other -2**k, which have as many bits"
    ),
    "exact_sums.ExactSums.added: len(first) < len(ordered) => len(first) <= len(ordered)": (
        "runs of one sum each add up to these sums"
    ),
    "exact_sums._Parts.put_together: True => False": "the three columns have one length",
    "exact_sums._Parts.total: True => False": "the three columns have one length",
    "_ranking.first_found: True => False": "there is a total for each run",
    "_ranking.first_found: first[row] < number => first[row] <= number": (
        "the number itself is asked for before"
    ),
    "_plans.plan_hausdorff: 1.0 => 2.0": "both weights are as large, and only proportions count",
    "_plans.plan_ospa: True => False": "there are three parts and three weights",
    "_plans._plan_of_empty: rows + columns => rows - columns (#2)": "one of the two is 0",
    "release.released_values: True => False": "the Ladder gives a value for each scale",
    "private_part.settle: len(judged) > 1 => len(judged) >= 1": (
        "of a single sequence all is private without a draw, too, which is refused"
    ),
    "portions._frames_by_sequence: True => False (#2)": "there is a run for each sequence",
    "portions._exponential: int.from_bytes(digest[:8], 'big') + 0.5"
    " => int.from_bytes(digest[:8], 'big') - 0.5": (
        "it keeps a digest of zeros apart; of others it is beyond the digits of a number"
    ),
    "portions._exponential: 0.5 => 1.5": "likewise",
    "appends._check_together: 0 => 1": "all are under the same rules, and there are two or more",
    "appends._check_together: True => False": "the ends are the sums of the counts, one for each",
    "appends.AppendWriter.close: self._ends.clear() => dropped": (
        "the store, which is asked next, has the same ends"
    ),
}
"""Mutants that do what the module does, each with the reason."""
