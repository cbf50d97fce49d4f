"""Measure the size of each installation, and write it to docs/install.md.

    python -m tools.install_sizes

Each is installed into an empty folder, in the versions of requirements.lock, and compiled to
bytecode as by pip. Everything in the folder counts, including vidscore itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import bootstrap
from tools.docs_pages import ROOT, table
from tools.studies import fill_page

PAGE = ROOT / "docs/install.md"
BLOCK = "installs"
BYTES_PER_MB = 1_000_000
INSTALLS: Mapping[str, str] = {
    "vidscore-client": "the Python client",
    "vidscore": "the library, and the commands that score, submit and stream",
    "vidscore[server]": "the server that hosts benchmarks",
    "vidscore[server,web]": "the server with its site; `vidscore view`",
    "vidscore[server,postgresql]": "several servers over one database",
    "vidscore[video]": "reading and drawing of videos",
    "vidscore[web]": "`vidscore view`",
    "vidscore[plot]": "curves by matplotlib",
    "vidscore[dataframes]": "tables of polars and Arrow, if these are there",
    "vidscore[parquet]": "truth and detections as Parquet and Arrow, outcomes as Parquet",
    "vidscore[s3]": "data at addresses such as `s3://bucket/runs`",
    "vidscore[mqtt]": "a bridge from MQTT",
    "vidscore[nats]": "a bridge from NATS JetStream",
    "vidscore[kafka]": "a bridge from Kafka",
    "vidscore[mcap]": "recordings in MCAP, and bags of ROS 2",
    "vidscore[dask]": "scoring on a Dask cluster",
}
"""What each requirement brings, by requirement."""


@dataclass(frozen=True)
class Size:
    """Size of an installation.

    Attributes:
        distributions: Number of distributions.
        megabytes: Their total size.
    """

    distributions: int
    megabytes: float


def main() -> None:
    """Measure all installs and write them to the page."""
    with tempfile.TemporaryDirectory() as name:
        wheels = build_wheels(Path(name, "wheels"))
        sizes = {}
        for number, requirement in enumerate(INSTALLS):
            sizes[requirement] = installed_size(requirement, wheels, Path(name, str(number)))
            print(requirement, sizes[requirement], flush=True)
    fill_page(PAGE, {BLOCK: size_table(sizes)})


def build_wheels(folder: Path) -> Path:
    """Build both distributions with the tools of this environment; returns the wheels' folder."""
    for project in (ROOT, ROOT / "clients/python"):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=project, check=True, capture_output=True)
    return folder


def installed_size(requirement: str, wheels: Path, folder: Path) -> Size:
    """Install a requirement into an empty folder and measure it.

    Args:
        requirement: What to install.
        wheels: Folder of our own wheels.
        folder: Where to install; it must not exist.
    """
    versions = ["--constraint", str(bootstrap.LOCK), "--find-links", str(wheels)]
    # Our wheels change without a new version, so cached ones must not be used.
    ours = ["--reinstall-package", "vidscore", "--reinstall-package", "vidscore-client"]
    whole = ["--target", str(folder), "--no-build", "--compile-bytecode"]
    subprocess.run(
        [bootstrap.UV, "pip", "install", "--quiet", *versions, *ours, *whole, requirement],
        check=True,
        env=bootstrap.SYSTEM_CERTIFICATES | os.environ,
    )
    return size_of(folder)


def size_of(folder: Path) -> Size:
    """Measure what is installed in a folder."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return Size(len(list(folder.glob("*.dist-info"))), sum(sizes) / BYTES_PER_MB)


def size_table(sizes: Mapping[str, Size]) -> str:
    """The table of the page."""
    rows: list[Sequence[str]] = [
        (
            f"`pip install {requirement if '[' not in requirement else repr(requirement)}`",
            INSTALLS[requirement],
            str(size.distributions),
            f"{size.megabytes:.0f}",
        )
        for requirement, size in sizes.items()
    ]
    return table(("command", "brings", "distributions", "MB"), rows)


if __name__ == "__main__":
    main()
