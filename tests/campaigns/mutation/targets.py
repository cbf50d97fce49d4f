"""Which modules are mutated, the tests of each, and the equivalent mutants."""

from __future__ import annotations

from collections.abc import Mapping

TARGETS: Mapping[str, tuple[str, ...]] = {
    "vidscore_evaluators.exact_sums": ("tests/evaluators/test_exact_sums.py",),
    "vidscore_evaluators.tally": (
        "tests/evaluators/test_tally.py",
        "tests/evaluators/test_exact_sums.py",
        "tests/evaluators/test_tally_bytes.py",
    ),
    "vidscore_evaluators.detection._ranking": ("tests/evaluators/detection/test_ranking.py",),
    "vidscore_evaluators.distances._plans": ("tests/evaluators/distances/test_outcomes.py",),
    "vidscore_evaluators.trust.spread": ("tests/evaluators/trust/test_spread.py",),
    "vidscore_evaluators._dont_care": (
        "tests/evaluators/test_ignored_truth.py",
        "tests/evaluators/detection/test_crowds.py",
    ),
    "vidscore_evaluators.selection": (
        "tests/evaluators/test_selection.py",
        "tests/evaluators/test_evaluated_frames.py",
    ),
    "vidscore_evaluators.shards.dealing": ("tests/evaluators/shards/test_dealing.py",),
    "vidscore_evaluators.formats.dota": (
        "tests/evaluators/formats/test_dota.py",
        "tests/evaluators/formats/test_formats.py",
        "tests/evaluators/formats/test_written_files.py",
    ),
    "vidscore_evaluators.formats.kitti": (
        "tests/evaluators/formats/test_kitti.py",
        "tests/evaluators/formats/test_formats.py",
        "tests/evaluators/formats/test_convert.py",
        "tests/evaluators/formats/test_convert_errors.py",
        "tests/evaluators/formats/test_written_files.py",
    ),
    "vidscore_evaluators.formats.mot": (
        "tests/evaluators/formats/test_mot.py",
        "tests/evaluators/formats/test_formats.py",
        "tests/evaluators/formats/test_convert.py",
        "tests/evaluators/formats/test_convert_errors.py",
        "tests/evaluators/formats/test_written_files.py",
    ),
    "vidscore_evaluators.formats.mots": (
        "tests/evaluators/formats/test_mots.py",
        "tests/evaluators/formats/test_mots_images.py",
        "tests/evaluators/formats/test_formats.py",
        "tests/evaluators/formats/test_written_files.py",
    ),
    "vidscore_evaluators.formats._visdrone": (
        "tests/evaluators/formats/test_visdrone_det.py",
        "tests/evaluators/formats/test_visdrone_mot.py",
        "tests/evaluators/formats/test_written_files.py",
    ),
    "vidscore_evaluators.formats.visdrone_det": (
        "tests/evaluators/formats/test_visdrone_det.py",
        "tests/evaluators/formats/test_formats.py",
        "tests/evaluators/formats/test_written_files.py",
    ),
    "vidscore_evaluators.formats.visdrone_mot": (
        "tests/evaluators/formats/test_visdrone_mot.py",
        "tests/evaluators/formats/test_formats.py",
        "tests/evaluators/formats/test_written_files.py",
    ),
    "vidscore_evaluators.formats.voc": (
        "tests/evaluators/formats/test_voc.py",
        "tests/evaluators/formats/test_formats.py",
    ),
    "vidscore_evaluators.formats._voc_xml": ("tests/evaluators/formats/test_voc.py",),
    "vidscore_evaluators.formats._xml": (
        "tests/evaluators/formats/test_voc.py",
        "tests/evaluators/feeds/test_binary_schemas.py",
    ),
    "vidscore_evaluators.formats.yolo": (
        "tests/evaluators/formats/test_yolo.py",
        "tests/evaluators/formats/test_formats.py",
        "tests/evaluators/formats/test_convert.py",
        "tests/evaluators/formats/test_convert_errors.py",
        "tests/evaluators/formats/test_written_files.py",
    ),
    "vidscore_evaluators.feeds.json_lines": (
        "tests/evaluators/feeds/test_json_schemas.py",
        "tests/evaluators/feeds/test_blocks.py",
    ),
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
        "tests/server/domain/test_plug_in_calls.py",
    ),
    "vidscore_server.domain.browser_sessions": ("tests/server/domain/test_browser_sessions.py",),
    "vidscore_server.domain.invitations": ("tests/server/domain/test_invitations.py",),
    "vidscore_server.domain.final_order": ("tests/server/domain/test_private_sequences.py",),
    "vidscore_server.domain.parts": (
        "tests/server/domain/test_parts.py",
        "tests/server/domain/test_scoring_parts.py",
    ),
    "vidscore_server.domain.portions": ("tests/server/domain/test_portions.py",),
    "vidscore_server.domain.private_part": (
        "tests/server/domain/test_private_part.py",
        "tests/server/domain/test_portions.py",
    ),
    "vidscore_server.domain.truth_upload": (
        "tests/server/domain/test_truth_upload.py",
        "tests/server/domain/test_benchmarks.py",
    ),
    "vidscore_server.api.guard": (
        "tests/server/api/test_guard.py",
        "tests/server/api/test_message_sizes.py",
        "tests/server/api/test_places.py",
    ),
}
"""Modules, and the files that test their rules."""

EQUIVALENT: Mapping[str, str] = {
    "tally._merge_by_name: 0 => 1": "all parts have the same names here, and there are two or more",
    "tally._bounded: table.row_count <= table.schema.first"
    " => table.row_count < table.schema.first": (
        "as many rows as are kept are all kept by what follows, too"
    ),
    "tally.sorted_vocabulary: 1 => 2": "numpy takes any negative length for the unknown one",
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
    "_dont_care.Limits.broken_by: self.minimum_height_px > 0.0 => self.minimum_height_px >= 0.0": (
        "no height is below 0"
    ),
    "_dont_care.resolve_dont_care: matched >= 0 => matched > 0 (#2)": "nothing is matched there",
    "_dont_care.resolve_dont_care: 0 => 1 (#2)": "likewise",
    "selection._typed_pair: raise ValueError(_FRAMES) => dropped": (
        "nothing can be taken out of what is not found, which is refused alike"
    ),
    "selection.Selection.has_sequence: return False => return None": "both are no",
    "dota._write: True => False": "there is a name for each frame",
    "kitti._check_rows: 1 => 2": "numbers beyond the greatest one are refused by what follows",
    "mots._read_images: 0 => 1": "both columns have one length",
    "mots._read_images: 0 => 1 (#2)": "likewise",
    "mots._Lengths.bounds: 1 => 2": "numbers beyond the greatest one are refused by what follows",
    "mot._read_rows: MOST_COLUMNS - FEWEST_COLUMNS => MOST_COLUMNS + FEWEST_COLUMNS": (
        "only as many are taken as there are columns"
    ),
    "mot._class_numbers: 0 => 1": "a label without a number is refused if an object has it",
    "mots._read_masks: True => False": "there is a line for each file",
    "mots._read_masks: 1 => 2 (#3)": "a row without a mask is left out, whatever number it has",
    "mots._write: True => False": "the columns have one length",
    "_visdrone.degree_remarks: 0 => 1": "a 0, in place of no column, is a degree of VisDrone's",
    "_visdrone.written_classes: 1 => 2": "any negative number is no class",
    "visdrone_det._looks_like_rows: return False => return None": "both are no",
    "visdrone_mot._looks_like_rows: return False => return None": "both are no",
    "visdrone_mot._looks_like_row: return False => return None": "both are no",
    "visdrone_mot._looks_like_row: 7 => 8": "a class that is no number is refused by what follows",
    "visdrone_mot._last_frames: True => False": "there is a number for each sequence",
    "voc._read_truth: 0 => 1": "a size of which one side is 0 is none",
    "voc._read_truth: 0 => 1 (#2)": "likewise",
    "voc._sizes: True => False": "there is an image for each file",
    "voc._sizes: 0 => 1": "sides of images are at least 1",
    "voc._sizes: 0 => 1 (#2)": "likewise",
    "voc._write: True => False": "there are rows and a size for each name",
    "voc._xml: width and height => width or height": "both are known or neither",
    "voc._xml: True => False": "there are four corners",
    "yolo.matches: return False => return None": "both are no",
    "yolo._lines: True => False": "there are four names and four parts",
    "yolo._lines: True => False (#2)": "the columns have one length",
    "json_lines.read_many: b'\\r' in line => b'\\r' not in line": (
        "what is not read at once is read message by message"
    ),
    "json_lines.read_many: max(map(len, lines)) > MAXIMUM_MESSAGE_BYTES"
    " => max(map(len, lines)) >= MAXIMUM_MESSAGE_BYTES": "likewise",
    "final_order.FinalChoices.choose: self._context.changes.tell(name) => dropped": (
        "whoever watches is told by the poller, a moment later"
    ),
    "parts._cut: True => False": "there is a size for each row",
    "release.released_values: True => False": "the Ladder gives a value for each scale",
    "private_part.settle: len(judged) > 1 => len(judged) >= 1": (
        "of a single sequence all is private without a draw, too, which is refused"
    ),
    "portions._by_sequence: True => False": "there are two sides of each sequence",
    "portions._by_sequence: True => False (#2)": "likewise",
    "portions.estimate: True => False": "the job gives a value for each measure",
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
"""Mutants that behave like the module, each with the reason."""
