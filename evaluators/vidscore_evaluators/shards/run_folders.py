"""Run folder: keeps the tallies of finished shards under digests of what they depend on.

A digest is of the evaluators, the installed versions, both sides of the shard and the places of its
frames in the files. Where none of these has changed, the tally is that of the last run; nothing
else is ever looked up, so that a folder may serve several scorings and be emptied at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.errors import TallyError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.shards.dealing import Shard, shards_of_frames
from vidscore_evaluators.shards.runs import Run, run_to_dict
from vidscore_evaluators.shards.tally_files import shard_from_bytes, shard_to_bytes
from vidscore_evaluators.shards.tallying import CheckedData

_SUFFIX = ".tally"


class ShardIndex(Struct, frozen=True):
    """What the shards of a scoring depend on.

    Attributes:
        run: What they have in common.
        keys: For each shard, in order, a digest of what its tally depends on.
    """

    run: Run
    keys: tuple[str, ...]


def index_of(data: CheckedData, count: int) -> ShardIndex:
    """The index of what has been read.

    Args:
        data: The data.
        count: How many shards there are.
    """
    scoring = {
        name: value
        for name, value in run_to_dict(data.run).items()
        if name in ("evaluators", "software")
    }
    common = json.dumps(scoring, sort_keys=True).encode()
    pair = data.part.pair
    places = [
        _places(source, count, data.run.cut_frames) for source in (pair.truth, pair.detections)
    ]
    keys = []
    for row, sides in enumerate(data.sides_by_shard(count)):
        digest = hashlib.blake2b(common, digest_size=20)
        for side in sides:
            digest.update(fingerprint(side).to_bytes())
        for of_side in places:
            digest.update(of_side[row])
        keys.append(digest.hexdigest())
    return ShardIndex(data.run, tuple(keys))


def _places(source: Source, count: int, cut_frames: int | None) -> list[bytes]:
    """For each shard, a digest of where its frames stand in the files of a side."""
    numbers = shards_of_frames(source.annotations, count, cut_frames)
    order = np.argsort(numbers, kind="stable")
    bounds = np.searchsorted(numbers[order], np.arange(1, count + 2))
    digests = []
    for first, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        digest = hashlib.blake2b(source.name.encode(), digest_size=20)
        if source.positions is not None:
            rows = order[first:end]
            owners = source.positions.source_of_frame[rows]
            used, places = np.unique(owners, return_inverse=True)
            digest.update("\0".join(source.positions.sources[row] for row in used).encode())
            digest.update(places.astype("<i8").tobytes())
            digest.update(source.positions.positions[rows].astype("<i8").tobytes())
        digests.append(digest.digest())
    return digests


class RunFolder:
    """A folder of finished tallies; made where it is not there.

    Args:
        path: The folder.

    Raises:
        OSError: If it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path = path

    def kept(self, index: ShardIndex) -> dict[Shard, bytes]:
        """Tally files of the shards that are kept here, as those of the run.

        Args:
            index: What the shards depend on. A file that is damaged counts as not there.
        """
        found: dict[Shard, bytes] = {}
        for shard, key in zip(Shard.all_of(len(index.keys)), index.keys, strict=True):
            try:
                tally = shard_from_bytes(self._file(key).read_bytes())
            except (OSError, TallyError):
                continue
            found[shard] = shard_to_bytes(replace(tally, run=index.run, shard=shard))
        return found

    def keep(self, key: str, tally: bytes) -> None:
        """Keep the tally file of a shard; it is there whole or not at all.

        Args:
            key: The digest of what it depends on.
            tally: The file.

        Raises:
            OSError: If it cannot be written.
        """
        neighbour = self._path / f".{key}.{secrets.token_hex(4)}.part"
        try:
            with neighbour.open("wb") as file:
                file.write(tally)
                file.flush()
                os.fsync(file.fileno())
            neighbour.replace(self._file(key))
        finally:
            neighbour.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self._path / f"{key}{_SUFFIX}"
