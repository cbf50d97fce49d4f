"""Inputs of a target: a few files in one byte string, which a fuzzer can keep and mutate.

The first line is JSON: the length of each file by its name. The files follow in that order. An
input that is not a file, such as a message, has the single name `LONE`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

Tree = Mapping[str, bytes]
"""Content by relative path."""

LONE = ""
"""Name of an input that is not a file."""

LONGEST_NAME = 200


def packed(files: Tree) -> bytes:
    """Files as one byte string."""
    head = json.dumps({name: len(content) for name, content in files.items()})
    return b"".join([head.encode(), b"\n", *files.values()])


def unpacked(data: bytes) -> dict[str, bytes] | None:
    """Inverse of `packed`; None for other bytes."""
    head, _, body = data.partition(b"\n")
    try:
        lengths = json.loads(head)
        files, start = {}, 0
        for name, length in lengths.items():
            if type(length) is not int or length < 0:
                return None
            files[name] = body[start : start + length]
            start += length
    except (ValueError, AttributeError):
        return None
    return files if start == len(body) else None


def saved(files: Tree, folder: Path) -> bool:
    """Replace the files of a folder; returns whether all names can be file names."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for name, content in files.items():
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or len(name) > LONGEST_NAME:
            return False
        try:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except (OSError, ValueError):  # A folder has that name, or it cannot be a file name.
            return False
    return True
