"""Run what takes longer than the gate has time for, and keep the results on a page.

    python -m tools.nightly [CAMPAIGN]...

Each campaign is a target of the Makefile at a long setting; its row of docs/nightly.md is replaced,
so that a part of them can be run at a time. What a campaign said is kept in build/nightly/.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/nightly.md"
LOGS = ROOT / "build/nightly"
ROW = re.compile(r"^\| `make ([a-z-]+)[^|]*\|")
SUMMARY = re.compile(
    r"^=+ (.*\b(?:passed|failed|error)\b.*?) in [\d.]+s.*=+$|^(\w+ (?:pass|fail|skip)\b.*)$"
)


@dataclass(frozen=True)
class Campaign:
    """A long check.

    Attributes:
        target: Its target in the Makefile.
        tries: What it tries, for the page.
        settings: Variables of make that make it long.
    """

    target: str
    tries: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command that repeats it."""
        return " ".join(["make", self.target, *(f"{k}={v}" for k, v in self.settings.items())])


CAMPAIGNS = (
    Campaign("test-nightly", "properties with ten times the examples, and the longer varieties"),
    Campaign("test-lowest", "the suite on the oldest supported release of each dependency"),
    Campaign("test-loops", "all evaluators, with guard pages and undefined behaviour trapped"),
    Campaign("test-trust", "the figures of the trust paper", {"REALISATIONS": "5"}),
    Campaign("clients", "unit tests of the client of each language"),
    Campaign("test-release", "all wheels built twice, and installed into an empty environment"),
    Campaign("conformance-defaults", "silent connections by default settings"),
    Campaign("sanitize-clients", "C++ and Go under sanitizers"),
    Campaign("crash-test", "a server killed while clients stream", {"CRASHES": "500"}),
    Campaign("chaos-test", "the SDK through a network that breaks", {"CHAOS_LIVES": "200"}),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaigns that are named, or all; whether one failed."""
    names = [campaign.target for campaign in CAMPAIGNS]
    parser = argparse.ArgumentParser(prog="nightly", description="Run the long campaigns")
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=", ".join(names))
    wanted = parser.parse_args(arguments).campaigns or names
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"unknown campaigns {', '.join(unknown)}; there are {', '.join(names)}")
    outcomes = [run(campaign) for campaign in CAMPAIGNS if campaign.target in wanted]
    return int(not all(outcomes))


def run(campaign: Campaign) -> bool:
    """Run a campaign and replace its row; whether it passed."""
    print(f"== {campaign.command}", flush=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{campaign.target}.log"
    began_s = time.monotonic()
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            ["make", "--no-print-directory", *campaign.command.split()[1:]],
            cwd=ROOT,
            env={**os.environ, "VIDSCORE_REQUIRE_ALL": "1"},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    took_s = time.monotonic() - began_s
    result = summary(log.read_text(encoding="utf-8", errors="replace"), done.returncode)
    print(f"   {result} ({took_s:.0f} s)", flush=True)
    row = row_of(campaign, result, took_s, datetime.now(UTC), _commit())
    PAGE.write_text(with_row(PAGE.read_text(encoding="utf-8"), row), encoding="utf-8")
    return done.returncode == 0


def summary(log: str, code: int) -> str:
    """What a campaign came to, in its own words; a failure says so whatever they are."""
    found = [m[1] or m[2] for line in log.splitlines() if (m := SUMMARY.match(line.strip()))]
    text = "; ".join(dict.fromkeys(found)) or ("passed" if code == 0 else "no summary")
    return text if code == 0 else f"FAILED: {text}"


def row_of(campaign: Campaign, result: str, took_s: float, now: datetime, commit: str) -> str:
    """A row of the page."""
    cells = (
        f"`{campaign.command}`",
        campaign.tries,
        result.replace("|", "\\|"),
        f"{took_s / 60:.0f} min",
        f"{now:%Y-%m-%d}, {commit}",
    )
    return f"| {' | '.join(cells)} |"


def with_row(page: str, row: str) -> str:
    """The page with a campaign's row replaced, or added at the end of the table."""
    lines = page.splitlines()
    target = ROW.match(row)
    assert target is not None
    rows = {m[1]: number for number, line in enumerate(lines) if (m := ROW.match(line))}
    if target[1] in rows:
        lines[rows[target[1]]] = row
    else:
        last = max(rows.values(), default=_head_of_table(lines))
        lines.insert(last + 1, row)
    return "\n".join(lines) + "\n"


def _head_of_table(lines: Sequence[str]) -> int:
    return next(number for number, line in enumerate(lines) if line.startswith("| ---"))


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
