"""``python -m vidscore_server [SETTINGS.toml]``: serve, without the command line's flags."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from vidscore_evaluators.errors import VidscoreError
from vidscore_server.application import run
from vidscore_server.settings import load_settings


def main() -> int:
    """Serve until a signal ends it; 2 where the settings are wrong."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    try:
        run(load_settings(file, os.environ))
    except VidscoreError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
