"""Run the campaigns that take too long for the gate, and keep their results on a page.

    python -m tools.nightly [--resume] [--effort TIMES] [CAMPAIGN]...

Each campaign is a target of the Makefile at a long setting. Its row of docs/nightly.md is replaced,
so that campaigns can be run separately. Its output is kept in build/nightly/. Campaigns of the
robustness record use the seed after their last one, and add to docs/robustness.json.
--resume continues a run that was stopped, without the campaigns that it has done. For a short run,
--effort sets the time of the campaigns of `make robustness`, as a multiple of their time in the
gate.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tools import campaign_record
from tools.docs_pages import ROOT
from tools.refresh_docs import with_fresh_tables

PAGE = ROOT / "docs/nightly.md"
SUMS = ROOT / "docs/robustness.md"
"""The page with the sums of the robustness record."""
LOGS = ROOT / "build/nightly"
DONE = LOGS / "done.json"
"""The campaigns that the last run has done, by name, for `--resume`."""
ROW = re.compile(r"^\| `make ([a-z-]+)(?: CAMPAIGN=(\w+))?[^|]*\|")
SUMMARY = re.compile(
    r"^=+ (.*\b(?:passed|failed|error)\b.*?) in [\d.]+s.*=+$|^(\w+ (?:pass|fail|skip)\b.*)$"
)


@dataclass(frozen=True)
class Campaign:
    """A long check.

    Attributes:
        target: Its target in the Makefile.
        tries: What it tries, for the page.
        settings: Variables of make that select its long setting.
        recorded: Its name in the robustness record; empty: it is not recorded.
    """

    target: str
    tries: str
    settings: Mapping[str, str] = field(default_factory=dict)
    recorded: str = ""

    @classmethod
    def of_robustness(cls, module: str, effort: int) -> Campaign:
        """A campaign of tests/campaigns."""
        name = module.replace("_", " ")
        settings = {"CAMPAIGN": module, "EFFORT": str(effort)}
        return cls("robustness", campaign_record.CAMPAIGNS[name].tries, settings, name)

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.settings.get("CAMPAIGN", self.target)

    def of_tonight(self, effort: int | None) -> Campaign:
        """The same campaign with its next seed, if it is recorded.

        Args:
            effort: Replaces its `EFFORT`, if it has one.
        """
        settings = dict(self.settings)
        if effort is not None and "EFFORT" in settings:
            settings["EFFORT"] = str(effort)
        if self.recorded:
            settings["SEED"] = str(campaign_record.next_seed(self.recorded))
        return replace(self, settings=settings)

    @property
    def command(self) -> str:
        """The command that runs it."""
        return " ".join(["make", self.target, *(f"{k}={v}" for k, v in self.settings.items())])


EVERY = {"EVERY": "1"}
"""Includes the parts of a campaign that the gate leaves out."""

CAMPAIGNS = (
    Campaign("test-nightly", "properties with ten times the examples, and the longer varieties"),
    Campaign("test-lowest", "the suite on the oldest supported release of each dependency"),
    Campaign("test-loops", "all evaluators, with guard pages and undefined behaviour trapped"),
    Campaign("test-trust", "the figures of the trust paper", {"REALISATIONS": "5"}),
    Campaign("clients", "unit tests of the client of each language"),
    Campaign("test-release", "all wheels built twice, and installed into an empty environment"),
    Campaign("packages", "each way to install, and the steps of the image", EVERY),
    Campaign("test-browser", "each page in Chromium, for each role and at each width", EVERY),
    Campaign("conformance", "every client and its programs on pages against one contract", EVERY),
    Campaign("conformance-defaults", "silent connections by default settings"),
    Campaign("sanitize-clients", "C++ and Go under sanitizers"),
    Campaign("crash-test", "a server killed while clients stream", {"CRASHES": "500"}, "kills"),
    Campaign("chaos-test", "the SDK through a network that breaks", {"CHAOS_LIVES": "200"}),
    Campaign.of_robustness("crash_images", 50),
    Campaign.of_robustness("disk", 20),
    Campaign.of_robustness("fuzzing", 30),
    Campaign.of_robustness("histories", 50),
    Campaign.of_robustness("load", 180),
    Campaign.of_robustness("mutation", 10),
    Campaign.of_robustness("network", 20),
    Campaign.of_robustness("sanitized_loops", 30),
    Campaign.of_robustness("simulation", 50),
    Campaign("planted-test", "bugs that are planted for each campaign, which it has to catch"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named campaigns, or all; whether one failed."""
    names = [campaign.name for campaign in CAMPAIGNS]
    parser = argparse.ArgumentParser(prog="nightly", description="Run the long campaigns")
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=", ".join(names))
    parser.add_argument("--resume", action="store_true", help="continue the last run")
    parser.add_argument("--effort", type=int, metavar="TIMES", help="for a shorter run")
    options = parser.parse_args(arguments)
    wanted = options.campaigns or names
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"unknown campaigns {', '.join(unknown)}; there are {', '.join(names)}")
    done = _done() if options.resume else {}
    for campaign in CAMPAIGNS:
        if campaign.name in wanted and campaign.name not in done:
            done[campaign.name] = run(campaign.of_tonight(options.effort))
            DONE.parent.mkdir(parents=True, exist_ok=True)
            DONE.write_text(json.dumps(done), encoding="utf-8")
    return int(not all(done[name] for name in wanted))


def _done() -> dict[str, bool]:
    """The campaigns that the last run has done, and whether each passed."""
    if not DONE.is_file():
        return {}
    found: dict[str, bool] = json.loads(DONE.read_text("utf-8"))
    return found


def run(campaign: Campaign) -> bool:
    """Run a campaign and replace its row; whether it passed."""
    print(f"== {campaign.command}", flush=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{campaign.name}.log"
    began_s = time.monotonic()
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            ["make", "--no-print-directory", *campaign.command.split()[1:]],
            cwd=ROOT,
            env={
                **os.environ,
                "VIDSCORE_REQUIRE_ALL": "1",
                campaign_record.VARIABLE: str(campaign_record.RECORD),
            },
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    took_s = time.monotonic() - began_s
    result = summary(log.read_text(encoding="utf-8", errors="replace"), done.returncode)
    print(f"   {result} ({took_s:.0f} s)", flush=True)
    row = row_of(campaign, result, took_s, datetime.now(UTC), campaign_record.commit_name())
    PAGE.write_text(with_row(PAGE.read_text(encoding="utf-8"), row), encoding="utf-8")
    SUMS.write_text(with_fresh_tables(SUMS.read_text(encoding="utf-8")), encoding="utf-8")
    return done.returncode == 0


def summary(log: str, code: int) -> str:
    """The result of a campaign as its output states it; a failure is always marked."""
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
    added = ROW.match(row)
    assert added is not None
    rows = {m.groups(): number for number, line in enumerate(lines) if (m := ROW.match(line))}
    if added.groups() in rows:
        lines[rows[added.groups()]] = row
    else:
        last = max(rows.values(), default=_head_of_table(lines))
        lines.insert(last + 1, row)
    return "\n".join(lines) + "\n"


def _head_of_table(lines: Sequence[str]) -> int:
    return next(number for number, line in enumerate(lines) if line.startswith("| ---"))


if __name__ == "__main__":
    sys.exit(main())
