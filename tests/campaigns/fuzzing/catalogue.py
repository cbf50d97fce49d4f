"""All targets by name, the module each is in, and the code whose coverage is measured."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from tests.campaigns.fuzzing.targets import Target

_FORMATS = (
    *("coco-json", "spotgeo-json", "pascal-voc", "dota", "visdrone-det", "visdrone-mot", "mots"),
    *("motchallenge", "neovision2-csv", "kitti-tracking", "yolo-text", "generic-csv", "jsonl"),
    *("parquet", "arrow", "label-images", "archives", "any-format"),
)
_FEEDS = (
    *("nvidia-json", "nvidia-protobuf", "vision-msgs", "vision-msgs-json", "dlstreamer"),
    *("onvif", "frigate", "supervision-csv"),
)
"""Schemas of feeds, besides JSON lines."""

MODULES: Mapping[str, str] = {
    **dict.fromkeys(_FORMATS, "readers"),
    "append-batch": "batches",
    **dict.fromkeys(("definition", "http-body"), "bodies"),
    **dict.fromkeys(("masks", "pipe-lines"), "masks"),
    **dict.fromkeys(("tally", "tally-file", "backup", "manifest"), "kept"),
    **dict.fromkeys(_FEEDS, "feeds"),
}
"""The module of this folder that each target is in."""

CODE = (
    *("vidscore_evaluators.formats", "vidscore_evaluators.feeds", "vidscore_evaluators.validation"),
    *("vidscore_evaluators.masks", "vidscore_evaluators.mask_forms"),
    *("vidscore_evaluators.specification", "vidscore_evaluators.convert"),
    *("vidscore_evaluators.tally", "vidscore_evaluators.tally_bytes", "vidscore_evaluators.shards"),
    *("vidscore_server.api.batches", "vidscore_server.api.mask_columns"),
    *("vidscore_server.api.joined_batches", "vidscore_server.api.convert"),
    "vidscore_server.api.definitions",
    *("vidscore_server.api.http.protojson", "vidscore_server.domain.definition"),
    *("vidscore_server.domain.backups", "vidscore_server.store.backup_file"),
)
"""Modules and packages whose branch coverage guides the fuzzer."""


def target_of(name: str) -> Target:
    """The target of a name."""
    module = import_module(f"tests.campaigns.fuzzing.{MODULES[name]}")
    found: dict[str, Target] = {target.name: target for target in module.TARGETS}
    return found[name]
