"""Appending, breaking, killing, restarting, resending, sealing and scoring, against a model.

The server is killed as by a power cut: the next server gets only what the store's files hold at a
moment between two commits, and everything that the old one does later is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.campaigns.settings import CRASHES
from tests.server.domain.hosted import BENCHMARK, Hosted, append, hosting, refusal
from tests.server.domain.sky import batch, batch_report, truth
from tests.server.scene import report_bytes
from tests.support.waiting import until

from vidscore_protos.v1 import submission_service_pb2 as pb

Result = TypeVar("Result")

FRAME_COUNT = 20
STREAMS = ("default", "second")
ELSEWHERE = 10_000
"""Number of a frame that belongs to no sequence with truth."""

streams = st.sampled_from(STREAMS)
sizes = st.integers(1, 3)


@dataclass
class ModelStream:
    """The expected content of a stream."""

    epoch: int = 0
    batches: list[list[int]] = field(default_factory=list)
    on_its_way: list[int] = field(default_factory=list)

    @property
    def offset(self) -> int:
        return sum(map(len, self.batches))


@dataclass
class ModelSubmission:
    """The expected content of a submission."""

    number: int
    streams: dict[str, ModelStream] = field(
        default_factory=lambda: {name: ModelStream() for name in STREAMS}
    )

    @property
    def name(self) -> str:
        return f"s{self.number}"

    @property
    def frames(self) -> list[int]:
        held = self.streams.values()
        return [index for stream in held for entry in stream.batches for index in entry]

    @property
    def taken(self) -> list[int]:
        on_their_way = [index for stream in self.streams.values() for index in stream.on_its_way]
        return self.frames + on_their_way

    def free(self, size: int) -> list[int]:
        """Frames that were not sent yet; leaving some out mixes the sequences of the streams."""
        taken = set(self.taken)
        rest = [index for index in range(FRAME_COUNT) if index not in taken]
        return rest[::2][:size]


async def _awaited(call: Awaitable[Result]) -> Result:
    return await call


class Submitting(RuleBasedStateMachine):
    """Two streams of one submission after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folders = tempfile.TemporaryDirectory()
        self.lives = 0
        self.scored: list[ModelSubmission] = []
        self.model = ModelSubmission(0)
        self.server = contextlib.AsyncExitStack()
        self.hosted: Hosted

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(work)

    # --- the server's lives ------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        return Path(self.folders.name, str(self.lives))

    async def start(self) -> None:
        self.hosted = await self.server.enter_async_context(hosting(self.folder))

    @initialize()
    def first_life(self) -> None:
        async def prepare() -> None:
            self.folder.mkdir()
            await self.start()
            await self.hosted.organiser.create_benchmark(public=[])
            await self.hosted.organiser.upload(truth(FRAME_COUNT))
            await self.create()

        self.run(prepare())

    async def create(self) -> None:
        request = pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id=self.model.name)
        caller = self.hosted.organiser
        await caller.submissions.CreateSubmission(request, metadata=caller.metadata)
        for name, stream in self.model.streams.items():
            await caller.open(f"{BENCHMARK}/submissions/{self.model.name}", name)
            stream.epoch = 1

    @rule(killed=st.booleans())
    def restart(self, killed: bool) -> None:
        self.run(self.die() if killed else self.stop_and_start())

    async def stop_and_start(self) -> None:
        await self.server.aclose()
        await self.start()

    async def die(self) -> None:
        """Continue with the content of the files between two commits."""
        hosting_site = self.hosted.hosting
        assert hosting_site is not None
        source, target = self.folder, Path(self.folders.name, str(self.lives + 1))
        await hosting_site.context.write(lambda _: shutil.copytree(source, target))
        await self.server.aclose()
        self.lives += 1
        await self.start()

    # --- what a writer does ------------------------------------------------------------------

    def full_name(self, stream: str) -> str:
        return f"{BENCHMARK}/submissions/{self.model.name}/streams/{stream}"

    def request(self, stream: str, offset: int, indices: list[int], epoch: int) -> pb.AppendRequest:
        return append(self.full_name(stream), offset, batch(indices), epoch)

    async def send(self, *requests: pb.AppendRequest, unary: bool) -> list[int]:
        caller = self.hosted.organiser
        if not unary:
            return await caller.stream(requests)
        return [
            await caller.append(entry.stream, entry.offset, entry.detections, entry.epoch)
            for entry in requests
        ]

    @rule(stream=streams)
    def open(self, stream: str) -> None:
        model = self.model.streams[stream]
        submission = f"{BENCHMARK}/submissions/{self.model.name}"
        opened = self.run(self.hosted.organiser.open(submission, stream))
        model.epoch += 1
        assert opened.epoch == model.epoch
        assert opened.next_offset in self.possible_offsets(model)

    @rule(stream=streams, size=sizes, pieces=st.integers(1, 3), unary=st.booleans())
    def append(self, stream: str, size: int, pieces: int, unary: bool) -> None:
        """Appends what was in flight first: a writer continues where it has stopped."""
        model = self.model.streams[stream]
        requests, expected = [], []
        for _ in range(pieces):
            indices = model.on_its_way or self.model.free(size)
            if not indices:
                break
            requests.append(self.request(stream, model.offset, indices, model.epoch))
            model.batches.append(indices)
            model.on_its_way = []
            expected.append(model.offset)
        assert self.run(self.send(*requests, unary=unary)) == expected

    @rule(stream=streams, size=sizes, then_kill=st.booleans(), waits=st.integers(0, 3))
    def break_off(self, stream: str, size: int, then_kill: bool, waits: int) -> None:
        """The connection, or the server with it, ends before the acknowledgement is read."""
        model = self.model.streams[stream]
        indices = model.on_its_way or self.model.free(size)
        if not indices:
            return
        request = self.request(stream, model.offset, indices, model.epoch)
        model.on_its_way = indices

        async def give_up() -> None:
            caller = self.hosted.organiser
            call = caller.submissions.AppendFrames(metadata=caller.metadata)
            await call.write(request)
            for _ in range(waits):
                await asyncio.sleep(0.001)
            if then_kill:
                await self.die()
            call.cancel()

        self.run(give_up())

    def holds_frames(self) -> bool:
        return bool(self.model.frames)

    @precondition(holds_frames)
    @rule(data=st.data(), unary=st.booleans())
    def send_again(self, data: st.DataObject, unary: bool) -> None:
        """A stored batch is acknowledged again, with the stream's end."""
        name, model = self.draw_stream_with_frames(data)
        row = data.draw(st.integers(0, len(model.batches) - 1))
        offset = sum(map(len, model.batches[:row]))
        request = self.request(name, offset, model.batches[row], model.epoch)
        [answer] = self.run(self.send(request, unary=unary))
        assert answer in self.possible_offsets(model)

    def draw_stream_with_frames(self, data: st.DataObject) -> tuple[str, ModelStream]:
        holding = [name for name, model in self.model.streams.items() if model.batches]
        name = data.draw(st.sampled_from(holding))
        return name, self.model.streams[name]

    @precondition(holds_frames)
    @rule(data=st.data())
    def send_what_is_refused(self, data: st.DataObject) -> None:
        name, model = self.draw_stream_with_frames(data)
        if model.on_its_way:
            return  # The end of the stream is unknown, so it is also unknown what is refused.
        end, first = model.offset, model.batches[0]
        mistakes = {
            "CONTENT_DIFFERS": (0, [ELSEWHERE + index for index in first], model.epoch),
            "OFFSET_GAP": (end + 1, [ELSEWHERE], model.epoch),
            "OFFSET_STRADDLES": (end - 1, [ELSEWHERE, ELSEWHERE + 1], model.epoch),
            "FRAME_EXISTS": (end, [ELSEWHERE, *first], model.epoch),
            "EPOCH_STALE": (end, [ELSEWHERE], model.epoch - 1),
        }
        for reason, (offset, indices, epoch) in mistakes.items():
            request = self.request(name, offset, indices, epoch)
            refused = self.run(refusal(self.send(request, unary=True)))
            assert refused.reason == reason
            assert refused.metadata.get("next_offset", str(end)) == str(end)

    # --- the end of a submission -------------------------------------------------------------

    @precondition(holds_frames)
    @rule(killed_while_scoring=st.booleans())
    def seal_and_score(self, killed_while_scoring: bool) -> None:
        """Data without an acknowledgement is resent first; then every frame counts once."""
        for name, model in self.model.streams.items():
            if model.on_its_way:
                self.append(name, 1, 1, unary=True)
        self.run(self.seal(killed_while_scoring=killed_while_scoring))
        self.scored.append(self.model)
        self.model = ModelSubmission(self.model.number + 1)
        self.run(self.create())

    async def seal(self, *, killed_while_scoring: bool) -> None:
        name, frames = self.model.name, self.model.frames
        if killed_while_scoring:
            self.hosted.workers.gate.clear()
        await self.hosted.organiser.seal(name, len(frames))
        if killed_while_scoring:
            await until(lambda: bool(self.hosted.workers.jobs))
            await self.die()
        ended = await self.hosted.organiser.ended(name)
        assert ended.submission.state == pb.SUBMISSION_STATE_SCORED

    def may_hold_frames(self) -> bool:
        return bool(self.model.taken)

    @precondition(lambda self: not self.may_hold_frames())
    @rule()
    def seal_without_frames(self) -> None:
        refused = self.run(refusal(self.hosted.organiser.seal(self.model.name)))
        assert refused.reason == "NO_FRAMES"

    @precondition(lambda self: not self.may_hold_frames())
    @rule()
    def begin_anew(self) -> None:
        """A draft may be created again; the epochs of its streams continue."""
        caller = self.hosted.organiser
        request = pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id=self.model.name)
        self.run(_awaited(caller.submissions.CreateSubmission(request, metadata=caller.metadata)))

    # --- what always holds -------------------------------------------------------------------

    @staticmethod
    def possible_offsets(model: ModelStream) -> set[int]:
        return {model.offset, model.offset + len(model.on_its_way)}

    @invariant()
    def what_is_acknowledged_is_there_and_each_frame_once(self) -> None:
        found = self.run(self.hosted.organiser.get(self.model.name))
        offsets = {entry.stream: entry.next_offset for entry in found.streams}
        epochs = {entry.stream: entry.epoch for entry in found.streams}
        for name, model in self.model.streams.items():
            assert epochs.get(name, 0) == model.epoch
            assert offsets.get(name, 0) in self.possible_offsets(model)
        assert found.frame_count == sum(offsets.values())

    @invariant()
    def what_has_frames_is_listed_and_nothing_else(self) -> None:
        # In this order: data in flight may be stored between the two calls.
        frame_count = self.run(self.hosted.organiser.get(self.model.name)).frame_count
        listed = self.run(self.hosted.organiser.listed())
        expected = {model.name for model in self.scored}
        assert set(listed) - {self.model.name} == expected
        if frame_count or not self.may_hold_frames():
            assert (self.model.name in listed) == bool(frame_count)

    @invariant()
    def every_report_is_that_of_the_batch(self) -> None:
        for model in self.scored:
            [score] = self.run(self.hosted.organiser.scores(model.name))
            assert report_bytes(score.report) == batch_report(FRAME_COUNT, model.frames)

    def teardown(self) -> None:
        """Every life that went well so far ends with a score."""
        if sys.exc_info()[0] is None and self.model.frames:
            self.seal_and_score(killed_while_scoring=False)
            self.every_report_is_that_of_the_batch()
        self.run(self.server.aclose())
        self.runner.close()
        self.folders.cleanup()


QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.nightly
def test_whatever_happens_nothing_acknowledged_is_lost_and_nothing_counts_twice() -> None:
    shape = settings(QUIET, max_examples=6, stateful_step_count=20)
    run_state_machine_as_test(Submitting, settings=shape)


@pytest.mark.campaign
def test_the_same_holds_in_long_lives() -> None:
    shape = settings(QUIET, max_examples=max(10, CRASHES // 2), stateful_step_count=40)
    run_state_machine_as_test(Submitting, settings=shape)
