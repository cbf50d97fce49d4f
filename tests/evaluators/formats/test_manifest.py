"""The manifest: a specification in TOML, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import InputError, SpecificationError
from vidscore_evaluators.formats import manifest
from vidscore_evaluators.formats.manifest import parse_document, read_manifest, write_document
from vidscore_evaluators.formats.video import VideoSize
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    DomainSpec,
    EvaluatorSpec,
    FrameRanges,
    SequenceSpec,
)

SPECIFICATION = BenchmarkSpec(
    title="A benchmark",
    evaluators=(EvaluatorSpec("neovision2", {"overlap_threshold": 0.3, "frames": "all"}),),
    domains=(DomainSpec("Tower", ("Car", "Bus")), DomainSpec("Other")),
    sequences=(
        SequenceSpec("001", "Tower", frame_count=10, dont_care_frames=FrameRanges(((2, 4),))),
        SequenceSpec("Käse", frames=FrameRanges(((0, 0), (5, 9))), first_frame=1),
        SequenceSpec("3", image_width=640, image_height=480),
    ),
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def sized(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every video has 25 frames of 640 x 480; yields the paths that were opened."""
    asked: list[Path] = []

    def measure(path: Path) -> VideoSize:
        asked.append(path)
        return VideoSize(25, 640, 480)

    monkeypatch.setattr(manifest, "_MEASURES", {"video": measure, "images": measure})
    return asked


@pytest.mark.parametrize("specification", [SPECIFICATION, BenchmarkSpec()])
def test_written_files_are_read_back(tmp_path: Path, specification: BenchmarkSpec) -> None:
    assert read_manifest(write(tmp_path, write_document(to_dict(specification)))) == specification


def test_parameters_that_are_tuples_become_arrays() -> None:
    specification = BenchmarkSpec(evaluators=(EvaluatorSpec("a", {"thresholds": (0.5, 0.75)}),))
    assert "0.75" in write_document(to_dict(specification))


def test_a_video_gives_its_decoded_frames_and_its_size(tmp_path: Path, sized: list[Path]) -> None:
    path = write(tmp_path, '[[sequences]]\nname = "a"\nvideo = "videos/a.mp4"\n')
    (sequence,) = read_manifest(path).sequences
    assert (sequence.frame_count, sequence.image_width, sequence.image_height) == (25, 640, 480)
    assert sized == [tmp_path / "videos" / "a.mp4"]


def test_a_size_in_the_manifest_overrides_that_of_the_video(
    tmp_path: Path, sized: list[Path]
) -> None:
    path = write(tmp_path, '[[sequences]]\nname = "a"\nimages = "a"\nimage_width = 320\n')
    (sequence,) = read_manifest(path).sequences
    assert (sequence.image_width, sequence.image_height) == (320, 480)
    assert len(sized) == 1


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('video = "a.mp4"\nframe_count = 24', "25 frames in a.mp4"),
        ('video = "a.mp4"\nimages = "a"', "video and images"),
        ("video = 7", "7"),
    ],
)
@pytest.mark.usefixtures("sized")
def test_a_video_that_contradicts_the_manifest_is_refused(
    tmp_path: Path, line: str, found: str
) -> None:
    path = write(tmp_path, f'[[sequences]]\nname = "a"\n{line}\n')
    with pytest.raises(SpecificationError) as caught:
        read_manifest(path)
    (fault,) = caught.value.faults
    assert (fault.source, fault.found) == (str(path), found)
    assert fault.field is not None
    assert fault.field.startswith("sequences[0].")


@pytest.mark.parametrize("key", ["frames", "dont_care_frames"])
@pytest.mark.usefixtures("sized")
def test_frames_beyond_a_video_are_refused(tmp_path: Path, key: str) -> None:
    """A video of 25 frames from 1 on has frames 1 to 25."""
    lines = '[[sequences]]\nname = "a"\nvideo = "a.mp4"\nfirst_frame = 1\n'
    read_manifest(write(tmp_path, f"{lines}{key} = [[1, 25]]\n"))
    for wrong, found in (("[[2, 26]]", "frames 2 to 26"), ("[0, 5]", "frames 0 to 5")):
        path = write(tmp_path, f"{lines}{key} = {wrong}\n")
        with pytest.raises(SpecificationError) as caught:
            read_manifest(path)
        (fault,) = caught.value.faults
        assert (fault.source, fault.field) == (str(path), f"sequences[0].{key}")
        assert (fault.found, fault.expected) == (found, "frames 1 to 25, as there are in the video")


def test_all_faults_of_keys_and_videos_are_listed(tmp_path: Path) -> None:
    text = 'titel = "x"\n[[sequences]]\nname = "a"\nvideo = "missing.mp4"\nframe_cont = 3\n'
    with pytest.raises(SpecificationError) as caught:
        read_manifest(write(tmp_path, text))
    found = {fault.field or Path(fault.source or "").name for fault in caught.value.faults}
    assert found == {"titel", "sequences[0].frame_cont", "missing.mp4"}


def test_an_empty_list_of_classes_is_refused_as_it_would_score_nothing(tmp_path: Path) -> None:
    """All figures would be those of no object at all, such as an F1 of 1, with a warning."""
    text = 'classes = []\ntitel = "x"\n'
    text += '[[domains]]\nname = "a"\n[[domains]]\nname = "b"\nclasses = []\n'
    with pytest.raises(SpecificationError) as caught:
        read_manifest(write(tmp_path, text))
    expected = "at least one label, or no such key"
    assert [(fault.field, fault.found, fault.expected) for fault in caught.value.faults[1:]] == [
        ("classes", "[]", expected),
        ("domains[1].classes", "[]", expected),
    ]
    with pytest.raises(SpecificationError, match=r"^a form, classes: found \[\], expected at"):
        parse_document(b"classes = []", "a form")


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [('title = "a"\nx = = 2\n', 2, "column 5"), ("a = [1,\n", 2, None), ("[[a]\n", 1, "column 4")],
)
def test_invalid_toml_is_reported_with_line_and_column(
    tmp_path: Path, text: str, line: int, field: str | None
) -> None:
    with pytest.raises(SpecificationError) as caught:
        read_manifest(write(tmp_path, text))
    (fault,) = caught.value.faults
    assert fault.line == line
    assert field is None or fault.field == field
    assert fault.found.startswith("invalid TOML")


def test_bytes_that_are_not_utf_8_are_reported_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_bytes(b'title = "a"\nx = "\xff"\n')
    with pytest.raises(SpecificationError, match="line 2: found bytes that are not valid UTF-8"):
        read_manifest(path)


def test_a_deeply_nested_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError):
        read_manifest(write(tmp_path, "a = " + "[" * 5000 + "]" * 5000))


def test_a_missing_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"file not found"):
        read_manifest(tmp_path / "manifest.toml")


def test_sequences_that_are_not_an_array_are_refused(tmp_path: Path) -> None:
    document: dict[str, Any] = {"sequences": "a"}
    with pytest.raises(SpecificationError, match="sequences"):
        read_manifest(write(tmp_path, f'sequences = "{document["sequences"]}"'))


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 30_000) + " = 1",
        "[" + ".".join(["a"] * 30_000) + "]",
        "x = {" + " . ".join(['"a"'] * 33) + " = 1}",
    ],
)
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(f'title = "one"\n{text}\n')
    with pytest.raises(SpecificationError, match="line 2: found a key of more than 32 parts"):
        read_manifest(path)


def test_a_title_with_many_dots_is_not_a_key(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    title = ".".join(["a"] * 100)
    path.write_text(f'title = "{title}"\n')
    assert read_manifest(path).title == title


def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(f"title = {'9' * 6_000}\n")
    with pytest.raises(SpecificationError, match="found a number of too many digits"):
        read_manifest(path)


def test_a_manifest_of_many_megabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_bytes(b"#" * (manifest.MAXIMUM_BYTES + 1))
    with pytest.raises(InputError, match="expected at most"):
        read_manifest(path)


def test_faults_of_evaluators_are_reported_with_the_others(tmp_path: Path) -> None:
    text = (
        '[[evaluators]]\nname = "f2x"\n[[evaluators]]\nname = "f1"\nparameters = {thresh = 3}\n'
        '[[evaluators]]\nname = "none.toml"\n[[sequences]]\nname = "S"\nframe_count = -1\n'
    )
    with pytest.raises(SpecificationError) as raised:
        read_manifest(write(tmp_path, text))
    lines = [str(fault) for fault in raised.value.faults]
    place = f"{tmp_path}/manifest.toml"
    assert lines[0].startswith(f"{place}, sequences[0].frame_count: found -1, expected")
    assert lines[1].startswith(f"{place}, evaluators[0].name: no evaluator is called 'f2x'")
    assert lines[2].startswith(f"{place}, evaluators[1].parameters.thresh: unknown parameter")
    assert lines[3].startswith(f"{tmp_path}/none.toml: file not found")
    assert len(lines) == 4
