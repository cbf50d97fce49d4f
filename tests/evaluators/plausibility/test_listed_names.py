"""Names of a specification that the data lacks give a warning, unless that is plausible."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evaluators.plausibility.traffic import traffic

from vidscore_evaluators import score
from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.plausibility.listed_names import listed_name_warnings
from vidscore_evaluators.selection import Selection
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    DomainSpec,
    FrameRanges,
    SequenceSpec,
)

FRAMES = FrameRanges(((0, 30),))


def spec(*names: str, frame_count: int | None = None) -> BenchmarkSpec:
    entries = [SequenceSpec(name, "", frame_count, dont_care_frames=FRAMES) for name in names]
    return BenchmarkSpec(sequences=tuple(entries))


def told(specification: BenchmarkSpec, *names: str, domain: str = "") -> dict[str, str]:
    found = listed_name_warnings(specification, [SequenceKey(domain, name) for name in names])
    return {warning.code: warning.message for warning in found}


@pytest.mark.parametrize(
    ("listed", "found"),
    [("S", "s"), ("street.mp4", "street"), ("big street", "big_street"), ("stret", "street")],
)
def test_a_listed_sequence_in_another_spelling_is_named_with_a_suggestion(
    listed: str, found: str
) -> None:
    message = told(spec(listed, "north"), found, "north")["listed_sequences_not_found"]
    assert f"{listed} (did you mean {found}?)" in message


def test_a_sequence_with_its_own_frames_gives_a_warning_if_only_the_case_differs() -> None:
    assert "listed_sequences_not_found" in told(spec("S", frame_count=40), "s")


def test_a_specification_of_other_data_gives_a_warning() -> None:
    assert "listed_sequences_not_found" in told(spec("left", "right"), "north", "south")


@pytest.mark.parametrize(
    ("specification", "found"),
    [
        pytest.param(spec("north", "south"), ["north"], id="an empty one"),
        pytest.param(spec("north", "south"), ["north", "west"], id="of a part"),
        pytest.param(spec("cam1", "cam2"), ["cam2", "cam3"], id="other numbers"),
        pytest.param(spec("cam_a", "cam_b"), ["cam_b", "cam_c"], id="other letters"),
        pytest.param(spec("empty", frame_count=40), ["north"], id="frames without objects"),
        pytest.param(spec("north", frame_count=40), ["northern"], id="frames, and one alike"),
        pytest.param(spec("north"), [], id="no data"),
        pytest.param(BenchmarkSpec(), ["north"], id="nothing listed"),
    ],
)
def test_names_that_the_data_may_plausibly_lack_give_no_warning(
    specification: BenchmarkSpec, found: list[str]
) -> None:
    assert told(specification, *found) == {}


def test_a_mistyped_listed_domain_is_named_with_a_suggestion() -> None:
    listed = BenchmarkSpec(domains=(DomainSpec("Towr", ("car",)), DomainSpec("Heli")))
    message = told(listed, "north", domain="Tower")["listed_domains_not_found"]
    assert "Towr (did you mean Tower?)" in message


def test_domains_of_a_part_give_no_warning() -> None:
    listed = BenchmarkSpec(domains=(DomainSpec("Tower", ("car",)), DomainSpec("Heli")))
    assert told(listed, "north", domain="Tower") == {}


def test_a_report_warns_about_a_mistyped_sequence_whatever_part_is_scored() -> None:
    """Once, with the names of the whole data; the selected sequence is right."""
    truth, detections = traffic()
    for selection in (Selection(), Selection(sequences=("south",))):
        report = score(
            "f1", truth, detections, specification=spec("North", "south"), select=selection
        )
        codes = [warning.code for warning in report.warnings]
        assert codes.count("listed_sequences_not_found") == 1


def test_a_report_warns_of_a_mistyped_domain() -> None:
    listed = BenchmarkSpec(domains=(DomainSpec("Towr"),))
    report = score("f1", *traffic(), specification=listed)
    assert "listed_domains_not_found" in {warning.code for warning in report.warnings}


def test_a_report_warns_of_a_mistyped_sequence_of_a_manifest(tmp_path: Path) -> None:
    text = '[[sequences]]\nname = "North"\ndont_care_frames = [[0, 30]]\n'
    (tmp_path / "manifest.toml").write_text(text)
    report = score("f1", *traffic(), manifest=tmp_path / "manifest.toml")
    assert "North (did you mean north?)" in report.warnings[0].message
