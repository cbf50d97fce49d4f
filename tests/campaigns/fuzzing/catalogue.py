"""Every target by its name, and where it is; those of one process need not import the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from tests.campaigns.fuzzing.targets import Target


@dataclass(frozen=True)
class Entry:
    """Where a target is.

    Attributes:
        module: Its module in this folder.
        code: Modules and packages whose branches are looked at.
    """

    module: str
    code: tuple[str, ...]


_READERS = (
    *("coco-json", "spotgeo-json", "pascal-voc", "dota", "visdrone-det", "visdrone-mot", "mots"),
    *("motchallenge", "neovision2-csv", "kitti-tracking", "yolo-text", "generic-csv", "jsonl"),
    *("parquet", "arrow", "label-images", "archives", "any-format"),
)
"""All formats, whose modules must not be imported before they are looked at, and more."""

_MASKS = ("vidscore_evaluators.masks", "vidscore_evaluators.mask_forms")
_SPECIFICATIONS = ("vidscore_evaluators.specification", "vidscore_evaluators.convert")
_TALLIES = ("vidscore_evaluators.tally", "vidscore_evaluators.tally_bytes")
_FEEDS = (
    *("nvidia-json", "nvidia-protobuf", "vision-msgs", "vision-msgs-json", "dlstreamer"),
    *("onvif", "frigate", "supervision-csv"),
)
"""Schemas of feeds, beside lines of JSON."""

_BATCHES = ("batches", "mask_columns", "joined_batches")

ENTRIES: Mapping[str, Entry] = {
    **{name: Entry("readers", ("vidscore_evaluators.formats", *_MASKS)) for name in _READERS},
    "append-batch": Entry(
        "batches",
        ("vidscore_evaluators.validation", *(f"vidscore_server.api.{name}" for name in _BATCHES)),
    ),
    "definition": Entry(
        "bodies",
        (
            *_SPECIFICATIONS,
            "vidscore_server.api.convert",
            "vidscore_server.api.definitions",
            "vidscore_server.api.live_messages",
            "vidscore_server.domain.definition",
        ),
    ),
    "http-body": Entry("bodies", ("vidscore_server.api.http.protojson",)),
    "masks": Entry("masks", _MASKS),
    "pipe-lines": Entry("masks", ("vidscore_evaluators.formats",)),
    "tally": Entry("kept", _TALLIES),
    "tally-file": Entry("kept", (*_TALLIES, "vidscore_evaluators.shards")),
    "backup": Entry(
        "kept", ("vidscore_server.store.backup_file", "vidscore_server.domain.backups")
    ),
    "manifest": Entry("kept", ("vidscore_evaluators.formats.manifest", *_SPECIFICATIONS)),
    **{name: Entry("feeds", ("vidscore_evaluators.feeds",)) for name in _FEEDS},
}
"""Every target."""


def target_of(name: str) -> Target:
    """The target of that name."""
    module = import_module(f"tests.campaigns.fuzzing.{ENTRIES[name].module}")
    found: dict[str, Target] = {target.name: target for target in module.TARGETS}
    return found[name]
