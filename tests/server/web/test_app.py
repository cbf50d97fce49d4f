"""The viewer over HTTP: who gets an answer, and which."""

from __future__ import annotations

import asyncio
import csv
import io
import socket
from pathlib import Path

import pytest
import uvicorn
from msgspec.structs import replace
from starlette.types import ASGIApp
from tests.server.web.asking import HOST, SECRET, Page, ask
from tests.support.sockets import sends_at_once
from tests.support.street import street

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.explanation.figures import Uncertainty
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import read, score_annotations
from vidscore_evaluators.trust.systems import Contest
from vidscore_server.web.app import viewer_app
from vidscore_server.web.rendering import HEADERS, STATIC
from vidscore_server.web.serving import serve_viewer
from vidscore_server.web.view import Links, View
from vidscore_server.web.viewer import Viewer

ROOT = f"/{SECRET}/"
MOST_SCRIPT_BYTES = 105_000
MOST_OWN_SCRIPT_BYTES = 8_000
MOST_SITE_SCRIPT_BYTES = 6_000
"""Maximum size of our scripts on all pages of the site together."""


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Viewer:
    material = street(tmp_path_factory.mktemp("street"), "clear")
    uncertainty = Uncertainty(material, draws=20)
    uncertainty.compute()
    return Viewer(material, uncertainty, Links(ROOT), truth_name="street")


@pytest.fixture(scope="module")
def app(viewer: Viewer) -> ASGIApp:
    return viewer_app(viewer, SECRET, [HOST])


def table(app: ASGIApp, name: str, query: str = "") -> list[dict[str, str]]:
    answer = ask(app, f"{ROOT}csv/{name}.csv{query}")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.text)))


@pytest.mark.parametrize("host", ["example.org", "example.org:4000", "127.0.0.1", "", f"{HOST}.a"])
def test_a_foreign_host_is_refused(app: ASGIApp, host: str) -> None:
    """A page of another site whose name resolves to this machine gets nothing."""
    answer = ask(app, ROOT, host=host)
    assert answer.status == 421
    assert "falcon" not in answer.text


@pytest.mark.parametrize(
    "path", ["/", "/wrong/", f"/{SECRET}", f"/{SECRET}x/", "/static/style.css"]
)
def test_a_path_without_the_secret_is_not_found(app: ASGIApp, path: str) -> None:
    assert ask(app, path).status == 404


@pytest.mark.parametrize("path", ["../app.py", "..%2fapp.py", "htmx.min.js/../../view.py"])
def test_files_outside_the_static_folder_are_not_served(app: ASGIApp, path: str) -> None:
    assert ask(app, f"{ROOT}static/{path}").status == 404


def test_no_method_that_sends_data_is_allowed(app: ASGIApp) -> None:
    assert ask(app, ROOT, method="POST").status == 405


@pytest.mark.parametrize("path", ["", "static/style.css", "csv/figures.csv", "nothing"])
def test_every_answer_has_the_content_security_policy(app: ASGIApp, path: str) -> None:
    headers = ask(app, ROOT + path).headers
    assert headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_a_page_contains_nothing_that_its_policy_forbids(app: ASGIApp) -> None:
    """No style attribute, no handler, no inline script or style, nothing from elsewhere."""
    page = Page(ask(app, ROOT).text)
    names = {name for _, own in page.elements for name in own}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on")]
    assert not [tag for tag, own in page.elements if tag == "style"]
    assert all(own.get("src") for tag, own in page.elements if tag == "script")
    addresses = [*page.all("src"), *page.all("href"), *page.all("hx-get"), *page.all("action")]
    assert addresses
    assert all(address.startswith((ROOT, "#")) for address in addresses)


def test_scripts_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in STATIC.glob("*.js")}
    assert sum(sizes.values()) <= MOST_SCRIPT_BYTES
    assert sizes["viewer.js"] + sizes["keys.js"] <= MOST_OWN_SCRIPT_BYTES
    of_site = sizes["submit.js"] + sizes["keys.js"] + sizes["once.js"]
    assert of_site <= MOST_SITE_SCRIPT_BYTES
    assert (STATIC / "htmx.LICENSE.txt").is_file()


def test_the_page_begins_with_the_answer(app: ASGIApp) -> None:
    page = Page(ask(app, ROOT).text)
    assert "falcon and mole cannot be told apart with so few sequences" in page.texts
    order = ["Figures", "Curves", "Sequences", "Frame 2 of Tower/001", "About this page"]
    headings = [page.texts.index(text) for text in order if text in page.texts]
    assert headings == sorted(headings)
    assert len(headings) >= 4


def test_the_answer_comes_again_with_the_intervals(viewer: Viewer) -> None:
    """Of the street's two sequences the answer is known at once; the heading is replaced anyway."""
    waiting = Viewer(viewer.material, Uncertainty(viewer.material, draws=20), Links(ROOT))
    before = ask(viewer_app(waiting, SECRET, [HOST]), ROOT, hx_target="figures-part").text
    assert "being computed" in before
    assert "<h1>" not in before
    after = ask(viewer_app(viewer, SECRET, [HOST]), ROOT, hx_target="figures-part").text
    assert '<div class="head" id="answer" hx-swap-oob="true">' in after
    assert "hx-swap-oob" not in ask(viewer_app(viewer, SECRET, [HOST]), ROOT).text


def test_figures_equal_those_of_the_report(app: ASGIApp, viewer: Viewer) -> None:
    overall = [
        row
        for row in table(app, "figures")
        if not row["domain"] and not row["label"] and not row["sequence"]
    ]
    rows = {row["measure"]: row for row in overall}
    for system in ("falcon", "mole"):
        for row in viewer.material.reports[system][0].rows():
            if row.domain is None and row.label is None and row.sequence is None:
                shown = rows[row.measure][system]
                assert (float(shown) if shown else None) == row.value
    assert "0.8000" in ask(app, ROOT).text  # MOTA of falcon: 1 - (1 + 1) / 10


@pytest.mark.parametrize(("draws", "count"), [(100, 4), (0, 0)])
def test_curves_have_bands_and_their_tables_the_same_intervals(
    tmp_path: Path, draws: int, count: int
) -> None:
    """Two curves of two systems; falcon finds 7 of 8 objects of one sequence, all of the other."""
    own = street(tmp_path, "f1")
    html = Viewer(own, Uncertainty(own, draws), Links(ROOT)).page(View())
    assert html.count('class="band"') == count
    assert ("0.9000 (0.8750 to 1.0000)" in Page(html).texts) == bool(count)


def test_counts_by_sequence_equal_counts_by_hand(app: ASGIApp) -> None:
    rows = table(app, "sequences")
    names = ("sequence", "system", "frames", "hits", "misses", "false_alarms")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("001", "falcon", "4", "7", "1", "1"),
        ("001", "mole", "4", "4", "4", "2"),
        ("002", "falcon", "2", "2", "0", "0"),
        ("002", "mole", "2", "1", "1", "0"),
    ]


def test_a_frame_can_be_downloaded_as_csv(app: ASGIApp) -> None:
    query = "?sequence=Tower/001&frame=2"
    assert [row["outcome"] for row in table(app, "frame", query)] == [
        "true_positive",
        "false_negative",
        "true_positive",
    ]
    assert len(table(app, "frame-b", query)) == 5
    assert len(table(app, "outcomes")) == 10 + 10


def test_a_view_is_a_url(app: ASGIApp) -> None:
    text = ask(app, f"{ROOT}?sequence=Tower%2F002&frame=1&show=b&outcome=&outcome=fn").text
    assert "Frame 1 of Tower/002" in text
    checked = [
        own["id"]
        for tag, own in Page(text).elements
        if tag == "input" and "checked" in own and own.get("id")
    ]
    assert checked == ["v-b", "k-fn", "k-lb"]


@pytest.mark.parametrize("query", ["?confidence=nan", "?show=<script>", "?first=100000", "?at=7"])
def test_an_unreadable_choice_is_ignored(app: ASGIApp, query: str) -> None:
    answer = ask(app, ROOT + query)
    assert answer.status == 200
    assert "<script>" not in answer.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?sequence=nowhere", "There is no sequence 'nowhere' here."),
        ("?sequence=001", "There is no sequence '001' here."),
        ("?label=Nobody", "There is no label 'Nobody' here."),
        ("?by=nobody", "There is no evaluator 'nobody' here."),
        ("?sequence=Tower/001&frame=abc", "There is no frame 'abc' here."),
        ("?sequence=Tower/001&frame=-1", "There is no frame '-1' here."),
        ("?sequence=Tower/001&frame=" + "9" * 20, f"There is no frame '{'9' * 20}' here."),
        ("?sequence=Tower/001&frame=4", "There is no frame 4 of Tower/001: its frames are 0 to 3."),
        ("?frame=2", "Frame 2 has no sequence: an address with a frame must name both."),
    ],
)
def test_names_that_do_not_exist_are_reported_as_not_found(
    app: ASGIApp, query: str, said: str
) -> None:
    for path in ("", "csv/frame.csv"):
        answer = ask(app, ROOT + path + query)
        assert (answer.status, answer.text) == (404, said)
    assert ask(app, ROOT + query, HX_Target="frame-part").status == 404


def test_every_link_of_a_page_works_even_if_the_sequence_has_no_name(tmp_path: Path) -> None:
    lines = ["sequence,frame,class,x1,y1,x2,y2,confidence"]
    lines += [f"001,{frame},Car,0,0,10,10,0.5" for frame in range(3)]
    (tmp_path / "all.csv").write_text("\n".join(lines), "utf-8")
    sides = [read(tmp_path / "all.csv", side=side) for side in (Side.TRUTH, Side.DETECTIONS)]
    truth, found = (replace(side, sequences=(SequenceKey("", ""),)) for side in sides)
    evaluators = [create_evaluator("f1")]
    reports = {"falcon": score_annotations(evaluators, truth, found)}
    material = Material.of(Contest.of(truth, {"falcon": found}), evaluators, reports)
    own = viewer_app(Viewer(material, Uncertainty(material, 0), Links(ROOT)), SECRET, [HOST])
    page = Page(ask(own, ROOT).text)
    links = {link.partition("#")[0] for link in page.all("href") if link[0] != "#"}
    links |= {f"{one}{'&' if '?' in one else '?'}at=0.9" for one in page.all("data-strip")}
    assert len(links) > 8
    assert [link for link in sorted(links) if ask(own, link).status != 200] == []


def test_only_the_frame_is_sent_if_only_it_changes(app: ASGIApp) -> None:
    answer = ask(app, f"{ROOT}?sequence=Tower/001&frame=3", HX_Target="frame-part")
    page = Page(answer.text)
    assert page.elements[0] == (
        "section",
        {"class": "sec wide view", "id": "frame-part", "aria-labelledby": "frame"},
    )
    assert "Frame 3 of Tower/001" in page.texts
    assert "hx-swap-oob" in answer.text
    assert len(answer.body) < len(ask(app, ROOT).body)


def test_the_frame_shows_the_outcome_of_each_object(app: ASGIApp) -> None:
    texts = Page(ask(app, f"{ROOT}?sequence=Tower/001&frame=2").text).texts
    assert "1 found, 1 missed, 0 false alarms" in texts
    assert "1 found, 1 missed, 2 false alarms" in texts
    assert "object, track 2" in texts


def test_names_from_files_are_text(tmp_path: Path) -> None:
    material = street(tmp_path, "clear")
    side = material.contest.systems["falcon"]
    systems = {'<img src=x onerror="alert(1)">': side}
    reports = dict.fromkeys(systems, material.reports["falcon"])
    contest = type(material.contest)(material.contest.truth, systems)
    own = type(material).of(contest, material.evaluators, reports)
    page = Page(Viewer(own, Uncertainty(own, 0), Links(ROOT)).page(View()))
    assert "img" not in {tag for tag, _ in page.elements}


def test_intervals_still_being_computed_are_requested_again(tmp_path: Path) -> None:
    material = street(tmp_path, "clear")
    uncertainty = Uncertainty(material, draws=20)
    own = viewer_app(Viewer(material, uncertainty, Links(ROOT)), SECRET, [HOST])
    before = ask(own, ROOT, HX_Target="figures-part").text
    assert 'aria-busy="true"' in before
    uncertainty.compute()
    after = ask(own, ROOT, HX_Target="figures-part").text
    assert "aria-busy" not in after
    assert "from 20 draws" in after


def test_answers_are_sent_without_delay(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[bool] = []

    def run(_: uvicorn.Server, sockets: list[socket.socket]) -> None:
        found.extend(asyncio.run(sends_at_once(listener)) for listener in sockets)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    serve_viewer(viewer, 0, lambda _: None)
    assert found == [True]
