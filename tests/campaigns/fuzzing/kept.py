"""Targets that read files of vidscore itself: tallies, tally files, backups, manifests."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.campaigns.fuzzing.changing import of_bytes, of_list, of_rows
from tests.campaigns.fuzzing.documents import changed_value, of_json
from tests.campaigns.fuzzing.scenes import sample_sides
from tests.campaigns.fuzzing.targets import KEPT, Target
from tests.campaigns.fuzzing.trees import LONE, Tree, saved
from tests.evaluators.shards.scenes import read_scene, write_scene, write_tallies
from tests.support.tree import ROOT

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats.manifest import read_manifest, write_document
from vidscore_evaluators.jobs import make_job, run_job
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.shards.tally_files import shard_from_bytes, shard_to_bytes
from vidscore_evaluators.tally_bytes import tally_from_bytes, tally_to_bytes
from vidscore_server.domain.backups import understood
from vidscore_server.store.backup_file import MAGIC, check_backup, read_rows

_LENGTH = struct.Struct("<Q")
_HEAD_BYTES = 16 + 16
"""Bytes of the magic word and of the checksum before the content of a tally or tally file."""

_NESTED = b"vidscore-tally-"


# --- tallies ---------------------------------------------------------------------------------


def _sealed(magic: bytes, body: bytes) -> bytes:
    return magic + hashlib.blake2b(body, digest_size=16).digest() + body


def change_sealed(data: bytes, chance: Random) -> bytes:
    """Change the header, the columns or a tally inside, and update the checksum."""
    if len(data) < _HEAD_BYTES + _LENGTH.size or chance.random() < 0.05:
        return of_bytes(data, chance)
    magic, body = data[:16], data[_HEAD_BYTES:]
    (length,) = _LENGTH.unpack_from(body)
    header, rest = body[_LENGTH.size : _LENGTH.size + length], body[_LENGTH.size + length :]
    place = rest.find(_NESTED)
    if place >= 0 and chance.random() < 0.5:
        inner = change_sealed(rest[place:], chance)
        grown = len(inner) - len(rest) + place
        document = json.loads(header)
        document["tally_bytes"][-1] += grown
        header, rest = json.dumps(document).encode(), rest[:place] + inner
    elif rest and chance.random() < 0.3:
        rest = of_bytes(rest, chance)
    else:
        header = of_json(header, chance)
    return _sealed(magic, b"".join([_LENGTH.pack(len(header)), header, rest]))


def _tally_seeds() -> Iterator[Tree]:
    for name in ("f1", "coco", "hota", "clear"):
        for truth, detections in sample_sides():
            try:
                yield {LONE: run_job(make_job(create_evaluator(name), truth, detections))}
            except InputError:  # A scene of another shape.
                continue


def _read_tally(files: Tree, folder: Path) -> None:
    del folder
    for data in files.values():
        written = tally_to_bytes(tally_from_bytes(data))
        assert tally_to_bytes(tally_from_bytes(written)) == written


def _shard_seeds() -> Iterator[Tree]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_scene(folder)
        for path in write_tallies(folder, read_scene(folder), 2):
            yield {LONE: path.read_bytes()}


def _read_shard(files: Tree, folder: Path) -> None:
    del folder
    for data in files.values():
        written = shard_to_bytes(shard_from_bytes(data))
        assert shard_to_bytes(shard_from_bytes(written)) == written


# --- backups ---------------------------------------------------------------------------------

Entry = tuple[bytes, bytes]
"""The head of an entry, as JSON, and its binary columns."""


def change_backup(data: bytes, chance: Random) -> bytes:
    """Change an entry of a backup or the order of entries, and update the digest."""
    try:
        entries = _entries(data)
    except (ValueError, zlib.error, TypeError, AttributeError, LookupError):
        return of_bytes(data, chance)
    if not entries or chance.random() < 0.1:
        return of_bytes(data, chance)
    place = chance.randrange(len(entries))
    head, binary = entries[place]
    if chance.random() < 0.15:
        entries = of_list(entries, chance)
    elif binary and chance.random() < 0.5:
        entries[place] = (head, _change_packed(binary, chance))
    else:
        entries[place] = (json.dumps(changed_value(json.loads(head), chance)).encode(), binary)
    return _backup(entries)


def _change_packed(binary: bytes, chance: Random) -> bytes:
    """Change the compressed data, or else the bytes, but not the number that the head states."""
    try:
        changed = zlib.compress(of_json(zlib.decompress(binary), chance))
    except zlib.error:
        changed = of_bytes(binary, chance)
    return changed[: len(binary)].ljust(len(binary), b"\0")


def _entries(data: bytes) -> list[Entry]:
    """All entries but the last, which ends the file."""
    body = zlib.decompressobj().decompress(data.removeprefix(MAGIC), 1 << 22)
    found, start = [], 0
    while start + 4 <= len(body):
        end = start + 4 + int.from_bytes(body[start : start + 4], "big")
        head = body[start + 4 : end]
        start = end + sum(json.loads(head)[2].values())
        found.append((head, body[end:start]))
    return found[:-1]


def _backup(entries: list[Entry]) -> bytes:
    body = b"".join(len(head).to_bytes(4, "big") + head + binary for head, binary in entries)
    end = {"rows": len(entries) - 1, "sha256": hashlib.sha256(body).hexdigest()}
    last = json.dumps(["end", end, {}]).encode()
    return MAGIC + zlib.compress(body + len(last).to_bytes(4, "big") + last, 1)


def _backup_seeds() -> Iterator[Tree]:
    for path in sorted((ROOT / "tests/golden/stores").glob("*/site.backup")):
        yield {LONE: path.read_bytes()}


def _read_backup(files: Tree, folder: Path) -> None:
    del folder
    for data in files.values():
        file = io.BytesIO(data)
        check_backup(file)
        for table, values in understood(read_rows(file)):
            assert isinstance(table, str)
            assert isinstance(values, dict)


# --- manifests -------------------------------------------------------------------------------


def _manifest_seeds() -> Iterator[Tree]:
    for path in sorted((ROOT / "evaluators/vidscore_evaluators/presets").glob("*.toml")):
        text = path.read_text("utf-8")
        yield {"manifest.toml": text[text.index("[[evaluators]]") :].encode()}
    yield {
        "manifest.toml": b'title = "Streets"\n[[domains]]\nname = ""\nclasses = ["car", "bus"]\n'
        b'[[sequences]]\nname = "0001"\nframe_count = 3\n[[evaluators]]\nname = "f1"\n'
        b'[[sequences]]\nname = "0002"\nframes = [[1, 4], 7]\n'
    }


def _read_manifest(files: Tree, folder: Path) -> None:
    if not saved(files, folder):
        return
    for name in files:
        specification = read_manifest(folder / name)
        again = folder / "again.toml"
        written = write_document(to_dict(specification))
        again.write_text(written, encoding="utf-8")
        # Compare texts: evaluators refuse a parameter that is nan, and nan does not equal itself.
        assert write_document(to_dict(read_manifest(again))) == written


TARGETS = (
    Target("tally", KEPT, seeds=_tally_seeds, changes={"": change_sealed}, read=_read_tally),
    Target("tally-file", KEPT, seeds=_shard_seeds, changes={"": change_sealed}, read=_read_shard),
    Target("backup", KEPT, seeds=_backup_seeds, changes={"": change_backup}, read=_read_backup),
    Target("manifest", KEPT, seeds=_manifest_seeds, changes={"": of_rows}, read=_read_manifest),
)
