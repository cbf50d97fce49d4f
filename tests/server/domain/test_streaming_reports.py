"""Streaming accuracy of live submissions: exact, and shown only as the policy allows.

A clock of two sequences with three frames each, half a second per frame. The system answers frames
1 and 2 of the first sequence in time, both within 0.1 s, and frame 3 after 0.7 s, when the second
sequence has begun. Of that one it answers only frame 2, after 0.3 s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.server.domain.hosted import BENCHMARK, Hosted, dots
from tests.server.domain.live_scene import TOLD, Answering, created
from tests.server.scene import points

import vidscore
from vidscore_client._decoding import decode_report
from vidscore_evaluators.report import Report, report_from_dict
from vidscore_protos.v1 import benchmark_pb2, report_pb2, specification_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb

STEP_S = 0.1
TRUTH = {
    "1": {1: [(10.0, 20.0)], 2: [(11.0, 20.0)], 3: [(12.0, 20.0), (300.0, 200.0)]},
    "2": {1: [], 2: [(50.5, 60.5)], 3: [(51.5, 60.5)]},
}
ANSWERS = {
    0: [(10.0, 20.0)],
    1: [(11.0, 20.0)],
    2: [(12.0, 20.0)],
    4: [(50.5, 60.5), (200.0, 200.0)],
}
"""By position on the clock."""
ARRIVALS_S = {0: 0.1, 1: 0.6, 2: 1.7, 4: 2.3}
FRAMES = [(sequence, number) for sequence in TRUTH for number in TRUTH[sequence]]
DUE_S = [0.5 * position for position in range(len(FRAMES))]


def live_pair(visibility: str, **policy: Any) -> benchmark_pb2.Benchmark:
    benchmark = dots(visibility=f"VISIBILITY_{visibility}", **policy)
    benchmark.specification.sequences.extend(
        specification_pb2.SequenceSpec(name=name, frame_count=3, first_frame=1) for name in TRUTH
    )
    benchmark.live.frame_rate = 2.0
    return benchmark


async def answered(hosted: Hosted, benchmark: benchmark_pb2.Benchmark) -> None:
    """Host a benchmark, and answer its clock; the submission stays open."""
    await hosted.organiser.create(benchmark, public=TOLD)
    await hosted.organiser.upload(*(points(TRUTH[name], name) for name in TRUTH))
    await created(hosted.red)
    async with Answering(hosted.red) as call:
        for step in range(31):
            hosted.clock.pass_by(seconds=STEP_S if step else 0.0)
            if step % 5 == 0:
                await (call.frame() if step < 30 else call.ended())
            for position, arrival_s in ARRIVALS_S.items():
                if step == round(arrival_s / STEP_S):
                    await answer(call, position)


async def answer(call: Answering, position: int) -> None:
    sequence, number = FRAMES[position]
    detections = points({number: ANSWERS[position]}, sequence)
    await call.call.write(pb.AnswerFramesRequest(position=position, detections=detections))
    await call.next("stored")


async def sealed(hosted: Hosted) -> None:
    await hosted.red.seal()
    await hosted.red.ended()


def offline(folder: Path, *sequences: str) -> Report:
    """The report of the same frames and times in files."""
    lines: dict[str, list[str]] = {"truth": [], "detections": []}
    for position, (sequence, number) in enumerate(FRAMES):
        frame = {"sequence": sequence, "frame": number, "time_s": DUE_S[position]}
        if sequence not in sequences:
            continue
        lines["truth"].append(line(frame, TRUTH[sequence][number]))
        if position in ANSWERS:
            arrived = {**frame, "arrival_s": ARRIVALS_S[position]}
            lines["detections"].append(line(arrived, ANSWERS[position]))
    for side, written in lines.items():
        (folder / f"{side}.jsonl").write_text("".join(written))
    truth, detections = (str(folder / f"{side}.jsonl") for side in lines)
    return vidscore.score("spotgeo", truth, detections, online=True)


def line(frame: dict[str, object], objects: list[tuple[float, float]]) -> str:
    return json.dumps({**frame, "objects": [{"point": list(point)} for point in objects]}) + "\n"


def report_of(message: report_pb2.Report) -> Report:
    return report_from_dict(decode_report(message).to_dict())


def figures(report: Report) -> tuple[object, ...]:
    """What a report says about its input; on a server, frames of a warning have no file."""
    warnings = [(entry.code, entry.message, entry.count) for entry in report.warnings]
    curves = [(curve.name, curve.domain, curve.label, curve.points()) for curve in report.curves]
    digests = (report.truth_digest, report.detections_digest)
    return (report.rows(), curves, warnings, digests, report.parameters, report.version)


async def test_the_report_is_that_of_the_same_frames_and_times_in_files(
    hosted: Hosted, tmp_path: Path
) -> None:
    await answered(hosted, live_pair("LIVE"))
    await sealed(hosted)
    [score] = await hosted.organiser.scores()
    expected = offline(tmp_path, "1", "2")
    assert figures(report_of(score.streaming_report)) == figures(expected)
    budgets_s = [0.0, 0.6 - 0.5, 0.1, 2.3 - 2.0, 1.7 - 1.0]
    assert list(expected.curves[-1].columns["latency_budget_s"]) == budgets_s
    assert expected.rows() != report_of(score.report).rows()
    [seen] = await hosted.red.scores()
    found = report_of(seen.streaming_report)
    assert figures(found)[:3] == figures(expected)[:3]
    assert found.truth_digest != expected.truth_digest


async def test_streaming_accuracy_is_shown_as_much_as_any_score(
    hosted: Hosted, tmp_path: Path
) -> None:
    """Without private sequences, rounded to the step; nothing under the Ladder."""
    policy = {"private_sequences": ["2"], "release_curves": True, "ladder_step": 0.25}
    await answered(hosted, live_pair("FINAL", **policy))
    await sealed(hosted)
    public, whole = offline(tmp_path, "1"), offline(tmp_path, "1", "2")
    assert public.value("f1") != whole.value("f1")
    [score] = await hosted.organiser.scores()
    assert figures(report_of(score.streaming_report)) == figures(whole)
    [score] = await hosted.red.scores()
    shown = report_of(score.streaming_report)
    assert {row.measure for row in shown.rows()} == {"f1", "mse"}
    assert shown.value("f1") == round(float(public.value("f1") or 0) * 4) / 4
    assert not shown.warnings
    assert not shown.truth_digest
    [curve] = [curve for curve in shown.curves if curve.name == "f1_by_latency_budget"]
    [exact] = [curve for curve in public.curves if curve.name == "f1_by_latency_budget"]
    budgets_s = list(exact.columns["latency_budget_s"])
    assert list(curve.columns["latency_budget_s"]) == budgets_s
    assert set(curve.columns["f1"]) <= {0.0, 0.25, 0.5, 0.75, 1.0}
    for visibility, has in (("LADDER", False), ("FINAL", True)):
        benchmark = live_pair(visibility, private_sequences=["2"], ladder_step=0.25)
        benchmark.name = BENCHMARK
        await hosted.organiser.update(benchmark, "policy")
        [score] = await hosted.red.scores()
        assert score.HasField("streaming_report") == has
        assert not score.streaming_report.curves


async def test_truth_with_frames_that_the_clock_lacks_gives_no_such_report(hosted: Hosted) -> None:
    """The benchmark has got a frame since; the warning does not say which."""
    await answered(hosted, live_pair("LIVE"))
    benchmark = live_pair("LIVE")
    benchmark.name = BENCHMARK
    benchmark.specification.sequences[0].frame_count = 4
    await hosted.organiser.update(benchmark, "specification")
    await hosted.organiser.upload(points({4: [(1.0, 1.0)]}, "1"), merge=True)
    await sealed(hosted)
    [score] = await hosted.organiser.scores()
    assert not score.HasField("streaming_report")
    told = [text for text in (await hosted.red.get()).warnings if "streaming accuracy" in text]
    assert len(told) == 1
    assert told[0].endswith("the times of its answers do not fit the benchmark as it is now")


async def test_a_submission_without_a_clock_has_no_such_report(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(points(TRUTH["1"]))
    await hosted.red.submit(points({1: [], 2: [], 3: []}))
    await hosted.red.ended()
    [score] = await hosted.red.scores()
    assert not score.HasField("streaming_report")
