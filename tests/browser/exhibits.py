"""A competition with content on each page, including refused and failed work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.competition import PLANTED, SEQUENCES, Competition, frames_of

from vidscore_client.hosting import RankingQuestions

ROLES = {
    "nobody": "",
    "viewer": "viewer",
    "participant": "red",
    "another team": "blue",
    "organiser": "organiser",
}
"""The token with which each role signs in."""

_WAIT_S = 300.0

PRIVATE = "private"
"""A benchmark whose teams choose the submissions of the final order."""

GOOD = "sequence,frame,x1,y1,x2,y2,class,confidence\n" + "".join(
    f"{name},{frame},139,250,321,428,Car,0.5\n" for name in SEQUENCES for frame in range(4)
)
"""A valid file."""

WRONG = GOOD.replace("139,", "far,", 1).replace("0.5\n", "high\n", 3)
"""The same with faults in its first lines."""


TRUTH = "sequence,frame,x1,y1,x2,y2,class\n" + "".join(
    f"{name},{frame},139,250,321,428,Car\n" for name in SEQUENCES for frame in range(4)
)
"""Ground truth that waits to be confirmed."""


@dataclass(frozen=True)
class Exhibits:
    """The content of the pages.

    Attributes:
        site: The competition.
        names: Values for the words in braces of addresses: operations, waiting files, the secret of
            an
            invitation.
        sessions: Cookies of the browser of each role, to continue with.
    """

    site: Competition
    names: dict[str, str]
    sessions: dict[str, Any]

    def url(self, address: str) -> str:
        """The address of a sample."""
        return self.site.site + address.format(**self.names)


def sign_in(page: Any, site: Competition, name: str) -> None:
    """Sign a page's browser in.

    Args:
        page: A page of a browser of its own.
        site: The competition.
        name: Whose token.
    """
    page.goto(f"{site.site}/sign-in")
    page.get_by_label("Token").fill(site.tokens[name])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/benchmarks")


def exhibit(site: Competition, chromium: Any) -> Exhibits:
    """Create the content of the pages.

    Args:
        site: The competition.
        chromium: The browser, for work that begins in one.
    """
    with site.client("organiser") as client:
        _more_benchmarks(site)
        late = client.submissions.wait("late/first", timeout_s=_WAIT_S)
        assert late.state == "failed"
        site.submit("blue", "open", "worse", skipped=3)
        client.submissions.disqualify("open/worse", "it was made by hand")
        [invitation] = client.invitations.create(["green"], comment="the greens")
        rescoring = client.benchmarks.rescore("open", comment="once more")
        rescoring.wait(timeout_s=_WAIT_S)
        questions = RankingQuestions(draws=20, trials=2, noise_px=1.0, seed=1)
        trust = client.trust.examine_ranking("open", questions=questions)
        trust.wait(timeout_s=_WAIT_S)
        # Other numbers in a second revision, which is reviewed before the board is updated.
        moved = frames_of(PLANTED, skipped=1)
        client.benchmarks.upload_truth("reviewed", [moved], complete=True)
    names = {
        "rescoring": rescoring.name.rpartition("/")[2],
        "trust": trust.name.rpartition("/")[2],
        "invitation": invitation.secret,
    }
    sessions = {}
    for role, owner in ROLES.items():
        context = chromium.new_context()
        page = context.new_page()
        if owner:
            sign_in(page, site, owner)
        if role == "participant":  # A waiting file belongs to its session alone, like an agreement.
            names["accept"] = _agree(site, page)
            names["waiting_file"] = _upload(site, page, "good.csv", GOOD)
            names["wrong_file"] = _upload(site, page, "wrong.csv", WRONG)
        if role == "organiser":
            names["waiting_truth"] = _upload_truth(site, page)
        sessions[role] = context.storage_state()
        context.close()
    return Exhibits(site, names, sessions)


def _more_benchmarks(site: Competition) -> None:
    definition = {"evaluators": [{"name": "f1"}], "detection_geometry": "box"}
    with site.client("organiser") as client:
        client.benchmarks.create("empty", definition)
        client.benchmarks.create("late", definition | {"policy": {"truth_timeout_s": 1}})
    site.host("reviewed", visibility="final", rescore="review")
    site.submit("red", "reviewed", "first", skipped=1)
    site.host(PRIVATE, visibility="final", private_sequences=["north"], final_submissions=1)
    site.submit("red", PRIVATE, "first", skipped=1)
    with (
        site.client("red") as client,
        client.submit("late", "first", title="too early") as stream,
    ):
        stream.send_batch(frames_of(PLANTED, shift=1.5))
        stream.seal()


def _agree(site: Competition, page: Any) -> str:
    """Agree to the cost of outcomes; returns its part of addresses."""
    page.goto(f"{site.site}/benchmarks/open/submissions/first/frames")
    page.get_by_role("button", name="Show their outcomes").click()
    page.wait_for_url("**/frames?*")
    return str(page.url).partition("?")[2]


def _upload(site: Competition, page: Any, name: str, text: str) -> str:
    """Upload a file that waits on the server; returns its name in addresses."""
    path = Path(site.folder) / name
    path.write_text(text, "utf-8")
    page.goto(f"{site.site}/benchmarks/open/submit")
    page.get_by_label("Detections").set_input_files(path)
    page.get_by_role("button", name="Check the file").click()
    page.wait_for_url("**/uploads/*")
    page.locator("[aria-busy]").wait_for(state="detached")
    return str(page.url).rpartition("/")[2]


def _upload_truth(site: Competition, page: Any) -> str:
    """Upload truth that waits for confirmation; returns its name in addresses."""
    file = {"name": "truth.csv", "mimeType": "text/csv", "buffer": TRUTH.encode()}
    page.goto(f"{site.site}/organise/benchmarks/empty/truth")
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Look at it", exact=True).click()
    page.wait_for_url("**/uploads/*")
    return str(page.url).partition("?")[0].rpartition("/")[2]
