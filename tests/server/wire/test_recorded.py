"""The recorded calls of a release, sent again: the server answers as that release did."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from tests.conformance.comparing import DeviationError
from tests.server.domain.hosted import hosting
from tests.server.wire.exchange import Exchange, exchange, hold, methods, places, read, substituted
from tests.server.wire.script import WIRE
from tests.support.tree import ROOT

from vidscore_client import __version__

VERSIONS = sorted(folder for folder in WIRE.iterdir() if folder.is_dir())
BASELINE = ROOT / "protos/vidscore/baseline.binpb"


VERSION_PLACE = re.compile(
    r"\.(server\.version|serverVersion|software\.vidscore|(oldest|newest)ClientVersion)"
)
"""Places where a server states its version; each release states its own."""


def _recordings(folder: Path) -> list[Exchange]:
    return [_of_any_version(read(file)) for file in sorted(folder.glob("*.json"))]


def _of_any_version(recorded: Exchange) -> Exchange:
    told = (place for place, _ in places(recorded.held_responses) if VERSION_PLACE.search(place))
    return replace(recorded, chosen=[*recorded.chosen, *told])


@pytest.mark.slow
@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
async def test_the_server_answers_as_the_release_answered(folder: Path, tmp_path: Path) -> None:
    chosen: dict[str, str] = {}
    async with hosting(tmp_path) as hosted:
        for recorded in _recordings(folder):
            requests = [substituted(bytes.fromhex(sent), chosen) for sent in recorded.requests]
            found = await exchange(
                hosted,
                recorded.method,
                recorded.caller,
                requests,
                last_only=recorded.last_only,
            )
            # Where the server sends a name for the first time, its place in the answer is known.
            chosen = hold(found, recorded) | chosen


def test_every_rpc_of_the_last_release_is_recorded() -> None:
    files = descriptor_pb2.FileDescriptorSet.FromString(BASELINE.read_bytes()).file
    released = {
        f"/{file.package}.{service.name}/{rpc.name}"
        for file in files
        for service in file.service
        for rpc in service.method
    }
    recorded = {entry.method for folder in VERSIONS for entry in _recordings(folder)}
    served = {name for name in methods() if not name.startswith("/google.")}
    assert sorted((released & served) - recorded) == []


def test_a_recorded_request_is_valid_for_its_rpc() -> None:
    """Each was made with the protos of its release, and has fields, unless the message has none."""
    empty = {entry.method.rpartition("/")[2] for entry in _empty_requests()}
    assert empty <= {"GetServer"}


def test_a_different_answer_is_noticed() -> None:
    recorded = Exchange("/a/b", "", [], [{"a": "1", "b": [{"c": 0.5}]}], "OK", "")
    for wrong in ([{"a": "2", "b": [{"c": 0.5}]}], [{"a": "1", "b": []}], []):
        with pytest.raises(DeviationError):
            hold(Exchange("/a/b", "", [], wrong, "OK", ""), recorded)
    with pytest.raises(DeviationError):
        hold(Exchange("/a/b", "", [], recorded.responses, "ABORTED", ""), recorded)


def test_a_value_that_the_server_chooses_replaces_the_recorded_one() -> None:
    recorded = Exchange("/a/b", "", [], [{"name": "tokens/one"}], "OK", "", ["[0].name"])
    found = Exchange("/a/b", "", [], [{"name": "tokens/two", "new": 1}], "OK", "")
    chosen = hold(found, recorded)
    assert chosen == {"tokens/one": "tokens/two"}
    assert substituted(b"\x0a\x0atokens/one", chosen) == b"\x0a\x0atokens/two"


def test_recordings_of_earlier_releases_never_change() -> None:
    """A release is in progress until the next one is recorded."""
    for earlier, later in pairwise(sorted(VERSIONS, key=_numbers)):
        begun = _git("log", "--format=%H", "--reverse", "--diff-filter=A", "--", later)[:1]
        since = [f"{commit}..HEAD" for commit in begun]
        if since:
            assert _git("log", "--format=", "--name-only", *since, "--", earlier) == []
        assert _git("diff", "--name-only", "HEAD", "--", earlier) == []


def _numbers(folder: Path) -> list[int]:
    return [int(number) for number in folder.name.split(".")]


def _git(*arguments: str | Path) -> list[str]:
    """Lines that git prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_the_release_in_progress_is_recorded() -> None:
    assert WIRE / __version__ in VERSIONS


def _empty_requests() -> list[Exchange]:
    recordings = [entry for folder in VERSIONS for entry in _recordings(folder)]
    return [entry for entry in recordings if not any(entry.requests)]
