"""Recordings of ROS 2 and MCAP: messages of topics, in the order in which they were recorded."""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from vidscore_cli.bridge.sources import (
    MOST_MESSAGES,
    Message,
    ends_before,
    offset_and_mark,
    replaced,
)
from vidscore_evaluators.errors import Fault, InputError, MissingExtraError
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from mcap.reader import SeekingReader

MCAP = ".mcap"
SUFFIXES = (MCAP, ".db3")
"""Suffixes of recordings: MCAP, and SQLite files of rosbag2."""

_MOST_RECORD_BYTES = 1 << 28
_DIGITS = re.compile(r"(\d+)")


class _Recorded(NamedTuple):
    """Content of a recording: the message type of each topic, and the messages of given topics."""

    types: Mapping[str, str]
    messages: Callable[[Sequence[str]], Iterator[tuple[str, bytes]]]


class RecordingSource:
    """A file of MCAP or SQLite, or a folder of such files, which is a split bag.

    Args:
        path: The file or the folder.
        topics: Topics to read; empty for those with messages of the schema's types.
        types: Message types that the schema reads; empty if it has no names for them.

    Raises:
        MissingExtraError: If a file is MCAP, and its reader is not installed.
    """

    offset_type = (list, int)  # older bridges stored an int

    def __init__(self, path: Path, topics: Sequence[str], types: Sequence[str]) -> None:
        self.gap = 0
        self._path = path
        self._topics = topics
        self._types = types
        self._messages: Iterator[Message] = iter(())
        if any(file.suffix == MCAP for file in recorded_files(path)):
            _mcap_reader()

    def open(self, offset: int | list[int] | None) -> None:
        """Begin to read after the messages that were read before.

        Raises:
            click.UsageError: If the path is not a recording.
        """
        files = recorded_files(self._path)
        if not files:
            expected = "expected a folder with files " + " or ".join(SUFFIXES)
            raise click.UsageError(f"{self._path}: found no recording, {expected}")
        begin, mark = offset_and_mark(offset)
        self._messages = islice(self._all(files, begin, mark), begin, None)

    def _all(self, files: Sequence[Path], begin: int, mark: int | None) -> Iterator[Message]:
        number = first = 0
        seen: dict[str, str] = {}
        for file in files:
            with closing(_sqlite(file) if file.suffix == ".db3" else _mcap(file)) as content:
                try:
                    recorded = next(content)
                    seen |= recorded.types
                    for topic, data in recorded.messages(self._chosen(file, recorded.types)):
                        number += 1
                        first = first if number > 1 else zlib.crc32(data)
                        if begin and mark not in {None, first}:
                            raise InputError([self._replaced(begin)])
                        yield Message(data, topic, [number, first], place=f"message {number}")
                except (InputError, GeneratorExit):
                    raise
                except Exception as error:  # noqa: BLE001 - readers of invalid bytes raise anything
                    found = f"an incomplete recording ({str(error) or type(error).__name__})"
                    advice = "`mcap recover` saves the data of a killed recorder"
                    raise InputError(
                        [Fault(found, "a complete one", source=str(file), advice=advice)]
                    ) from None
        if not number:
            raise InputError([self._nothing(seen)])
        if number < begin:
            raise InputError([ends_before(str(self._path), counted(number, "message"), begin)])

    def _chosen(self, file: Path, types: Mapping[str, str]) -> Sequence[str]:
        """The topics of a file to read.

        Raises:
            InputError: If a requested topic has messages of another type.
        """
        if not self._topics:
            return [topic for topic, type_ in types.items() if type_ in self._types]
        faults = [
            Fault(f"{topic}, of {types[topic]}", " or ".join(self._types), str(file), field="topic")
            for topic in self._topics
            if self._types and types.get(topic, self._types[0]) not in self._types
        ]
        if faults:
            raise InputError(faults)
        return [topic for topic in self._topics if topic in types]

    def _replaced(self, begin: int) -> Fault:
        return replaced(str(self._path), "another first message", counted(begin, "message"))

    def _nothing(self, types: Mapping[str, str]) -> Fault:
        asked = ", ".join(self._topics) or " or ".join(self._types)
        listed = ", ".join(f"{topic} ({type_})" for topic, type_ in sorted(types.items()))
        advice = f"it has {listed}" if listed else "it has no topic"
        found = f"no message of {asked}" if asked else "no requested topic"
        return Fault(found, "--topic NAME", source=str(self._path), field="topic", advice=advice)

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages; None at the end.

        Raises:
            InputError: If the recording is broken, or has no such topic.
        """
        del timeout_s
        return list(islice(self._messages, MOST_MESSAGES)) or None

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Do nothing: the offset is stored with the frames."""

    def close(self) -> None:
        """Close the open file."""
        self._messages = iter(())


def is_recording(path: Path) -> bool:
    """Whether a path is a folder, or has the suffix of a recording."""
    return path.suffix in SUFFIXES or path.is_dir()


def recorded_files(path: Path) -> list[Path]:
    """The files of a recording in the order of their numbers: 2 comes before 10."""
    if not path.is_dir():
        return [path]
    found = [file for file in path.iterdir() if file.suffix in SUFFIXES]
    return sorted(
        found,
        key=lambda file: [
            part.zfill(20) if part.isdecimal() else part for part in _DIGITS.split(file.name)
        ],
    )


def _mcap_reader() -> type[SeekingReader]:
    """The class that reads MCAP."""
    try:
        from mcap.reader import SeekingReader
    except ModuleNotFoundError:
        raise MissingExtraError("recordings in MCAP", "mcap", "mcap") from None
    return SeekingReader


def _mcap(file: Path) -> Generator[_Recorded, None, None]:
    with file.open("rb") as stream:
        reader = _mcap_reader()(stream, validate_crcs=True, record_size_limit=_MOST_RECORD_BYTES)
        summary = reader.get_summary()
        if summary is not None and summary.channels:
            found = [(summary.schemas.get(c.schema_id), c) for c in summary.channels.values()]
        else:  # a recorder may omit the summary; the messages have the same data
            found = [(s, c) for s, c, _ in reader.iter_messages(log_time_order=False)]
        types = {
            channel.topic: schema.name if schema else channel.message_encoding
            for schema, channel in found
        }

        def messages(topics: Sequence[str]) -> Iterator[tuple[str, bytes]]:
            if topics:
                for _, channel, message in reader.iter_messages(topics, log_time_order=False):
                    yield channel.topic, message.data

        yield _Recorded(types, messages)


def _sqlite(file: Path) -> Generator[_Recorded, None, None]:
    address = f"{file.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        types = dict(connection.execute("SELECT name, type FROM topics"))

        def messages(topics: Sequence[str]) -> Iterator[tuple[str, bytes]]:
            marks = ", ".join("?" * len(topics))
            query = (
                "SELECT topics.name, messages.data FROM messages JOIN topics "  # noqa: S608 - marks
                f"ON topics.id = messages.topic_id WHERE topics.name IN ({marks}) "
                "ORDER BY messages.id"
            )
            yield from connection.execute(query, topics)

        yield _Recorded(types, messages)
