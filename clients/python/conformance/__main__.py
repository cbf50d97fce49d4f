"""Run one command, and print its result as the last line of standard output."""

from __future__ import annotations

import json
import sys
from typing import Any

from conformance.arguments import parse
from conformance.commands import COMMANDS
from conformance.documents import error_document
from vidscore_client import VidscoreError

REFUSED = 3
"""Exit code if the SDK raised one of its own errors."""


def main() -> int:
    """Run the command line."""
    arguments = parse()
    try:
        _print(COMMANDS[arguments.command](arguments))
    except VidscoreError as error:
        _print(error_document(error))
        return REFUSED
    return 0


def _print(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


sys.exit(main())
