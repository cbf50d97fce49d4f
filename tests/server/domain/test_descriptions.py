"""Descriptions of benchmarks: lines of Markdown, which an update may change."""

from __future__ import annotations

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from tests.server.domain.hosted import BENCHMARK, Hosted, dots, refusal

from vidscore_protos.v1 import benchmark_service_pb2, organiser_pb2
from vidscore_server.domain.definition import MAXIMUM_DESCRIPTION_LENGTH


async def described(hosted: Hosted) -> str:
    request = benchmark_service_pb2.GetBenchmarkRequest(name=BENCHMARK)
    viewer = hosted.viewer
    answer = await viewer.benchmarks.GetBenchmark(request, metadata=viewer.metadata)
    return answer.benchmark.description


async def test_a_description_may_have_lines_and_is_shown_to_all(hosted: Hosted) -> None:
    message = dots()
    message.description = "# Dots\r\n\r\n\tFind *them*."
    await hosted.organiser.create(message)
    assert await described(hosted) == "# Dots\n\n\tFind *them*."


@pytest.mark.parametrize("changed", ["Other words.", ""])
async def test_an_update_changes_it_alone(hosted: Hosted, changed: str) -> None:
    message = dots(submissions_per_day=3)
    message.description = "Words."
    await hosted.organiser.create(message)
    update = dots()
    update.name, update.description = BENCHMARK, changed
    organiser = hosted.organiser
    answer = await organiser.benchmarks.UpdateBenchmark(
        organiser_pb2.UpdateBenchmarkRequest(
            benchmark=update, update_mask=FieldMask(paths=["description"])
        ),
        metadata=organiser.metadata,
    )
    assert answer.benchmark.description == changed
    assert answer.benchmark.policy.submissions_per_day == 3
    assert await described(hosted) == changed


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "a\u202eb", "a\x00", "x" * (MAXIMUM_DESCRIPTION_LENGTH + 1)]
)
async def test_what_a_terminal_would_obey_and_what_is_too_long_is_refused(
    hosted: Hosted, text: str
) -> None:
    message = dots()
    message.description = text
    assert "description" in str(await refusal(hosted.organiser.create(message)))
