"""A board over one class or domain: which exist, and the errors for unknown ones."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, dots, refusal
from tests.server.domain.test_disqualification import disqualify
from tests.server.domain.test_private_sequences import LIVE, closing, found
from tests.server.scene import HERE, parameter, points

from vidscore_protos.v1 import annotations_pb2, organiser_pb2


def _labelled(label: str) -> annotations_pb2.AnnotationBatch:
    batch = points({1: HERE, 2: HERE})
    batch.labels.append(label)
    return batch


async def _host(
    organiser: Client, visibility: str = "VISIBILITY_FINAL", labels: Sequence[str] = ()
) -> None:
    """Cars, scored per class."""
    message = dots(visibility=visibility)
    if labels:
        message.specification.classes.names.extend(labels)
    message.specification.ClearField("evaluators")
    entry = message.specification.evaluators.add(name="f1")
    entry.parameters.append(parameter("base", "euclidean"))
    request = organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=message)
    await organiser.benchmarks.CreateBenchmark(request, metadata=organiser.metadata)
    await organiser.upload(_labelled("car"))


async def _host_with_a_bus(hosted: Hosted) -> None:
    """Of the truth alone: its third frame has a bus, which the benchmark does not name either.

    The red team has found the cars.
    """
    await _host(hosted.organiser)
    bus = points({3: HERE})
    bus.labels.append("bus")
    await hosted.organiser.upload(bus, merge=True)
    await hosted.red.submit(_labelled("car"))
    await hosted.red.ended()


@pytest.mark.parametrize("who", ["organiser", "red"])
async def test_an_unknown_class_is_refused_with_the_known_ones(hosted: Hosted, who: str) -> None:
    await _host(hosted.organiser)
    await hosted.red.submit(_labelled("car"))
    await hosted.red.ended()
    client: Client = getattr(hosted, who)
    [row] = (await client.board(label="car")).rows
    assert row.rank == 1
    found = await refusal(client.board(label="zebra"))
    assert found.code is grpc.StatusCode.INVALID_ARGUMENT
    assert found.violations == {"label": "found 'zebra', expected car"}


async def test_a_team_does_not_learn_of_classes_that_only_others_have_detected(
    hosted: Hosted,
) -> None:
    await _host(hosted.organiser)
    await hosted.red.submit(_labelled("car"))
    await hosted.red.ended()
    await hosted.blue.submit(_labelled("secret"), "two")
    await hosted.blue.ended("two")
    assert "secret" not in str(await refusal(hosted.red.board(label="zebra")))


async def test_a_team_is_not_told_of_classes_of_the_truth_that_it_has_not_detected(
    hosted: Hosted,
) -> None:
    await _host_with_a_bus(hosted)
    for client, known in ((hosted.red, "car"), (hosted.organiser, "bus or car")):
        found = await refusal(client.board(label="zebra"))
        assert found.violations == {"label": f"found 'zebra', expected {known}"}


async def test_a_board_of_a_class_has_only_submissions_that_name_it_unless_the_benchmark_does(
    hosted: Hosted,
) -> None:
    """Zero for a bus of the truth, and nothing for a zebra, would tell who asks what is in it."""
    await _host_with_a_bus(hosted)
    for name in ("zebra", "bus"):
        told = await refusal(hosted.red.board(label=name))
        assert told.violations == {"label": f"found '{name}', expected car"}
        assert list((await hosted.viewer.board(label=name)).rows) == []
    await hosted.blue.submit(_labelled("bus"), "two")
    await hosted.blue.ended("two")
    assert [row.team for row in (await hosted.viewer.board(label="bus")).rows] == ["blue"]
    assert {row.team for row in (await hosted.organiser.board(label="bus")).rows} == {"blue", "red"}


async def test_classes_of_private_sequences_alone_are_not_told_before_the_closing(
    hosted: Hosted,
) -> None:
    """Car is the label of the sequences a and b, bus that of the private c and d."""
    message = closing(hosted, visibility=LIVE)
    message.specification.ClearField("evaluators")
    message.specification.evaluators.add(name="f1", parameters=[parameter("base", "euclidean")])
    await hosted.organiser.create(message)
    truth = found("abcd")
    truth.labels.extend(["car", "bus"])
    truth.label_indices.extend([0, 0, 1, 1])
    await hosted.organiser.upload(truth)
    await hosted.red.submit(truth)
    await hosted.red.ended()
    told = await refusal(hosted.red.board(label="zebra"))
    assert told.violations == {"label": "found 'zebra', expected car"}
    hosted.clock.pass_by(hours=1)
    told = await refusal(hosted.red.board(label="zebra"))
    assert told.violations == {"label": "found 'zebra', expected bus"}


async def test_of_listed_domains_a_board_is_empty_until_something_is_scored(hosted: Hosted) -> None:
    message = dots(visibility="VISIBILITY_FINAL")
    message.specification.domains.add(name="night")
    await hosted.organiser.create(message)
    await hosted.organiser.upload(points({1: HERE, 2: HERE}))
    assert list((await hosted.red.board(domain="night")).rows) == []
    told = await refusal(hosted.red.board(domain="day"))
    assert told.violations == {"domain": "found 'day', expected night"}


async def test_an_unknown_domain_is_refused_and_a_board_without_scores_is_empty(
    hosted: Hosted,
) -> None:
    await _host(hosted.organiser)
    assert list((await hosted.red.board(domain="night")).rows) == []
    await hosted.red.submit(_labelled("car"))
    await hosted.red.ended()
    found = await refusal(hosted.red.board(domain="night"))
    assert found.violations == {
        "domain": "found 'night', expected none, because single ones have no scores"
    }


async def test_the_board_of_a_listed_class_is_empty_until_something_is_scored(
    hosted: Hosted,
) -> None:
    await _host(hosted.organiser, labels=["car", "bus"])
    assert list((await hosted.red.board(label="bus")).rows) == []
    found = await refusal(hosted.red.board(label="zebra"))
    assert found.violations == {"label": "found 'zebra', expected bus or car"}


async def test_a_disqualified_submission_appears_on_the_boards_of_its_own_classes(
    hosted: Hosted,
) -> None:
    await _host(hosted.organiser, "VISIBILITY_LIVE")
    for client, name, label in ((hosted.red, "one", "car"), (hosted.blue, "two", "tram")):
        await client.submit(_labelled(label), name)
        await client.ended(name)
        await disqualify(hosted, f"{BENCHMARK}/submissions/{name}", f"{name} had help")
    told = {
        label: [row.disqualification for row in (await hosted.organiser.board(label=label)).rows]
        for label in ("car", "tram")
    }
    assert told == {"car": ["one had help", "two had help"], "tram": ["two had help"]}


async def test_only_organisers_see_boards_of_a_class_under_the_ladder(hosted: Hosted) -> None:
    await _host(hosted.organiser, "VISIBILITY_LADDER")
    await hosted.red.submit(_labelled("car"))
    await hosted.red.ended()
    found = await refusal(hosted.red.board(label="car"))
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NOT_RELEASED")
    assert [row.team for row in (await hosted.organiser.board(label="car")).rows] == ["red"]
