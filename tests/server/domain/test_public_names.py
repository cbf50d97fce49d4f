"""Names that a benchmark lacks are refused or warned about, if participants may know the names."""

from __future__ import annotations

import asyncio

import pytest
from tests.server.domain.hosted import BENCHMARK, Hosted, append, refusal
from tests.server.domain.streets import streets, things

from vidscore_protos.v1 import submission_service_pb2 as pb

TRUTH = things({0: ["car"], 4: ["car", "bus"]})
CAR = things({1: ["car"]})
UNKNOWN = "label 'zebra' is not in the benchmark's ground truth and can match nothing"


async def test_a_sequence_that_the_complete_truth_lacks_is_refused_with_a_similar_name(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create(streets())
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission()
    found = await refusal(hosted.red.append(stream, 0, things({1: ["car"]}, "street.mp4")))
    assert found.violations == {
        "detections.sequences[0]": "found sequence street.mp4, expected a sequence of the "
        "benchmark; did you mean street?"
    }
    assert (await hosted.red.get()).frame_count == 0
    assert await hosted.red.append(stream, 0, CAR) == 1
    assert not (await hosted.red.get()).warnings


async def test_all_unknown_names_of_a_batch_are_reported_at_once(hosted: Hosted) -> None:
    """The specification lists the names, so no truth is needed."""
    await hosted.organiser.create(
        streets(labels=["car", "bus"], sequences={"street": 5}),
        public=["sequences", "labels", "frame_counts"],
    )
    stream = await hosted.red.submission()
    wrong = things({1: ["car"], 5: ["bus"], 7: ["bys"]})
    wrong.sequences.add(sequence="road")
    found = await refusal(hosted.red.append(stream, 0, wrong))
    assert found.violations == {
        "detections.sequences[1]": "found sequence road, expected a sequence of the "
        "benchmark; its sequences are street",
        "detections.frame_numbers[1]": "found frame 5 of sequence street, and 1 more, "
        "expected frames 0 to 4",
        "detections.labels[2]": "found label 'bys', expected a label of the benchmark; "
        "did you mean bus?",
    }
    assert (await hosted.red.get()).frame_count == 0


async def test_a_label_that_the_truth_lacks_is_warned_about_once_and_accepted(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create(streets())
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(things({1: ["car", "zebra"], 2: ["Car", "zebra"]}))
    expected = [
        f"{UNKNOWN.replace('zebra', 'Car')}; did you mean car?",
        f"{UNKNOWN}; its labels are bus, car",
    ]
    assert sorted((await hosted.red.get()).warnings) == expected
    assert sorted((await hosted.red.ended()).submission.warnings) == expected


async def test_a_listed_label_spelled_differently_in_the_truth_is_warned_about(
    hosted: Hosted,
) -> None:
    """Class lists ignore case, f1 does not; a listed label without objects is accepted."""
    await hosted.organiser.create(streets(labels=["car", "bus", "van"]))
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, things({1: ["CAR", "van", "bus"]}))
    [warning] = (await hosted.red.get()).warnings
    assert warning.startswith("label 'CAR'")


async def test_frames_beyond_the_truth_are_refused_only_if_frame_counts_are_public(
    hosted: Hosted,
) -> None:
    """The truth has frames 0 and 4: 2 lies between them, 5 outside."""
    await hosted.organiser.create(streets(), public=["sequences", "frame_counts"])
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission()
    assert await hosted.red.append(stream, 0, things({2: ["car"]})) == 1
    found = await refusal(hosted.red.append(stream, 1, things({5: ["car"]})))
    assert "found frame 5 of sequence street, expected frames 0 to 4" in found.message


async def test_frames_sent_before_the_truth_get_a_warning_when_they_are_scored(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create(streets())
    await hosted.organiser.upload(things({0: ["car"]}), complete=False)
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, things({0: ["zebra"]}, "street.mp4"))
    await hosted.red.seal()
    assert not (await hosted.red.get()).warnings
    await hosted.organiser.upload(TRUTH)
    ended = await hosted.red.ended()
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    label, sequence = ended.submission.warnings
    assert label == f"{UNKNOWN}; its labels are bus, car"
    assert sequence == (
        "sequence street.mp4 gets no score, because it is not a sequence of the benchmark; "
        "did you mean street?"
    )


async def test_an_open_stream_is_checked_against_truth_that_arrives_meanwhile(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create(streets())
    stream = await hosted.red.submission()
    call = hosted.red.submissions.AppendFrames(metadata=hosted.red.metadata)
    early = append(stream, 0, things({0: ["car"]}, "road"))
    await call.write(early)
    assert await call.read() == pb.AppendResponse(next_offset=1)
    await hosted.organiser.upload(TRUTH)
    late = append(stream, 1, things({1: ["car"]}, "road"))
    await call.write(late)
    assert "expected a sequence of the benchmark" in (await refusal(call.read())).message


async def test_only_the_submission_with_suspicious_detections_gets_the_warning(
    hosted: Hosted,
) -> None:
    """Batches that wait together are checked together."""
    benchmark = streets()
    benchmark.policy.unlimited_submissions = True
    await hosted.organiser.create(benchmark)
    await hosted.organiser.upload(TRUTH)
    names = [f"s{row}" for row in range(6)]
    streams = [await hosted.red.submission(name) for name in names]
    batches = [things({1: ["zebra" if row == 3 else "bus"]}) for row in range(6)]
    await asyncio.gather(
        *(hosted.red.append(stream, 0, batch)
          for stream, batch in zip(streams, batches, strict=True))
    )  # fmt: skip
    doubtful = [name for name in names if (await hosted.red.get(name)).warnings]
    assert doubtful == ["s3"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("public", "told"),
    [
        ([], "sequences, labels and frames"),
        (["labels"], "sequences and frames"),
        (["sequences", "frame_counts"], "labels"),
    ],
)
async def test_withheld_names_give_everybody_the_same_warning(
    hosted: Hosted, public: list[str], told: str
) -> None:
    """With known and unknown names, with truth and without: the answers are the same."""
    await hosted.organiser.create(streets(), public=public)
    right = things({0: ["car"]})
    wrong = things(
        {0: ["car" if "labels" in public else "zebra"]},
        "street" if "sequences" in public else "road",
    )
    before = await hosted.red.submission("before")
    await hosted.red.append(before, 0, right)
    await hosted.organiser.upload(TRUTH)
    for name, batch in (("right", right), ("wrong", wrong)):
        await hosted.red.submit(batch, name)
        await hosted.red.ended(name)
    seen = [list((await hosted.red.get(name)).warnings) for name in ("before", "right", "wrong")]
    assert seen[0] == seen[1] == seen[2]
    [warning] = seen[0]
    assert warning.startswith(f"the benchmark does not publish its {told}: ")


async def test_a_revision_that_is_no_longer_complete_refuses_nothing(hosted: Hosted) -> None:
    await hosted.organiser.create(streets())
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission()
    await refusal(hosted.red.append(stream, 0, things({0: ["car"]}, "road")))
    await hosted.organiser.upload(things({9: ["car"]}), complete=False, merge=True)
    assert await hosted.red.append(stream, 0, things({0: ["car"]}, "road")) == 1


async def test_only_the_team_itself_sees_its_warnings(hosted: Hosted) -> None:
    await hosted.organiser.create(streets())
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(things({1: ["zebra"]}))
    listed = await hosted.blue.submissions.ListSubmissions(
        pb.ListSubmissionsRequest(benchmark=BENCHMARK), metadata=hosted.blue.metadata
    )
    assert not listed.submissions
