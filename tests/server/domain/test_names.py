"""Titles, comments and names with control characters are refused from every caller."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, create_token, dots, end_of, refusal
from tests.server.scene import points

from vidscore_protos.v1 import organiser_pb2, token_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb

EXPECTED = "expected no control characters, ends of lines or changes of the direction of writing"

Send = Callable[[Hosted, str], Awaitable[object]]


async def _title(hosted: Hosted, text: str) -> None:
    request = pb.CreateSubmissionRequest(benchmark=BENCHMARK, title=text)
    await hosted.red.submissions.CreateSubmission(request, metadata=hosted.red.metadata)


async def _comment(hosted: Hosted, text: str) -> None:
    await create_token(hosted.organiser, token_pb2.ROLE_VIEWER, comment=text)


async def _truth_comment(hosted: Hosted, text: str) -> None:
    header = organiser_pb2.UploadTruthHeader(benchmark=BENCHMARK, comment=text)
    requests = [
        organiser_pb2.UploadTruthRequest(header=header),
        organiser_pb2.UploadTruthRequest(truth=TRUTH),
        organiser_pb2.UploadTruthRequest(end=end_of(TRUTH)),
    ]
    await hosted.organiser.benchmarks.UploadTruth(
        iter(requests), metadata=hosted.organiser.metadata
    )


async def _rescore_comment(hosted: Hosted, text: str) -> None:
    request = organiser_pb2.RescoreSubmissionsRequest(benchmark=BENCHMARK, comment=text)
    await hosted.organiser.benchmarks.RescoreSubmissions(
        request, metadata=hosted.organiser.metadata
    )


async def _benchmark_title(hosted: Hosted, text: str) -> None:
    benchmark = dots()
    benchmark.specification.title = text
    await hosted.organiser.create(benchmark, "more")


async def _domain(hosted: Hosted, text: str) -> None:
    benchmark = dots()
    benchmark.specification.domains.add(name=text)
    await hosted.organiser.create(benchmark, "more")


async def _sequence(hosted: Hosted, text: str) -> None:
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, points({1: []}, sequence=text))


async def _label(hosted: Hosted, text: str) -> None:
    stream = await hosted.red.submission()
    batch = points({1: [(1.0, 2.0)]})
    batch.labels.append(text)
    await hosted.red.append(stream, 0, batch)


async def _truth_sequence(hosted: Hosted, text: str) -> None:
    await hosted.organiser.upload(points({1: []}, sequence=text))


PLACES: dict[str, Send] = {
    "title": _title,
    "comment": _comment,
    "header.comment": _truth_comment,
    "specification.title": _benchmark_title,
    "specification.domains[0].name": _domain,
    "detections.sequences[0]": _sequence,
    "detections.labels[0]": _label,
    "truth.sequences[0]": _truth_sequence,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", ["a\x1b[31m", "a\nb", "a\x9bb", "a\u202eb", "a\u2028b", "a\0b"])
@pytest.mark.parametrize("place", PLACES)
async def test_a_text_with_control_characters_is_refused_in_every_place(
    hosted: Hosted, place: str, text: str
) -> None:
    await hosted.organiser.create_benchmark(public=[])
    refused = await refusal(PLACES[place](hosted, text))
    assert refused.reason in {"INVALID_INPUT", "INVALID_SPECIFICATION"}
    assert refused.violations
    if "\0" not in text:
        assert place.rpartition(".")[2] in " ".join(refused.violations)
        assert EXPECTED in " ".join(refused.violations.values())


@pytest.mark.parametrize("text", [" ", "\u3000", "\u200b", "\xa0\ufeff"])
@pytest.mark.parametrize("place", ["title", "comment", "specification.title"])
async def test_a_text_of_which_nothing_can_be_seen_is_refused(
    hosted: Hosted, place: str, text: str
) -> None:
    """A link with such a title could neither be seen nor read aloud."""
    await hosted.organiser.create_benchmark(public=[])
    refused = await refusal(PLACES[place](hosted, text))
    [(field, told)] = refused.violations.items()
    assert field == place.rpartition(".")[2]
    assert told.endswith("expected a visible character, or nothing")


async def test_a_comment_of_a_rescoring_is_checked_in_the_same_way(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    refused = await refusal(_rescore_comment(hosted, "a\x1bb"))
    assert EXPECTED in refused.violations["comment"]


async def test_texts_of_every_script_are_accepted_unchanged(hosted: Hosted) -> None:
    """Joined letters, as in Persian and emoji, do not change the direction of the text."""
    await hosted.organiser.create_benchmark(public=[])
    title = "\u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f469 é"
    request = pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id="one", title=title)
    await hosted.red.submissions.CreateSubmission(request, metadata=hosted.red.metadata)
    assert (await hosted.red.get()).title == title
