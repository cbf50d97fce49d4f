"""Pages that refuse input, or that show something only once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.browser.exhibits import GOOD, Exhibits

Step = Callable[[Any, Exhibits], None]


def press(page: Any, words: str) -> None:
    page.get_by_role("button", name=words, exact=True).click()


def _create_refused(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/new"))
    form = page.locator("form[action='/organise/new'][method=post]")
    form.get_by_label("Name", exact=True).fill("Not A Name")
    form.get_by_label("Evaluators or presets").fill("nonsense, f1")
    press(page, "Create benchmark")
    page.get_by_role("alert").first.wait_for()


def _toml_refused(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/new"))
    page.locator("#toml_id").fill("fine")
    page.get_by_label("Text").fill("title = [1\nvery_long_" + 30 * "word_" + " = 1")
    press(page, "Create from the file")
    page.get_by_role("alert").first.wait_for()


def _truth_refused(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/benchmarks/empty/truth"))
    wrong = {"name": "truth.csv", "mimeType": "text/csv", "buffer": b"sequence,frame,x1\na,b,c\n"}
    page.locator("#file").set_input_files(wrong)
    press(page, "Look at it")
    page.get_by_role("alert").first.wait_for()


def _policy_refused(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/benchmarks/streets/policy"))
    page.locator("#submissions_per_day").fill("many")
    page.locator("main form button.do").first.click()
    page.get_by_role("alert").first.wait_for()


def _policy_preview(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/benchmarks/streets/policy"))
    page.locator("#visibility").select_option("live")
    page.locator("main form button.do").first.click()
    page.get_by_role("button", name="Save this policy").wait_for()


def _disqualification_refused(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/benchmarks/open/submissions/first/disqualify"))
    page.get_by_label("Reason").fill(2000 * "x")
    page.locator("main form button.do").click()
    page.get_by_role("alert").first.wait_for()


def _token_refused(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/tokens"))
    page.get_by_label("Team").fill("No Team")
    press(page, "Make a token")
    page.get_by_role("alert").first.wait_for()


def _token_made(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/tokens"))
    page.get_by_label("Role").select_option("viewer")
    press(page, "Make a token")
    page.get_by_label("Secret of the new token").wait_for()


def _invitations_made(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/invitations"))
    page.locator("#teams").fill("teal, plum")
    press(page, "Make the links")
    page.get_by_label("Links of the invitations").wait_for()


def _trust_refused(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/benchmarks/open/trust"))
    page.get_by_label("Draws of sequences").fill("many")
    press(page, "Examine the ranking")
    page.get_by_role("alert").first.wait_for()


def _audit_filtered(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/organise/audit?resource=benchmarks/nowhere"))


def _token_unknown(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/sign-in"))
    page.get_by_label("Token").fill("vidscore_nothing")
    press(page, "Sign in")
    page.get_by_role("alert").wait_for()


def _nothing_there(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/benchmarks/open/nowhere"))
    page.get_by_text("There is no such page.").wait_for()


def _name_taken(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/benchmarks/open/submit"))
    file = {"name": "late.csv", "mimeType": "text/csv", "buffer": GOOD.encode()}
    page.get_by_label("Detections").set_input_files(file)
    press(page, "Check the file")
    page.wait_for_url("**/uploads/*")
    page.locator("#name").fill("first")
    press(page, "Submit")
    page.locator("[role=alert]").first.wait_for()


def _wrong_board(page: Any, exhibits: Exhibits) -> None:
    page.goto(exhibits.url("/benchmarks/open/board?evaluator=nonsense"))
    page.get_by_role("alert").wait_for()


STATES: Mapping[str, tuple[str, Step]] = {
    "create refused": ("organiser", _create_refused),
    "toml refused": ("organiser", _toml_refused),
    "truth refused": ("organiser", _truth_refused),
    "policy refused": ("organiser", _policy_refused),
    "policy preview": ("organiser", _policy_preview),
    "disqualification refused": ("organiser", _disqualification_refused),
    "token refused": ("organiser", _token_refused),
    "token made": ("organiser", _token_made),
    "invitations made": ("organiser", _invitations_made),
    "trust refused": ("organiser", _trust_refused),
    "audit without a line": ("organiser", _audit_filtered),
    "wrong board": ("participant", _wrong_board),
    "name taken": ("participant", _name_taken),
    "token unknown": ("nobody", _token_unknown),
    "nothing there": ("nobody", _nothing_there),
}
"""For each state of a page, its role and the step that leads to it."""
