"""What a program is told of a clock, with a scripted program and clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from vidscore_cli.lines import BadLineError, FrameInput
from vidscore_cli.live_exchange import Exchange, OutputClosedError, ProgramError
from vidscore_cli.program import Program
from vidscore_client import Frames, LiveFrame, StoredAnswer
from vidscore_evaluators.annotations import BOX, POINT
from vidscore_evaluators.formats.json_lines import LineReader


class Scripted:
    """A program that records what it is told, and writes what the test says."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self._writes: asyncio.Queue[bytes] = asyncio.Queue()

    def tell(self, line: Mapping[str, object]) -> None:
        self.told.append(line)

    async def read(self) -> bytes:
        return await self._writes.get()

    def write(self, *frames: int, objects: Sequence[object] = ()) -> None:
        for frame in frames:
            line = {"sequence": "a", "frame": frame, "objects": objects}
            self._writes.put_nowait(json.dumps(line).encode() + b"\n")

    def close(self) -> None:
        self._writes.put_nowait(b"")


class Scene:
    """A clock of three frames of a second each that a program answers."""

    def __init__(self, *, in_flight: int = 1, skip: bool = False, arity: int = POINT) -> None:
        self.answered: list[int] = []
        self.sent: list[Frames] = []
        self._arity = arity
        self.program = Scripted()
        self.exchange = Exchange(
            FrameInput(skip, LineReader(arity=arity)),
            3,
            in_flight=in_flight,
            silence_timeout_s=0.01,
            progress=False,
        )
        self.exchange.begin(cast(Program, self.program))
        self.reading = asyncio.ensure_future(self.exchange.read_answers())

    def frame(self, position: int, remaining_s: float = 60.0) -> LiveFrame:
        return LiveFrame(
            position,
            "",
            "a",
            position,
            float(position),
            remaining_s,
            repeated=False,
            _answer=self._note,
            _arity=self._arity,
        )

    def _note(self, answer: Frames) -> None:
        self.answered.extend(answer.frame_numbers.tolist())
        self.sent.append(answer)


def line(frame: int) -> dict[str, object]:
    return {"sequence": "a", "frame": frame, "time_s": float(frame)}


async def test_a_program_gets_the_next_frame_once_it_has_answered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scene = Scene()
    telling = asyncio.ensure_future(scene.exchange.on_frame(scene.frame(0)))
    await asyncio.sleep(0)
    assert not telling.done()
    scene.program.write(0)
    await telling
    assert scene.answered == [0]
    assert scene.program.told == [line(0)]
    assert not capsys.readouterr().err


async def test_masks_of_an_answer_are_sent() -> None:
    """Two images of 2 x 3 pixels; the objects have the first column, and the last pixel."""
    scene = Scene(arity=BOX)
    telling = asyncio.ensure_future(scene.exchange.on_frame(scene.frame(0)))
    await asyncio.sleep(0)
    masks = [{"size": [2, 3], "counts": counts} for counts in ([0, 2, 4], [5, 1])]
    scene.program.write(0, objects=[{"mask": mask, "label": "car"} for mask in masks])
    await telling
    found = scene.sent[0].masks
    assert found is not None
    assert (found.sizes.tolist(), found.runs.tolist()) == ([[2, 3], [2, 3]], [0, 2, 4, 5, 1])


async def test_further_numbers_of_an_answer_are_sent() -> None:
    scene = Scene(arity=BOX)
    telling = asyncio.ensure_future(scene.exchange.on_frame(scene.frame(0)))
    await asyncio.sleep(0)
    areas = [{"box": [0, 0, 2, 3], "numbers": {"area": area}} for area in (5.5, 4)]
    scene.program.write(0, objects=areas)
    await telling
    columns = {name: values.tolist() for name, values in scene.sent[0].columns.items()}
    assert columns == {"area": [5.5, 4.0]}


async def test_an_unanswered_frame_that_passes_is_reported_and_long_silence_ends_the_run() -> None:
    scene = Scene()
    with pytest.raises(ProgramError, match=r"has not answered frame 1 of sequence a for 0.01 s"):
        await scene.exchange.on_frame(scene.frame(1, remaining_s=0.0))
    assert scene.program.told == [line(1), {"time_s": 1.0}]


async def test_the_number_of_frames_in_flight_is_limited_and_none_follows_the_last() -> None:
    scene = Scene(in_flight=2)
    await scene.exchange.on_frame(scene.frame(0))
    second = asyncio.ensure_future(scene.exchange.on_frame(scene.frame(1)))
    await asyncio.sleep(0)
    assert not second.done()
    scene.program.write(1)
    await second
    third = asyncio.ensure_future(scene.exchange.on_frame(scene.frame(2)))
    scene.program.write(2)
    await asyncio.sleep(0)
    assert not third.done()
    scene.program.write(0)
    await third
    assert scene.answered == [1, 2, 0]


async def test_a_repeated_frame_is_passed_on_once() -> None:
    scene = Scene(in_flight=2)
    await scene.exchange.on_frame(scene.frame(0))
    await scene.exchange.on_frame(scene.frame(0))
    assert scene.program.told == [line(0)]


@pytest.mark.parametrize("skip", [False, True])
async def test_a_second_answer_ends_the_run_or_is_left_out(skip: bool) -> None:
    scene = Scene(skip=skip)
    telling = asyncio.ensure_future(scene.exchange.on_frame(scene.frame(0)))
    await asyncio.sleep(0)
    scene.program.write(0, 0, 0)
    scene.program.close()
    if skip:
        await scene.reading
        assert scene.exchange.lines.skipped == 2
    else:
        with pytest.raises(BadLineError, match=r"line 2: frame: found frame 0 of sequence a again"):
            await scene.reading
    await telling
    assert scene.answered == [0]


@pytest.mark.parametrize("last", [1, 2])
async def test_a_program_may_exit_after_the_last_frame_of_the_clock(last: int) -> None:
    scene = Scene()

    async def clock() -> str:
        for position in range(last + 1):
            scene.program.write(position)
            await scene.exchange.on_frame(scene.frame(position))
        scene.program.close()
        await asyncio.wait({scene.reading})
        await asyncio.sleep(0)
        scene.exchange.on_stored(StoredAnswer(last, in_time=True, latency_s=0.1))
        return "the end"

    waiting = scene.exchange.while_answered(scene.reading, clock())  # type: ignore[arg-type]
    if last == 2:
        assert await waiting == "the end"  # type: ignore[comparison-overlap]
    else:
        with pytest.raises(OutputClosedError):
            await waiting
