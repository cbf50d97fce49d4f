"""The page as one file."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.server.web.asking import Page
from tests.support.street import street

from vidscore_evaluators.explanation.figures import Uncertainty
from vidscore_evaluators.outcome_table import OperatingPoint
from vidscore_server.web import document
from vidscore_server.web.document import MOST_BYTES, written_page
from vidscore_server.web.sections import NO_IMAGE
from vidscore_server.web.view import View
from vidscore_server.web.viewer import Viewer

COMMAND = "vidscore view clear --truth 'a b' --detections falcon.csv"


LACKING = 3


class Noise:
    """Pictures that cannot be compressed; frame 3 has none."""

    def has(self, sequence: str, number: int) -> bool:
        del sequence
        return number != LACKING

    def size(self, sequence: str) -> tuple[float, float]:
        del sequence
        return 400.0, 200.0

    def jpeg(self, sequence: str, number: int, most_bytes: int | None = None) -> bytes | None:
        if not self.has(sequence, number):
            return None
        random = np.random.default_rng(number)
        return random.bytes(most_bytes or 1000)


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Viewer:
    material = street(tmp_path_factory.mktemp("street"), "clear")
    uncertainty = Uncertainty(material, draws=20)
    uncertainty.compute()
    return Viewer(material, uncertainty, truth_name="street")


@pytest.fixture(scope="module")
def html(viewer: Viewer) -> str:
    return written_page(viewer, COMMAND).decode()


def test_the_file_requests_nothing_from_elsewhere(html: str) -> None:
    page = Page(html)
    addresses = [*page.all("src"), *page.all("href"), *page.all("action")]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert "hx-" not in re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)


def test_the_policy_allows_only_its_own_style_and_script(html: str) -> None:
    [policy] = [
        own["content"]
        for tag, own in Page(html).elements
        if tag == "meta" and own.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        [text] = re.findall(rf"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_the_file_says_what_it_contains_and_what_shows_the_rest(html: str) -> None:
    texts = Page(html).texts
    held = [text for text in texts if text.startswith("This file holds the bins")]
    [said] = held
    assert "the bins of every sequence and the 5 worst frames." in said
    assert COMMAND in texts


def test_every_link_within_the_file_works(html: str) -> None:
    page = Page(html)
    ids = set(page.all("id"))
    assert len(ids) == len(page.all("id"))
    links = {href[1:] for href in page.all("href") if href.startswith("#")}
    assert links <= ids


def test_the_worst_frame_comes_first(html: str, viewer: Viewer) -> None:
    judgement = viewer.material.judge(viewer.material.judges[0], OperatingPoint())
    held = [int(one) for one in re.findall(r'<div class="one" id="f(\d+)">', html)]
    mistakes = judgement.mistakes()[held].tolist()
    assert mistakes == sorted(mistakes, reverse=True)
    assert held[0] == 2  # Three mistakes of mole and one of falcon.


@pytest.mark.parametrize("most", [MOST_BYTES, 400_000, 250_000])
def test_pictures_fill_the_available_space(
    viewer: Viewer, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "MOST_BYTES", most)
    data = written_page(replace(viewer, pictures=Noise()), COMMAND)
    assert len(data) <= most
    assert b"data:image/jpeg" in data
    assert b"with their pictures" in data


def test_a_frame_without_an_image_says_so_if_others_have_one(html: str, viewer: Viewer) -> None:
    """Frame 3 of 001 is drawn for both systems."""
    shown = written_page(replace(viewer, pictures=Noise()), COMMAND).decode()
    assert shown.count(NO_IMAGE) == 2
    assert NO_IMAGE in replace(viewer, pictures=Noise()).page(View(sequence="Tower/001", frame=3))
    assert NO_IMAGE not in html


def test_tables_are_in_the_file(html: str) -> None:
    found = [href for href in Page(html).all("href") if href.startswith("data:text/csv")]
    texts = [base64.b64decode(href.partition(",")[2]).decode() for href in found]
    assert any(text.startswith("domain,sequence,system,frames,hits") for text in texts)
    assert any(text.startswith("evaluator,domain,label,sequence,measure") for text in texts)


def test_the_file_names_the_tables_that_are_too_large_for_it(
    viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the tables, that of the figures is the largest here, and that of the bins the next."""
    monkeypatch.setattr(document, "MOST_TABLE_BYTES", 500)
    page = Page(written_page(viewer, COMMAND).decode())
    said = " ".join(page.texts)
    assert "Tables that are too large for it are left out: bins, figures. For everything" in said
    assert "Sequences as CSV" in page.texts
    assert "Bins as CSV" not in page.texts
