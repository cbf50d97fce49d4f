"""A board as tables and sentences, made from plain values; and the same rows as cells."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from vidscore_server.domain.tiers import MOST_SYSTEMS
from vidscore_server.web.rendering import environment
from vidscore_server.web.site.benchmark import FIRST_ROWS, _first_rows
from vidscore_server.web.site.board import ROWS, View, caption, charts, table
from vidscore_server.web.site.board_view import board_view, finding, tiers_text, weaknesses
from vidscore_server.web.site.visit import Account

TIME = datetime(2026, 11, 21, 16, 2, tzinfo=UTC)


def row(rank: int, team: str, *values: float | None, **more: Any) -> dict[str, Any]:
    names = ("f1", "recall")
    return {
        "rank": rank,
        "team": team,
        "submission": "",
        "title": f"{team} 2",
        "seal_time": TIME,
        "scores": [
            {"measure": name, "value": value} for name, value in zip(names, values, strict=False)
        ],
        "truth_revision": 4,
        "evaluator_version": "1.0.0",
        "apart": False,
        "submission_count": 3,
        "curves": [],
    } | more


def answer(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "rows": list(rows),
        "ranking": ["f1"],
        "further_measures": ["recall"],
        "truth_revision": 4,
        "newest_truth_revision": 4,
        "total_size": len(rows),
        "submission_count": 160,
        "most_submissions": 40,
        "sequence_count": 24,
        "next_page_token": "",
    } | more


TIERS = answer(
    row(1, "falcon", 0.8565, 0.9, tier=1, first_probability=0.8),
    row(2, "heron", 0.8491, 0.8, tier=1, first_probability=0.2),
    row(3, "lynx", 0.8262, 0.7, tier=2, first_probability=0.0),
    row(4, "shrew", None, 0.0),
    row(0, "vole", 0.8391, 0.9, apart=True, truth_revision=3),
)


def test_tiers_undefined_rows_and_others_are_grouped() -> None:
    board = board_view(TIERS, "heron")
    assert [(group.head, group.note) for group in board.groups] == [
        ("First tier", "these two cannot be told apart"),
        ("Second tier", "stands alone"),
        ("Undefined", "last in every order"),
        (
            "Not comparable",
            "not ranked until scored again on truth revision 4 by the present rules",
        ),
    ]
    assert [[one.team for one in group.rows] for group in board.groups] == [
        ["falcon", "heron"], ["lynx"], ["shrew"], ["vole"],
    ]  # fmt: skip


def test_ones_own_row_is_marked() -> None:
    rows = [one for group in board_view(TIERS, "heron").groups for one in group.rows]
    assert [one.team for one in rows if one.is_own] == ["heron"]
    assert not any(one.is_own for group in board_view(TIERS, "").groups for one in group.rows)


def test_probabilities_in_tenths_are_shown_in_tenths() -> None:
    [first, second, *_] = board_view(TIERS, "").groups
    assert [one.chance for one in first.rows] == ["0.8", "0.2"]
    assert second.rows[0].chance == "< 0.1"


def test_more_exact_probabilities_have_two_digits() -> None:
    fine = answer(
        row(1, "a", 1.0, first_probability=0.764), row(2, "b", 0.5, first_probability=0.0)
    )
    [group] = board_view(fine, "").groups
    assert [one.chance for one in group.rows] == ["0.76", "< 0.01"]


def test_without_tiers_there_is_one_group_and_no_column_of_probabilities() -> None:
    board = board_view(answer(row(1, "a", 0.5), row(2, "b", 0.25)), "")
    assert [group.head for group in board.groups] == [""]
    assert not board.has_chances
    assert board.column_count == 7


def test_an_undefined_value_is_shown_as_a_word() -> None:
    [group] = board_view(answer(row(1, "a", None, None)), "").groups
    assert [cell.text for cell in group.rows[0].cells] == ["undefined", "undefined"]
    assert not group.is_ranked


def test_a_disqualified_row_without_a_score_is_not_called_undefined() -> None:
    out = row(0, "stoat", None, None, disqualification="trained on the test videos")
    [_, last] = board_view(answer(row(1, "a", 0.5, 0.5), out), "").groups
    assert [cell.text for cell in last.rows[0].cells] == ["\u2013", "\u2013"]


def test_values_have_as_many_digits_as_the_order_needs() -> None:
    close = answer(row(1, "a", 0.123457, 0.62), row(2, "b", 0.123456, 0.6))
    [group] = board_view(close, "").groups
    assert [[cell.text for cell in one.cells] for one in group.rows] == [
        ["0.123457", "0.62"], ["0.123456", "0.60"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (answer(), "No submission is on the board yet."),
        (answer(row(1, "a", None)), "No submission has a defined score here."),
        (answer(row(1, "a", 0.5), row(2, "b", 0.25)), "a leads with 0.50 in F1."),
        (
            answer(row(1, "a", 0.5), row(1, "b", 0.5)),
            "a and b share the first rank with 0.5 in F1.",
        ),
        (TIERS, "falcon leads with 0.8565 in F1, but cannot be told apart from heron."),
        (answer(row(101, "z", 0.5), total_size=120), "120 rows are on the board."),
    ],
)
def test_the_finding_is_made_from_the_rows(given: dict[str, Any], said: str) -> None:
    assert finding(given) == said


def benchmark(**more: Any) -> dict[str, Any]:
    policy = {"visibility": "ladder", "ladder_step": 0.01}
    return {"policy": policy, "submission_budget": 40} | more


def test_a_board_describes_its_weaknesses() -> None:
    assert weaknesses(benchmark(), TIERS) == [
        "The scores are over 24 sequences. So few say little about other videos.",
        "Scores are released in steps of 0.01: smaller differences are not shown.",
        (
            "160 submissions count as scored; the busiest team has 40, of 40 that a team may have. "
            "More tries gain a little by luck alone."
        ),
        (
            "Two rows here are not compared: one could not be scored by the present truth and "
            "rules and one is undefined."
        ),
    ]


def test_a_board_that_waits_for_newer_truth_says_so() -> None:
    """The number of sequences and the step are those of the newer truth, so they are left out."""
    waiting = answer(row(1, "falcon", 0.9), newest_truth_revision=6)
    told = "It shows revision 4 of the ground truth until it moves to revision 6."
    first, second = weaknesses(benchmark(), waiting)
    assert first == told
    assert second.startswith("160 submissions count")
    assert told not in weaknesses(benchmark(), waiting | {"truth_revision": 0})  # it is empty


def test_one_submission_counts_in_the_singular() -> None:
    said = weaknesses(benchmark(), answer(submission_count=1, most_submissions=1))
    assert said[-1].startswith("One submission counts as scored; the busiest team has 1, of 40")


def test_the_step_in_force_and_private_sequences_are_shown_if_known() -> None:
    known = benchmark(ladder_step_in_force=0.1, private_sequence_count=12)
    said = weaknesses(known, answer(sequence_count=48, submission_count=0))
    assert said == [
        "The scores are over 48 public sequences.",
        (
            "Twelve private sequences decide the final order: no score over private sequences has "
            "been shown so far."
        ),
        "Scores are released in steps of 0.1: smaller differences are not shown.",
    ]


def test_the_board_of_a_closed_benchmark_uses_the_private_sequences_and_is_exact() -> None:
    known = benchmark(ladder_step_in_force=0.1, private_sequence_count=12)
    said = weaknesses(known, answer(sequence_count=48, submission_count=0), closed=True)
    few = "So few say little about other videos."
    assert said == [f"This is the final order, over twelve private sequences. {few}"]
    said = weaknesses(benchmark(), answer(sequence_count=48, submission_count=0), closed=True)
    assert said[1] == "Scores are released in steps of 0.01: smaller differences are not shown."


def test_a_board_of_live_scores_says_from_when_they_are_shown() -> None:
    live = benchmark(policy={"visibility": "live", "ladder_step": 0.01, "minimum_frames": 100})
    told = (
        "Teams see running scores of what they send, once the completed sequences hold 100 frames: "
        "each reveals something of the ground truth."
    )
    assert told in weaknesses(live, TIERS)
    assert told not in weaknesses(live, TIERS, closed=True)
    assert told not in weaknesses(benchmark(), TIERS)


def test_disqualified_rows_are_last_with_the_reason_and_never_lead() -> None:
    out = row(0, "stoat", 0.99, 0.9, disqualification="trained on the test videos")
    shown = answer(*TIERS["rows"], out)
    last = board_view(shown, "").groups[-1]
    assert (last.head, last.is_ranked) == ("Disqualified", False)
    assert [one.note for one in last.rows] == ["trained on the test videos"]
    assert finding(shown) == finding(TIERS)
    assert weaknesses(benchmark(), shown)[-1].endswith("is undefined and one is disqualified.")
    header, rows = table(shown)
    cells = dict(zip(header, rows[-1], strict=True))
    assert (cells["rank"], cells["disqualification"]) == (None, "trained on the test videos")


def test_tiers_with_newer_systems_in_between_are_not_shown() -> None:
    split = answer(
        row(1, "falcon", 0.9, 0.9, tier=1),
        row(2, "newt", 0.8, 0.9),
        row(3, "heron", 0.7, 0.9, tier=1),
        tiers_note="systems of one tier cannot be told apart",
        tiers_stale=True,
    )
    assert [group.head for group in board_view(split, "").groups] == [""]
    assert finding(split) == "falcon leads with 0.9 in F1."
    assert tiers_text(split) == (
        "There are no tiers at the moment: they are being computed, because systems are new."
    )


def overlapping(**more: Any) -> dict[str, Any]:
    """Finished tiers, of which the second begins before the last row of the first."""
    tiers = {"falcon": 1, "heron": 1, "lynx": 2, "newt": 1, "shrew": 2}
    rows = [
        row(rank, team, 1.0 - rank / 10, 0.9, tier=tier)
        for rank, (team, tier) in enumerate(tiers.items(), 1)
    ]
    return answer(*rows, tiers_note="systems of one tier cannot be told apart") | more


def test_finished_tiers_are_shown_completely_even_if_their_ranks_overlap() -> None:
    groups = board_view(overlapping(), "").groups
    assert [(group.head, group.note) for group in groups] == [
        ("First tier", "these three cannot be told apart"),
        ("Second tier", "these two cannot be told apart"),
    ]
    assert [[one.rank for one in group.rows] for group in groups] == [["1", "2", "4"], ["3", "5"]]
    assert finding(overlapping()).endswith("cannot be told apart from heron and newt.")
    assert tiers_text(overlapping()) == (
        "Systems of one tier cannot be told apart. A tier holds all systems whose difference to "
        "its best one is not significant, so ranks of neighbouring tiers may overlap."
    )


def test_a_partly_shown_tier_is_given_with_its_size() -> None:
    board = board_view(overlapping(), "", most=2)
    [group] = board.groups
    assert [one.team for one in group.rows] == ["falcon", "heron"]
    assert group.note == "these two and one more cannot be told apart"
    [group] = board_view(overlapping(), "", most=1).groups
    assert group.note == "this one and two more cannot be told apart"


async def test_the_page_of_a_benchmark_counts_the_whole_tier_of_its_first_rows() -> None:
    rows = [row(rank, f"team-{rank}", 1.0 - rank / 100, tier=1) for rank in range(1, 14)]

    async def call(_: str, *, page_size: int, **_asked: Any) -> dict[str, Any]:
        return answer(*rows[:page_size], total_size=len(rows))

    visit: Any = SimpleNamespace(call=call)
    top = await _first_rows(visit, {"name": "benchmarks/dots"}, Account("viewer"))
    assert top is not None
    [group] = top["view"].groups
    assert len(group.rows) == FIRST_ROWS
    assert group.note == "these five and eight more cannot be told apart"
    assert top["caption"] == "The first five rows of thirteen teams."


def test_a_system_without_a_tier_follows_finished_tiers_whatever_its_rank() -> None:
    """For example, one that could not be scored on draws."""
    shown = answer(row(1, "falcon", 0.9, tier=1), row(2, "newt", 0.8), row(3, "heron", 0.7, tier=1))
    assert [[one.team for one in group.rows] for group in board_view(shown, "").groups] == [
        ["falcon", "heron"], ["newt"],
    ]  # fmt: skip


def test_outdated_tiers_in_another_order_are_not_shown() -> None:
    old = answer(
        row(1, "falcon", 0.9, tier=2), row(2, "heron", 0.8, tier=1), tiers_note="two tiers",
        tiers_stale=True,
    )  # fmt: skip
    assert [group.head for group in board_view(old, "").groups] == [""]


def test_a_page_without_a_row_in_a_tier_says_so() -> None:
    further = answer(row(101, "vole", 0.1), tiers_note="no tier after 100 systems")
    assert tiers_text(further) == "No row of this page is in a tier. No tier after 100 systems."
    first = answer(row(1, "vole", 0.1), tiers_note="no tiers yet: they are being computed")
    assert tiers_text(first) == "No tiers yet: they are being computed."


def test_the_first_page_of_a_board_has_all_compared_systems() -> None:
    assert ROWS >= MOST_SYSTEMS


def test_rows_that_are_not_compared_follow_the_tiers() -> None:
    rows = [row(1, "falcon", 0.9, tier=1), row(2, "heron", 0.8, tier=2), row(3, "newt", 0.7)]
    shown = answer(*rows, tiers_note="no tier after the first 100", tiers_stale=True)
    assert [group.head for group in board_view(shown, "").groups] == [
        "First tier", "Second tier", "Further systems",
    ]  # fmt: skip
    assert tiers_text(shown) == "No tier after the first 100. Newer ones are being computed."
    assert tiers_text(answer(*rows)) == ""


def test_sequences_that_are_not_public_are_not_counted() -> None:
    [first, *_] = weaknesses(benchmark(), answer(sequence_count=None))
    assert first == "The benchmark does not tell how many sequences it has."


def test_the_table_of_cells_has_exactly_the_shown_content() -> None:
    header, rows = table(TIERS)
    assert header == [
        "rank", "team", "title", "f1", "recall", "tier", "first_probability", "submissions",
        "truth_revision", "evaluator_version", "submitted",
    ]  # fmt: skip
    assert rows[0] == [
        1, "falcon", "falcon 2", 0.8565, 0.9, 1, 0.8, 3, 4, "1.0.0", "2026-11-21T16:02:00+00:00",
    ]  # fmt: skip
    assert rows[3][3] is None
    assert rows[4][0] is None


def test_a_caption_names_the_part() -> None:
    assert caption(View(domain="Tower", label="car"), TIERS, []) == (
        "Five teams over domain Tower and label car, truth revision 4."
    )


def curve(*values: float) -> dict[str, Any]:
    def column(name: str, numbers: tuple[float, ...]) -> dict[str, Any]:
        return {"name": name, "values": [{"count": None, "number": one} for one in numbers]}

    columns = [column("recall", (0.0, 0.5, 1.0)), column("precision", values)]
    return {"name": "precision_recall_50", "columns": columns, "domain": None, "label": None}


def test_curves_of_the_first_systems_share_a_picture() -> None:
    rows = [row(1, "a", 0.9, curves=[curve(1.0, 0.9, 0.8)]), row(2, "b", 0.8,
            curves=[curve(1.0, 0.7, 0.6)])]  # fmt: skip
    [chart] = charts(answer(*rows, row(3, "c", 0.1)), "map")
    assert chart["header"] == ["recall", "a", "b"]
    assert [one["cells"] for one in chart["rows"]][1] == ["0.9000", "0.7000"]
    assert ">a</text>" in chart["svg"]
    assert ">b</text>" in chart["svg"]


def test_a_template_shows_the_groups_with_their_heads() -> None:
    use = '{% from "site/_board.html" import board_table %}{{ board_table(board, "Five teams.") }}'
    html = environment().from_string(use).render(board=board_view(TIERS, "heron"))
    assert html.count("<tbody>") == 4
    assert '<tr class="here">' in html
    assert html.count('class="late"') == 2
    assert "<b>First tier</b>, these two cannot be told apart" in html
    assert '<td class="n" data-h="Being first">&lt; 0.1</td>' in html
