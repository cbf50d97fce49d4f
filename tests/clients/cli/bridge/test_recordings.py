"""`vidscore bridge` from recordings: bags of ROS 2 in MCAP and SQLite, and other MCAP files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from mcap.writer import CompressionType, IndexType, Writer
from rosbags.rosbag2 import StoragePlugin
from tests.clients.cli.bridge.recorded import DETECTIONS, NOISE, write_bag
from tests.clients.cli.bridge.test_bridge import FRAMES, bridge, deepstream, environment
from tests.clients.cli.helpers import well
from tests.clients.cli.test_pipe_hosted import Environment, frame_count
from tests.support.waiting import eventually

from vidscore_cli.bridge.recordings import RecordingSource, recorded_files
from vidscore_cli.bridge.sources import Message
from vidscore_cli.session import ExitCode
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds import schema_of_name

__all__ = ["environment"]

VISION = schema_of_name("vision-msgs")
KINDS = (StoragePlugin.MCAP, StoragePlugin.SQLITE3)


def read(
    path: Path,
    topics: Sequence[str] = (),
    offset: int | list[int] | None = None,
    schema: str = "vision-msgs",
) -> list[Message]:
    source = RecordingSource(path, topics, schema_of_name(schema).message_types)
    source.open(offset)
    messages: list[Message] = []
    while (found := source.read(0.0)) is not None:
        messages += found
    source.close()
    return messages


def numbers(found: Sequence[Message]) -> list[int]:
    """For each message, the position after it."""
    return [message.offset[0] for message in found if isinstance(message.offset, list)]


def write_mcap(path: Path, numbers: Sequence[int], compression: CompressionType) -> None:
    """JSON of one topic, without a summary, as from a recorder that was interrupted."""
    with path.open("wb") as stream:
        writer = Writer(
            stream,
            chunk_size=256,
            compression=compression,
            index_types=IndexType.NONE,
            repeat_channels=False,
            repeat_schemas=False,
            use_statistics=False,
            use_summary_offsets=False,
        )
        writer.start()
        schema = writer.register_schema("nv.Frame", "jsonschema", b"{}")
        channel = writer.register_channel("/nv", "json", schema)
        for number in numbers:
            data = json.dumps(deepstream(number)).encode()
            writer.add_message(channel, number, data, number)
        writer.finish()  # type: ignore[no-untyped-call] # its own


# --- the source ------------------------------------------------------------------------------


@pytest.mark.parametrize("plugin", KINDS)
def test_a_bag_gives_the_frames_that_were_recorded(tmp_path: Path, plugin: StoragePlugin) -> None:
    write_bag(tmp_path / "bag", plugin, range(3))
    found = read(tmp_path / "bag")
    assert [
        (message.topic, number) for message, number in zip(found, numbers(found), strict=True)
    ] == [
        (DETECTIONS, 1),
        (DETECTIONS, 2),
        (DETECTIONS, 3),
    ]
    [frame] = VISION.read(found[2].data)
    assert (frame.sensor, frame.number, frame.time_s) == ("cam", None, 1000.2)
    assert frame.objects == [
        {"label": "car", "box": [2.25, 0.0, 12.25, 10.0], "confidence": 0.52, "track": 7}
    ]


@pytest.mark.parametrize("plugin", KINDS)
def test_a_bag_continues_after_its_durable_frames(tmp_path: Path, plugin: StoragePlugin) -> None:
    write_bag(tmp_path / "bag", plugin, range(5))
    assert numbers(read(tmp_path / "bag", offset=3)) == [4, 5]


def test_another_bag_in_place_of_the_earlier_one_is_refused(tmp_path: Path) -> None:
    write_bag(tmp_path / "bag", StoragePlugin.MCAP, range(3))
    offset = read(tmp_path / "bag")[1].offset
    assert isinstance(offset, list)
    assert numbers(read(tmp_path / "bag", offset=offset)) == [3]
    write_bag(tmp_path / "other", StoragePlugin.MCAP, range(7, 12))
    with pytest.raises(
        InputError, match="another first message, expected the source that begins with the 2"
    ):
        read(tmp_path / "other", offset=offset)


def test_a_bag_shorter_than_its_stored_position_is_refused(tmp_path: Path) -> None:
    write_bag(tmp_path / "bag", StoragePlugin.MCAP, range(5))
    assert read(tmp_path / "bag", offset=5) == []
    with pytest.raises(InputError, match="found 5 messages, expected at least the 6 read before"):
        read(tmp_path / "bag", offset=6)


def test_the_files_of_a_split_bag_follow_each_other(tmp_path: Path) -> None:
    """bag_2 comes before bag_10; offsets continue through all files."""
    whole = tmp_path / "bag"
    whole.mkdir()
    for part in (10, 2):
        write_bag(tmp_path / str(part), StoragePlugin.MCAP, [part])
        [file] = recorded_files(tmp_path / str(part))
        shutil.copy(file, whole / f"bag_{part}.mcap")
    found = read(whole)
    assert [VISION.read(message.data)[0].time_s for message in found] == [1000.2, 1001.0]
    assert numbers(found) == [1, 2]


@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4])
def test_a_recording_without_a_summary_is_read_to_its_end(
    tmp_path: Path, compression: CompressionType
) -> None:
    path = tmp_path / "drive.mcap"
    write_mcap(path, range(20), compression)
    found = read(path, ["/nv"], schema="nvidia-json")
    assert [json.loads(message.data)["id"] for message in found] == list(map(str, range(20)))


def test_a_topic_with_other_messages_is_refused(tmp_path: Path) -> None:
    write_bag(tmp_path / "bag", StoragePlugin.MCAP, range(1))
    with pytest.raises(InputError, match=r"topic: found /log, of std_msgs/msg/String, expected vi"):
        read(tmp_path / "bag", [NOISE])


def test_a_recording_without_the_topic_lists_the_topics_it_has(tmp_path: Path) -> None:
    write_bag(tmp_path / "bag", StoragePlugin.SQLITE3, range(1))
    listed = r"/detections \(vision_msgs/msg/Detection2DArray\), /log \(std_msgs/msg/String\)"
    with pytest.raises(InputError, match=f"no message of /other.*it has {listed}"):
        read(tmp_path / "bag", ["/other"])


@pytest.mark.parametrize("kept", [0, 7, 40, 400, -1])
def test_a_truncated_recording_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "drive.mcap"
    write_mcap(path, range(20), CompressionType.ZSTD)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match=r"drive\.mcap.*mcap recover"):
        read(path, ["/nv"], schema="nvidia-json")


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bag.db3").write_bytes(b"no database at all")
    with pytest.raises(InputError, match="an incomplete recording"):
        read(tmp_path / "bag.db3")


# --- to the server ---------------------------------------------------------------------------


def test_a_bag_is_submitted_by_topic_and_stamp(environment: Environment, tmp_path: Path) -> None:
    write_bag(tmp_path / "bag", StoragePlugin.MCAP, range(FRAMES))
    [file] = recorded_files(tmp_path / "bag")
    options = ("--schema", "vision-msgs", "--topic", DETECTIONS, "--submission", "bag")
    frames = ("--sequence", f"{DETECTIONS}=street", "--rate-hz", "10", "--start-s", "1000")
    well(bridge(environment, str(file), *options, *frames))
    eventually(lambda: frame_count(environment, "bag") == (FRAMES, "scored"))


def test_an_empty_folder_is_a_usage_error(environment: Environment, tmp_path: Path) -> None:
    result = bridge(environment, str(tmp_path), "--schema", "vision-msgs")
    assert result.exit_code == ExitCode.USAGE
    assert "expected a folder with files .mcap or .db3" in result.stderr
