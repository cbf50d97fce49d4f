"""Sentences and tables about submissions, made from plain values."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from vidscore_server.domain.states import Event
from vidscore_server.store.records import SubmissionState
from vidscore_server.web.site import submission_words as words
from vidscore_server.web.site.policy_words import hidden_figures, seen_by_team
from vidscore_server.web.site.submission_report import part_tables, shown_scores


def test_every_reason_of_a_state_has_a_sentence() -> None:
    assert {event.value for event in Event} | {"created"} <= set(words._REASONS)
    assert {state.value for state in SubmissionState} == set(words._WORDS)
    assert set(words.STATES) | {"open"} == set(words._WORDS)


@pytest.mark.parametrize(
    ("quotas", "expected"),
    [
        ([], ""),
        ([("maximum_team_mebibytes", 5, 5)], ""),
        ([("submissions_per_day", 3, 1)], "Your team may submit one more time today."),
        (
            [("submissions_per_day", 3, 2), ("submissions_in_all", 40, 17)],
            "Your team may submit two more times today and seventeen more times in all.",
        ),
    ],
)
def test_quotas_are_described_by_what_is_left(
    quotas: list[tuple[str, int, int]], expected: str
) -> None:
    given = [
        {"name": name, "maximum": maximum, "left": left, "renew_time": None}
        for name, maximum, left in quotas
    ]
    assert words.quota_sentence(given) == expected


def test_parts_of_one_kind_with_the_same_measures_are_in_one_table() -> None:
    """Neovision2 counts per domain and label, and has other measures per label."""
    tables = part_tables(
        [
            (("Tower", None, None), {"f1": 0.5}),
            ((None, "Car", None), {"f1": 1.0}),
            (("Tower", "Car", None), {"count": 3}),
            (("Tower", "Bus", None), {"count": 0}),
            (("", None, "001"), {"f1": None}),
            (("", None, None), {"f1": 0.25}),
        ]
    )
    assert [(table.title, table.measures, table.rows) for table in tables] == [
        ("By domain", ("f1",), ((("Tower",), ("0.5000",)), (("",), ("0.2500",)))),
        ("By label", ("f1",), ((("Car",), ("1.0000",)),)),
        (
            "By domain and label",
            ("count",),
            ((("Tower", "Car"), ("3",)), (("Tower", "Bus"), ("0",))),
        ),
        ("By sequence", ("f1",), ((("001",), ("undefined",)),)),
    ]


def test_the_record_of_a_clock_is_described_in_words() -> None:
    record = {"certified": True, "message": "", "frame_count": 12, "latency_worst_s": 0.0305}
    told = "Certified: 12 frames answered in time. The worst latency was 0.030 s."
    assert words.online_words(record) == told
    record |= {"certified": False, "message": "1 of 4 frames without an answer"}
    record["latency_worst_s"] = None
    assert words.online_words(record) == "Not certified: 1 of 4 frames without an answer."


def _benchmark(visibility: str, outcomes: str = "", **more: object) -> dict[str, Any]:
    policy: dict[str, object] = {
        "visibility": visibility,
        "ladder_step": None,
        "released_measures": [],
        "release_curves": False,
        "minimum_frames": 100,
        "outcomes": outcomes,
        "public_board": None,
    }
    return {"policy": policy, "close_time": None, **more}


@pytest.mark.parametrize("visibility", ["", "ladder", "final", "live", "bootstrap"])
@pytest.mark.parametrize("outcomes", ["", "none", "own"])
def test_a_team_is_told_that_it_never_sees_missed_objects_and_truth(
    visibility: str, outcomes: str
) -> None:
    benchmark = _benchmark(visibility, outcomes)
    never = {row.what for row in seen_by_team(benchmark) if row.when == "never"}
    assert {"Missed objects", "Ground truth"} <= never
    assert ("What became of your own detections" in never) == (outcomes != "own")
    assert bool(hidden_figures(benchmark["policy"])) == (visibility != "live")


def test_released_curves_are_described_as_visible() -> None:
    benchmark = _benchmark("final")
    benchmark["policy"]["release_curves"] = True
    seen = {row.what: row for row in seen_by_team(benchmark)}
    assert (seen["Curves"].when, seen["Curves"].shown) == ("once it is scored", True)
    assert seen["Curves"].why == "visibility = final, release_curves = true"
    assert seen["Figures of single sequences"].when == "never"
    assert "urves" not in hidden_figures(benchmark["policy"])
    kept = {row.what: row.when for row in seen_by_team(_benchmark("final"))}
    assert kept["Curves, and figures of single sequences"] == "never"
    assert "sequences and curves" in hidden_figures(_benchmark("final")["policy"])


@pytest.mark.parametrize(
    ("frames", "when"),
    [
        (1, "once the completed sequences hold 1 frame"),
        (1200, "once the completed sequences hold 1,200 frames"),
    ],
)
def test_running_scores_are_described_as_withheld(frames: int, when: str) -> None:
    benchmark = _benchmark("live")
    benchmark["policy"]["minimum_frames"] = frames
    [row] = [row for row in seen_by_team(benchmark) if row.what == "Running scores"]
    assert row.when == when
    assert row.why == f"visibility = live, minimum_frames = {frames}"


def test_private_sequences_are_described_with_when_and_why() -> None:
    closes = datetime(2026, 12, 15, 18, tzinfo=UTC)
    rows = seen_by_team(_benchmark("", private_sequence_count=12, close_time=closes))
    [row] = [row for row in rows if "private" in row.what]
    assert row.what == "Scores of the twelve private sequences"
    one = seen_by_team(_benchmark("", private_sequence_count=1, close_time=closes))
    assert "Scores of the one private sequence" in [row.what for row in one]
    assert row.when == "after 15 Dec 2026, 18:00 UTC"
    assert "they decide the final order" in row.why
    assert not [row for row in seen_by_team(_benchmark("")) if "private" in row.what]


def test_the_described_step_is_the_one_in_force() -> None:
    rows = seen_by_team(_benchmark("ladder", ladder_step_in_force=0.035))
    assert any("beat your team's best by 0.035" in row.when for row in rows)
    rows = seen_by_team(_benchmark("ladder"))
    assert any("beat your team's best by 0.01" in row.when for row in rows)


def test_an_estimate_is_described_as_one() -> None:
    for visibility, what in (("ladder", "Ranking"), ("bootstrap", "An estimate of the ranking")):
        rows = [row.what for row in seen_by_team(_benchmark(visibility))]
        assert f"{what} measures" in rows


def test_a_score_over_private_sequences_is_a_table_of_its_own() -> None:
    report: dict[str, object] = {
        "evaluator": "f1",
        "version": "1.0.0",
        "parameters": [{"name": "threshold", "boolean": None, "integer": None, "number": 0.5}],
        "truth_digest": "",
        "detections_digest": "",
        "software": {},
        "specification": {},
        "scores": [
            {
                "domain": None,
                "label": None,
                "sequence": None,
                "measure": "f1",
                "value": {"count": None, "number": None},
            }
        ],
        "curves": [
            {
                "name": "f1_by_threshold",
                "domain": None,
                "label": None,
                "columns": [
                    {"name": name, "values": [{"count": None, "number": end} for end in (0.0, 1.0)]}
                    for name in ("threshold", "f1")
                ],
            }
        ],
        "warnings": [],
        "preset": None,
    }
    score = {"report": report, "private_report": report, "partial": False}
    public, private = shown_scores([score], "one", {})
    assert public.over == "all sequences that are not private"
    assert private.over == "the private sequences"
    assert private.figures == (("f1", "undefined"),)
    drawn = [chart["svg"] for shown in (public, private) for chart in shown.charts]
    names = [re.findall(r' id="([^"]+)"', svg) for svg in drawn]
    assert len(drawn) == 2
    assert not set(names[0]) & set(names[1])  # Screen readers announce each by its own name.
    [alone] = shown_scores([{"report": report, "partial": False}], "one", {})
    assert alone.over == "everything"


def test_a_used_quota_is_grouped_by_thousands() -> None:
    quota = {"name": "submissions_in_all", "maximum": 1000, "left": 1}
    assert words.quota_facts([quota]) == [("In all", "999 of 1,000 used")]
