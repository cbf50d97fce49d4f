"""Every page of the site: a sample address of each, and who sees it."""

from __future__ import annotations

from dataclasses import dataclass

ALL = frozenset({"nobody", "viewer", "participant", "another team", "organiser"})
SIGNED_IN = ALL - {"nobody"}
TEAMS = SIGNED_IN - {"viewer"}
RED = frozenset({"participant", "organiser"})
OWN_FILE = frozenset({"participant"})
ORGANISER = frozenset({"organiser"})


@dataclass(frozen=True)
class Sample:
    """A page.

    Attributes:
        route: Its route.
        address: An address of it; words in braces stand for names of `Exhibits`.
        seen_by: Roles that see it; others are refused or do not find it.
        is_part: Whether a script requests it as a part of another page.
    """

    route: str
    address: str
    seen_by: frozenset[str]
    is_part: bool = False

    @property
    def is_file(self) -> bool:
        """Whether it is a file to download, and not a page."""
        return self.address.partition("?")[0].endswith((".csv", ".json", ".toml", "-backup"))


_B = "/benchmarks/{benchmark}"
_S = f"{_B}/submissions/{{submission}}"
_O = f"/organise{_B}"

SAMPLES = (
    Sample("/sign-in", "/sign-in", ALL),
    # The board of `open` is public in browsers; that of `streets` is for people with tokens.
    Sample("/benchmarks", "/benchmarks", ALL),
    Sample(_B, "/benchmarks/open", ALL),
    Sample(_B, "/benchmarks/streets", SIGNED_IN),
    Sample(_B, "/benchmarks/empty", SIGNED_IN),
    Sample(_B, "/benchmarks/private", SIGNED_IN),
    Sample(f"{_B}/benchmark.toml", "/benchmarks/streets/benchmark.toml", ORGANISER),
    Sample(f"{_B}/board", "/benchmarks/open/board", ALL),
    Sample(f"{_B}/board", "/benchmarks/streets/board", SIGNED_IN),
    Sample(f"{_B}/board", "/benchmarks/empty/board", SIGNED_IN),
    Sample(f"{_B}/board", "/benchmarks/reviewed/board", SIGNED_IN),
    Sample(f"{_B}/board", "/benchmarks/private/board", SIGNED_IN),
    Sample(f"{_B}/board.csv", "/benchmarks/open/board.csv", ALL),
    Sample(f"{_B}/board.csv", "/benchmarks/streets/board.csv", SIGNED_IN),
    Sample(f"{_B}/board.json", "/benchmarks/streets/board.json", SIGNED_IN),
    Sample(f"{_B}/submissions", "/benchmarks/open/submissions", TEAMS),
    Sample(f"{_B}/submissions", "/benchmarks/empty/submissions", TEAMS),
    Sample(_S, "/benchmarks/open/submissions/first", RED),
    Sample(_S, "/benchmarks/streets/submissions/first", RED),
    Sample(_S, "/benchmarks/streets/submissions/draft", RED),
    Sample(_S, "/benchmarks/waiting/submissions/first", RED),
    Sample(_S, "/benchmarks/late/submissions/first", RED),
    Sample(_S, "/benchmarks/private/submissions/first", RED),
    Sample(f"{_S}/live", "/benchmarks/streets/submissions/draft/live", RED, is_part=True),
    Sample(f"{_S}/reports.json", "/benchmarks/open/submissions/first/reports.json", RED),
    Sample(f"{_S}/detections.csv", "/benchmarks/open/submissions/first/detections.csv", RED),
    # The participant agrees to what outcomes cost.
    Sample(f"{_S}/outcomes.csv", "/benchmarks/open/submissions/first/outcomes.csv?{accept}", RED),
    Sample(f"{_S}/outcomes.csv", "/benchmarks/streets/submissions/first/outcomes.csv", ORGANISER),
    Sample(f"{_S}/outcomes", "/benchmarks/open/submissions/first/outcomes?{accept}", RED),
    Sample(f"{_S}/frames", "/benchmarks/open/submissions/first/frames?{accept}", RED),
    Sample(f"{_B}/submit", "/benchmarks/open/submit", TEAMS),
    Sample(f"{_B}/uploads/{{upload}}", "/benchmarks/open/uploads/{waiting_file}", OWN_FILE),
    Sample(f"{_B}/uploads/{{upload}}", "/benchmarks/open/uploads/{wrong_file}", OWN_FILE),
    Sample("/organise", "/organise", ORGANISER),
    Sample("/organise/queue", "/organise/queue", ORGANISER, is_part=True),
    Sample("/organise/new", "/organise/new", ORGANISER),
    Sample("/organise/new", "/organise/new?evaluator=f1", ORGANISER),
    Sample(_O, "/organise/benchmarks/open", ORGANISER),
    Sample(_O, "/organise/benchmarks/late", ORGANISER),
    Sample(_O, "/organise/benchmarks/empty", ORGANISER),
    Sample(_O, "/organise/benchmarks/reviewed", ORGANISER),
    Sample(f"{_O}/truth", "/organise/benchmarks/streets/truth", ORGANISER),
    Sample(f"{_O}/truth/{{revision:int}}", "/organise/benchmarks/streets/truth/1", ORGANISER),
    Sample(
        f"{_O}/truth/uploads/{{upload}}",
        "/organise/benchmarks/empty/truth/uploads/{waiting_truth}",
        ORGANISER,
    ),
    Sample(f"{_O}/policy", "/organise/benchmarks/streets/policy", ORGANISER),
    Sample(f"{_O}/about", "/organise/benchmarks/streets/about", ORGANISER),
    Sample(f"{_O}/times", "/organise/benchmarks/streets/times", ORGANISER),
    Sample(
        f"{_O}/submissions/{{submission}}/disqualify",
        "/organise/benchmarks/open/submissions/first/disqualify",
        ORGANISER,
    ),
    Sample(
        f"{_O}/operations/{{operation}}",
        "/organise/benchmarks/open/operations/{rescoring}",
        ORGANISER,
    ),
    Sample(
        f"{_O}/operations/{{operation}}", "/organise/benchmarks/open/operations/{trust}", ORGANISER
    ),
    Sample(f"{_O}/trust", "/organise/benchmarks/open/trust", ORGANISER),
    Sample("/organise/tokens", "/organise/tokens", ORGANISER),
    Sample("/organise/invitations", "/organise/invitations", ORGANISER),
    Sample("/invitations/{secret}", "/invitations/{invitation}", ALL),
    Sample("/organise/audit", "/organise/audit", ORGANISER),
    Sample("/organise/audit.csv", "/organise/audit.csv", ORGANISER),
    Sample("/organise/backup", "/organise/backup", ORGANISER),
    Sample(
        "/organise/backup/site.vidscore-backup", "/organise/backup/site.vidscore-backup", ORGANISER
    ),
    Sample(
        "/organise/backup/benchmarks/{benchmark}.vidscore-backup",
        "/organise/backup/benchmarks/open.vidscore-backup",
        ORGANISER,
    ),
)
