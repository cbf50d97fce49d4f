"""What the policy `final` shows: rounded scores, and only names that a team knows."""

from __future__ import annotations

import pytest
from tests.server.domain.hosted import Client, Hosted, dots, refusal, values
from tests.server.domain.streets import BOX, streets
from tests.server.scene import batch, points

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, report_pb2

FINAL = benchmark_pb2.VISIBILITY_FINAL
HIT = [(10.0, 20.0)]


def _things(labels: dict[str, list[str]]) -> annotations_pb2.AnnotationBatch:
    """One frame of a sequence in each domain, with one box per label."""
    frames = (((name, "street"), 1, [BOX] * len(names)) for name, names in labels.items())
    table = [label for names in labels.values() for label in names]
    return batch(frames, table, annotations_pb2.GEOMETRY_BOX)


async def _report(client: Client) -> report_pb2.Report:
    [score] = await client.scores("one")
    return score.report


def _parts(report: report_pb2.Report) -> set[tuple[str, str]]:
    return {
        (score.domain if score.HasField("domain") else "*",
         score.label if score.HasField("label") else "*")
        for score in report.scores
    }  # fmt: skip


async def test_scores_are_rounded_to_the_step_and_others_to_as_many_digits(hosted: Hosted) -> None:
    """Two of three objects are found, one 4 px off, and one detection is false.

    F1 = 4 / 6; the MSE is (16 + 2 * 100) / 4 = 54; precision 2 / 3.
    """
    measures = ["precision", "true_positives", "sse"]
    await hosted.organiser.create_benchmark(visibility=FINAL, released_measures=measures)
    await hosted.organiser.upload(points({1: [*HIT, (200.0, 200.0)], 2: HIT}))
    await hosted.red.submit(points({1: [*HIT, (204.0, 200.0)], 2: [(99.0, 99.0)]}))
    await hosted.red.ended()
    seen = values(await _report(hosted.red))
    assert seen == {"f1": 0.67, "mse": 54, "precision": 0.67, "true_positives": 2, "sse": 220}
    whole = values(await _report(hosted.organiser))
    assert whole["f1"] == 2 / 3
    assert whole["sse"] == 216.0


@pytest.mark.slow
async def test_the_board_ranks_by_the_shown_values(hosted: Hosted) -> None:
    """F1 of 2/3 and 0.8 are 0.5 and 1 to a step of a half; MSEs of 100 and 66.67 have one digit."""
    await hosted.organiser.create_benchmark(visibility=FINAL, ladder_step=0.5)
    truth = dict.fromkeys(range(1, 5), HIT)
    await hosted.organiser.upload(points(truth))
    # 2k / (k + 4) for k of 4 objects: 0.4, 0.667, 0.857.
    for client, name, count in ((hosted.red, "r", 2), (hosted.blue, "b", 1)):
        await client.submit(points({n: HIT if n <= count else [] for n in truth}), name)
        await client.ended(name)
    rows = [(row.rank, row.team, row.scores[0].value) for row in (await hosted.viewer.board()).rows]
    assert rows == [(1, "red", 0.5), (2, "blue", 0.5)]
    exact = [row.scores[0].value for row in (await hosted.organiser.board()).rows]
    assert exact == [2 / 3, 0.4]


async def test_rows_have_only_names_that_the_submission_has(hosted: Hosted) -> None:
    message = streets()
    message.policy.visibility = FINAL
    await hosted.organiser.create(message)
    await hosted.organiser.upload(_things({"day": ["car", "zebra"], "planted": ["zebra"]}))
    await hosted.red.submit(_things({"day": ["Car"]}))
    await hosted.red.ended()
    whole = _parts(await _report(hosted.organiser))
    seen = _parts(await _report(hosted.red))
    assert {("day", "zebra"), ("planted", "*"), ("*", "zebra")} <= whole
    assert seen == {("*", "*"), ("day", "*")} | {
        part for part in whole if part[1].casefold() == "car" and part[0] != "planted"
    }
    for asked in ({"domain": "none"}, {"label": "none"}):
        told = (await refusal(hosted.red.board(**asked))).message
        assert "none" in told
        assert "planted" not in told
        assert "zebra" not in told
    assert [row.rank for row in (await hosted.red.board(domain="day")).rows] == [1]
    told_all = await refusal(hosted.organiser.board(domain="none", label="none"))
    assert told_all.violations == {
        "domain": "found 'none', expected day or planted",
        "label": "found 'none', expected Car or car or zebra",
    }


async def test_under_live_every_name_in_a_score_is_known(hosted: Hosted) -> None:
    """Names are shown up to 80 characters."""
    message, long = streets(), "z" * 99
    message.policy.visibility = benchmark_pb2.VISIBILITY_LIVE
    await hosted.organiser.create(message)
    await hosted.organiser.upload(_things({"day": ["car", long], "night": [long]}))
    await hosted.red.submit(_things({"day": ["car"]}))
    await hosted.red.ended()
    for asked in ({"label": long}, {"domain": "night"}):
        assert [row.rank for row in (await hosted.red.board(**asked)).rows] == [1]
    told = await refusal(hosted.red.board(label="y" * 99))
    assert told.violations == {"label": f"found '{'y' * 79}, expected car or {'z' * 80}"}


async def test_rows_have_the_names_of_the_specification(hosted: Hosted) -> None:
    message = streets(labels=["car", "bus"])
    message.policy.visibility = FINAL
    await hosted.organiser.create(message)
    await hosted.organiser.upload(_things({"": ["car", "bus"]}))
    await hosted.red.submit(_things({"": ["car"]}))
    await hosted.red.ended()
    labels = {label for _, label in _parts(await _report(hosted.red))}
    assert labels == {"*", "car", "bus"}


async def test_the_ladder_clips_measures_without_a_lower_bound_and_organisers_see_them_unclipped(
    hosted: Hosted,
) -> None:
    """One object, found, and three false tracks: MOTA = 1 - 3."""
    message = dots()
    message.specification.evaluators[0].name = "clear"
    base = message.specification.evaluators[0].parameters.add(name="base")
    base.text = "euclidean"
    await hosted.organiser.create(message)
    truth = points({1: HIT})
    truth.track_ids.append(1)
    await hosted.organiser.upload(truth)
    wrong = points({1: [*HIT, (90.0, 90.0), (150.0, 90.0), (250.0, 90.0)]})
    wrong.track_ids.extend(range(1, 5))
    await hosted.red.submit(wrong)
    await hosted.red.ended()
    assert values(await _report(hosted.red)) == {"mota": 0.0}
    [row] = (await hosted.viewer.board()).rows
    assert row.scores[0].value == 0.0
    [row] = (await hosted.organiser.board()).rows
    assert row.scores[0].value == values(await _report(hosted.organiser))["mota"] == -2.0
