"""Live scores are Prometheus gauges if an operator asks for them and the policy shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client import generate_latest
from tests.server.domain.hosted import BENCHMARK, Hosted, dots, hosting
from tests.server.domain.test_live import HIT, LIVE, NAME, NUMBERS
from tests.server.scene import points

from vidscore_protos.v1 import benchmark_pb2


def gauges(hosted: Hosted) -> list[str]:
    text = generate_latest(hosted.server._metrics._registry).decode()
    return [line for line in text.splitlines() if line.startswith("vidscore_live_score{")]


@pytest.mark.parametrize("wanted", [True, False])
async def test_live_scores_are_gauges_if_requested_and_shown(tmp_path: Path, wanted: bool) -> None:
    async with hosting(tmp_path, metrics_live_scores=wanted) as hosted:
        await hosted.organiser.create_benchmark(visibility=LIVE, minimum_frames=5)
        await hosted.organiser.upload(points(dict.fromkeys(NUMBERS, HIT)))
        stream = await hosted.red.submission()
        await hosted.red.append(stream, 0, points(dict.fromkeys(NUMBERS, HIT)))
        assert gauges(hosted) == []
        await hosted.hosting.live.newest(NAME)
        labels = 'benchmark="dots",evaluator="spotgeo",measure="{}",submission="one"'
        expected = [
            f"vidscore_live_score{{{labels.format(name)}}} {value}"
            for name, value in (("f1", 1.0), ("mse", 0.0))
        ]
        assert gauges(hosted) == (expected if wanted else [])
        if wanted:
            hidden = dots(visibility=benchmark_pb2.VISIBILITY_FINAL)
            hidden.name = BENCHMARK
            await hosted.organiser.update(hidden, "policy")
            assert gauges(hosted) == []
