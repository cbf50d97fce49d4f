"""The record of the robustness campaigns: what they tried, how often, and what they found.

A campaign calls `record` once per seed. The result is added to docs/robustness.json only if the
environment asks for it, as `make nightly` does, so that a run of the gate does not change the
repository. docs/robustness.md shows the sums.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from re import fullmatch
from types import MappingProxyType
from typing import Any

from tools.docs_pages import ROOT, table

RECORD = ROOT / "docs/robustness.json"
VARIABLE = "CAMPAIGN_RECORD"
"""Environment variable with the path of the record; without it, nothing is recorded."""

Counts = Mapping[str, int]
Figures = Mapping[str, str | int]


@dataclass(frozen=True)
class Campaign:
    """A campaign of the record.

    Attributes:
        tries: What it tries, for the page.
        command: The command that repeats a run, with the seed as `{seed}`.
        faults: A regular expression for the kinds that are faults of servers, power, disks and
            networks. The other kinds are the campaign's own actions, or faults in a simulation.
    """

    tries: str
    command: str
    faults: str = ""

    @classmethod
    def of(cls, module: str, tries: str, faults: str = "") -> Campaign:
        """The campaign of a module of tests/campaigns, by its name without `test_`."""
        return cls(tries, f"make robustness CAMPAIGN={module} SEED={{seed}}", faults)


CAMPAIGNS: Mapping[str, Campaign] = {
    "crash images": Campaign.of(
        "crash_images", "every state of the store's files that a power cut could leave", ".*"
    ),
    "disk": Campaign.of("disk", "a disk that is full, fails, writes short or loses its file", ".*"),
    "fuzzing": Campaign.of("fuzzing", "changed inputs of every reader, of files and messages"),
    "histories": Campaign.of("histories", "several writers of one stream against a model"),
    "load": Campaign.of("load", "many streams at once, slow watchers and a large upload"),
    "kills": Campaign(
        "servers killed while clients stream and an organiser works",
        "make crash-test SEED={seed}",
        "SIGKILLs .*|blackholes .*|failovers .*|immediate stops .*",
    ),
    "mutation": Campaign.of("mutation", "small changes of rules, each of which a test must notice"),
    "network": Campaign.of(
        "network",
        "the clients of six languages through a network and a server that break",
        "SIGKILLs .*|connections .* broken",
    ),
    "sanitized loops": Campaign.of(
        "sanitized_loops", "loops under AddressSanitizer, by tests and changed inputs"
    ),
    "simulation": Campaign.of(
        "simulation", "worlds of servers, teams and organisers over a simulated store and clock"
    ),
}
"""The campaigns of the record by name."""

KILL = "SIGKILLs of (a|the) server"
"""A regular expression for the kinds that count kills of a serving process."""


def record(
    campaign: str,
    seed: int,
    faults: Counts,
    findings: Sequence[str],
    seconds: float,
    figures: Figures = MappingProxyType({}),
) -> None:
    """Add the result of a campaign's run, if the environment names a file for it.

    Args:
        campaign: A name of `CAMPAIGNS`.
        seed: The seed that repeats the run.
        faults: The number of faults or executions by kind.
        findings: What was wrong, one line each; empty if the run passed.
        seconds: Duration of the run.
        figures: Its measurements by name; only those of the last run are kept.

    Raises:
        KeyError: If there is no such campaign.
    """
    known = CAMPAIGNS[campaign]
    told = ", ".join(f"{count:,} {kind}" for kind, count in sorted(faults.items()))
    print(f"\n{campaign}, seed {seed}: {told}; {len(findings)} findings; {seconds:.0f} s")
    for finding in findings:
        print(f"  found: {finding}; repeated by `{known.command.format(seed=seed)}`")
    if not (name := os.environ.get(VARIABLE)):
        return
    path = Path(name)
    with _locked(path):
        kept = _read(path)
        kept[campaign] = {
            **_added(kept.get(campaign), seed, faults, findings, seconds),
            **({"figures": dict(figures)} if figures else {}),
        }
        beside = path.with_name(path.name + ".new")
        beside.write_text(_text(kept), encoding="utf-8")
        beside.replace(path)


def next_seed(campaign: str, path: Path = RECORD) -> int:
    """The seed after the greatest one that a campaign has run."""
    entry = _read(path).get(campaign)
    return 0 if entry is None else int(entry["last_seed"]) + 1


def campaigns_table(path: Path = RECORD) -> str:
    """What every campaign has tried and found, as a table for docs/robustness.md."""
    kept = _read(path)
    rows = []
    for name, campaign in CAMPAIGNS.items():
        if (entry := kept.get(name)) is None:
            continue
        faults = "<br>".join(f"{count:,} {kind}" for kind, count in entry["faults"].items())
        rows.append(
            [
                f"{name}: {campaign.tries}",
                faults,
                f"{entry['runs']:,}",
                f"{entry['seconds'] / 60:,.0f} min",
                str(len(entry["findings"])),
                f"`{campaign.command.format(seed=entry['last_seed'])}`",
                f"{entry['last']}, {entry['commit']}",
            ]
        )
    head = ("campaign", "tried", "runs", "time", "findings", "the last run again", "when, commit")
    return table(head, rows)


def figures_table(path: Path = RECORD) -> str:
    """What the last run of each campaign measured, as a table for docs/robustness.md."""
    rows = [
        [campaign, name, str(value)]
        for campaign, entry in _read(path).items()
        for name, value in entry.get("figures", {}).items()
    ]
    return table(("campaign", "figure", "last run"), rows)


def sum_of_faults(path: Path = RECORD) -> str:
    """The number of faults in all campaigns, as a sentence for docs/robustness.md."""
    faults, kills, days = 0, 0, [""]
    for name, entry in _read(path).items():
        tried = entry["faults"].items()
        found = sum(count for kind, count in tried if fullmatch(CAMPAIGNS[name].faults, kind))
        faults += found
        kills += sum(count for kind, count in tried if fullmatch(KILL, kind))
        days += [entry["last"]] if found else []
    return (
        f"Until {max(days)} these were {faults:,} faults of servers, power, disks and networks, "
        f"{kills:,} of them\nSIGKILLs of a serving process."
    )


def _added(
    before: Mapping[str, Any] | None,
    seed: int,
    faults: Counts,
    findings: Sequence[str],
    seconds: float,
) -> dict[str, Any]:
    """An entry of the record with one more run."""
    known: Mapping[str, Any] = before or {}
    counts: dict[str, int] = dict(known.get("faults", {}))
    for kind, count in faults.items():
        counts[kind] = counts.get(kind, 0) + count
    now, commit = f"{datetime.now(UTC):%Y-%m-%d}", commit_name()
    found = [{"seed": seed, "when": now, "commit": commit, "what": text} for text in findings]
    return {
        "runs": known.get("runs", 0) + 1,
        "seconds": round(known.get("seconds", 0.0) + seconds, 1),
        "last_seed": max(seed, known.get("last_seed", seed)),
        "last": now,
        "commit": commit,
        "faults": dict(sorted(counts.items())),
        "findings": [*known.get("findings", []), *found],
    }


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _text(kept: Mapping[str, Any]) -> str:
    return json.dumps(kept, indent=2, sort_keys=True) + "\n"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock that other processes need to add to the record."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def commit_name() -> str:
    """The commit that is checked out, in eight digits."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
