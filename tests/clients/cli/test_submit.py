"""Effects and output of a submission: drafts, checks, waiting, ranks, names; on a real server."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.clients.cli.conftest import spotgeo_entry
from tests.clients.cli.helpers import BENCHMARK, Call, run, well

from vidscore_cli.commands import submit
from vidscore_cli.session import ExitCode
from vidscore_client import Client, Submission, SubmissionStream, SupersededError

# --- nothing counts before its first frames -------------------------------------------------------


@pytest.mark.slow
def test_a_refused_file_leaves_no_submission_and_uses_no_quota(
    limited: str, folder: Path, falcon: Call
) -> None:
    """SpotGEO has five frames per sequence."""
    (folder / "wrong.json").write_text(json.dumps([spotgeo_entry(9, (1, 1), sequence=1)]))
    result = falcon("submit", limited, "--detections", "wrong.json", "--name", "wrong")
    assert result.exit_code == ExitCode.INPUT
    assert "Nothing was submitted and no quota is used" in result.stderr
    draft = json.loads(well(falcon("submission", "show", f"{limited}/wrong", "--format", "json")))
    assert draft["state"] == "cancelled", "otherwise it counts as an open submission"
    listed = falcon("submission", "list", limited)
    assert well(listed) == ""
    assert listed.stderr == "there are no submissions\n"
    well(falcon("submit", limited, "--detections", "detections.json"))


def test_a_file_refused_after_its_first_frames_is_cancelled(
    limited: str, folder: Path, falcon: Call
) -> None:
    """Batches have at most 1,000 frames; the invalid frame is far behind."""
    rows = [f"{sequence},{frame},1,1" for sequence in range(1, 801) for frame in range(1, 6)]
    rows.append("9999,9,1,1")
    (folder / "wrong.csv").write_text("sequence,frame,x,y\n" + "\n".join(rows))
    result = falcon("submit", limited, "--detections", "wrong.csv", "--name", "long")
    assert result.exit_code == ExitCode.INPUT
    assert "it is cancelled and uses no quota" in result.stderr
    well(falcon("submit", limited, "--detections", "detections.json"))


def test_an_upload_that_another_one_takes_over_leaves_the_submission_to_it(
    hosted: str, falcon: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command was started twice: the first may not cancel what the second sends."""

    def overtaken(_: Client, stream: SubmissionStream, __: object) -> Submission:
        stream.flush()
        raise SupersededError("a newer call appends to the stream, and this one ends")

    sent = ("submit", hosted, "--detections", "detections.json", "--name", "twice")
    with monkeypatch.context() as patch:
        patch.setattr(submit, "seal", overtaken)
        first = falcon(*sent)
    assert first.exit_code == ExitCode.INPUT
    assert f"{hosted}/twice is not cancelled: another program now sends the same" in first.stderr
    shown = json.loads(well(falcon("submission", "show", f"{hosted}/twice", "--format", "json")))
    assert shown["state"] == "receiving"
    well(falcon(*sent))


def test_a_check_submits_nothing_and_shows_what_is_left(
    limited: str, folder: Path, falcon: Call
) -> None:
    checked = falcon("submit", limited, "--detections", "detections.json", "--check")
    assert "would accept detections.json: 5 frames" in well(checked)
    assert "submissions left: 1 of 1 in all" in checked.stderr
    (folder / "wrong.csv").write_text("sequence,frame,x,y\n1,9,1,1\n")
    wrong = falcon("submit", limited, "--detections", "wrong.csv", "--check")
    assert wrong.exit_code == ExitCode.INPUT
    assert "Nothing was submitted" in wrong.stderr
    assert json.loads(well(falcon("submission", "list", limited, "--format", "json"))) == []
    well(falcon("submit", limited, "--detections", "detections.json"))
    late = falcon("submit", limited, "--detections", "detections.json", "--check")
    assert late.exit_code == ExitCode.INPUT
    assert "quota submissions_in_all of 1 is used up" in late.stderr


def test_a_check_refuses_the_name_and_title_that_a_submission_could_not_have(
    hosted: str, folder: Path, falcon: Call
) -> None:
    name = f"{hosted}-one"
    sent = ("submit", hosted, "--detections", "detections.json", "--name")
    assert "would accept" in well(falcon(*sent, name, "--check"))
    for wrong in ("Not a name", "Ünder", "a" * 64):
        refused = falcon(*sent, wrong)
        checked = falcon(*sent, wrong, "--check")
        assert checked.exit_code == refused.exit_code == ExitCode.INPUT
        assert refused.stderr.splitlines()[0] == checked.stderr.splitlines()[0]
    for wrong in ("a\x07b", "a" * 1001):
        refused = falcon(*sent, name, "--title", wrong)
        checked = falcon(*sent, name, "--title", wrong, "--check")
        assert checked.exit_code == refused.exit_code == ExitCode.INPUT
        [said] = [line.strip() for line in refused.stderr.splitlines() if "title" in line]
        assert f"Error: {said}" in checked.stderr
    well(falcon(*sent, name))
    # It is submitted, with these very files.
    assert "would accept" in well(falcon(*sent, name, "--check"))
    (folder / "other.csv").write_text("sequence,frame,x,y\n1,1,1,1\n")
    other = ("submit", hosted, "--detections", "other.csv", "--name", name, "--check")
    refused = falcon(*other)
    assert refused.exit_code == ExitCode.INPUT
    assert "is scored with other detections; choose another --name" in refused.stderr


def test_a_title_for_files_that_were_submitted_before_is_not_dropped_silently(
    hosted: str, falcon: Call
) -> None:
    sent = ("submit", hosted, "--detections", "detections.json", "--title")
    assert "keeps its title" not in falcon(*sent, "First").stderr
    assert "keeps its title" not in falcon(*sent, "First").stderr
    assert "was begun before and keeps its title 'First'" in falcon(*sent, "Second").stderr


def test_yolo_text_is_uploaded_with_the_size_of_its_images(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    """Its boxes are parts of an image; percentages are confidences if their scale is given."""
    (folder / "f1.toml").write_text('title = "Boxes"\n[[evaluators]]\nname = "f1"\n')
    (folder / "yolo").mkdir()
    (folder / "yolo/1.txt").write_text("0 0.5 0.5 0.25 0.25 90\n")
    size = ("--image-size", "640x480")
    well(organiser("benchmark", "create", f"{hosted}-boxes", "f1.toml"))
    truth = ("benchmark", "truth", f"{hosted}-boxes", "--truth", "yolo")
    assert "expected the size of its images" in organiser(*truth).stderr
    assert "1 object (0 1)" in well(organiser(*truth, *size))
    sent = ("submit", f"{hosted}-boxes", "--detections", "yolo", *size)
    scored = well(falcon(*sent, "--confidence-scale", "0,100", "--format", "csv"))
    assert "f1,,,,f1,1.0" in scored


def test_frames_without_detections_need_no_shape_and_are_submitted(
    limited: str, folder: Path, falcon: Call
) -> None:
    """JSON lines have no shape if nothing was detected; the benchmark's are points."""
    lines = [f'{{"sequence": "1", "frame": {frame}, "objects": []}}' for frame in range(1, 6)]
    (folder / "nothing.jsonl").write_text("\n".join(lines))
    sent = ("submit", limited, "--detections", "nothing.jsonl")
    assert "5 frames, 0 detections" in well(falcon(*sent, "--check"))
    assert "has rank 1 of 1 on the board" in falcon(*sent).stderr


def test_a_suspicious_file_gives_a_warning_and_with_strict_is_not_submitted(
    limited: str, folder: Path, falcon: Call
) -> None:
    """Coordinates from 0 to 1 are not pixels, which can be seen without the truth."""
    rows = [f"1,{frame},0.{frame},0.5" for frame in (1, 2, 3, 4, 5) for _ in range(2)]
    (folder / "shares.csv").write_text("sequence,frame,x,y\n" + "\n".join(rows))
    sent = ("submit", limited, "--detections", "shares.csv")
    refused = falcon(*sent, "--strict")
    assert refused.exit_code == ExitCode.INPUT
    assert "Warning: 10 x coordinates of the detections all lie between 0 and 1" in refused.stderr
    assert "1 warning, which --strict makes errors; nothing was submitted" in refused.stderr
    assert json.loads(well(falcon("submission", "list", limited, "--format", "json"))) == []
    taken = falcon(*sent)
    well(taken)
    assert "all lie between 0 and 1" in taken.stderr


def test_equal_confidences_give_a_warning_only_if_the_benchmark_ranks_by_them(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    """With or without tracks: the benchmark's evaluators decide."""
    row = "1,{},{},car,10,10,20,20,0.5"
    tracked = [row.format(frame, 7) for frame in range(5)]
    untracked = [row.format(frame, -1) for frame in range(5)]
    header = "sequence,frame,track_id,class,x1,y1,x2,y2,confidence"
    for name, rows in (("tracked.csv", tracked), ("untracked.csv", untracked)):
        (folder / name).write_text("\n".join([header, *rows]))
    warned = {}
    for evaluator in ("map", "f1"):
        name = f"{hosted}-{evaluator}"
        text = f'title = "Equal"\n[[evaluators]]\nname = "{evaluator}"\n'
        (folder / f"{evaluator}.toml").write_text(text)
        well(organiser("benchmark", "create", name, f"{evaluator}.toml"))
        well(organiser("benchmark", "truth", name, "--truth", "tracked.csv"))
        for file in ("tracked.csv", "untracked.csv"):
            checked = falcon("submit", name, "--detections", file, "--check")
            well(checked)
            warned[evaluator, file] = "all have the confidence 0.5" in checked.stderr
    assert warned == {key: key[0] == "map" for key in warned}


def test_a_warning_of_the_server_prevents_a_strict_submission_too(
    hosted: str, folder: Path, falcon: Call, organiser: Call
) -> None:
    """If names are not public, it warns about any submission."""
    well(organiser("benchmark", "show", hosted, "--format", "toml", "--output", "secret.toml"))
    text = (folder / "secret.toml").read_text()
    secret = re.sub(r"public_names = \[[^]]*\]", "public_names = []", text)
    (folder / "secret.toml").write_text(secret)
    well(organiser("benchmark", "update", hosted, "secret.toml"))
    sent = ("submit", hosted, "--detections", "detections.json")
    refused = falcon(*sent, "--strict")
    assert refused.exit_code == ExitCode.INPUT
    assert "nothing was submitted" in refused.stderr
    assert json.loads(well(falcon("submission", "list", hosted, "--format", "json"))) == []
    well(falcon(*sent))


@pytest.mark.parametrize(
    ("public", "numbers", "label", "is_refused"),
    [
        ('"sequences", "labels"', [1, 2], "car", True),
        ('"labels"', [1], "car", True),
        ('"sequences", "labels"', range(24), "23", False),
        ("", [1], "car", False),
    ],
    ids=["unknown", "unknown-other-names-hidden", "one-known", "hidden"],
)
def test_numbers_in_place_of_class_names_are_refused_before_they_use_a_quota(
    hosted: str,
    folder: Path,
    organiser: Call,
    falcon: Call,
    public: str,
    numbers: Iterable[int],
    label: str,
    is_refused: bool,
) -> None:
    """Results of COCO have category numbers; only the truth, which no team has, names them.

    Numbers may be right if one of them is a label, or if labels are not public.
    """
    results = [
        {"image_id": 1, "category_id": number, "bbox": [0, 0, 10, 10], "score": 0.5}
        for number in numbers
    ]
    (folder / "results.json").write_text(json.dumps(results))
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": label}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]}],
    }
    (folder / "coco.json").write_text(json.dumps(truth))
    text = f'title = "C"\npublic_names = [{public}]\n[[evaluators]]\nname = "coco"\n'
    (folder / "coco.toml").write_text(f"{text}[policy]\nsubmissions_in_all = 1\n")
    name = f"{hosted}-coco"
    well(organiser("benchmark", "create", name, "coco.toml"))
    well(organiser("benchmark", "truth", name, "--truth", "coco.json", "--complete"))
    for more in (("--check",), ()):
        result = falcon("submit", name, "--detections", "results.json", *more)
        if not is_refused:
            well(result)
            continue
        assert result.exit_code == ExitCode.INPUT
        assert "label '1' is not in the benchmark's ground truth" in result.stderr
        assert "its labels are car" in result.stderr
        assert "such as '1', expected a label of the benchmark" in result.stderr
    submitted = json.loads(well(falcon("submission", "list", name, "--format", "json")))
    assert len(submitted) == (not is_refused)


@pytest.mark.parametrize(
    ("labels", "is_refused"),
    [(("cab", "van"), True), (("cab", "car"), False), (("",), True)],
    ids=["unknown", "one-known", "without-labels"],
)
def test_labels_that_a_benchmark_lacks_are_submitted_only_on_request(
    hosted: str,
    folder: Path,
    organiser: Call,
    falcon: Call,
    labels: tuple[str, ...],
    is_refused: bool,
) -> None:
    """Nothing can match, except under an evaluator that ignores labels, which finds the object."""
    (folder / "truth.csv").write_text("sequence,frame,class,x1,y1,x2,y2\n1,1,car,0,0,9,9\n")
    rows = [f"1,1,{label},0,0,9,9,0.5\n" for label in labels]
    header = "sequence,frame,class,x1,y1,x2,y2,confidence\n"
    (folder / "found.csv").write_text(header + "".join(rows))
    text = 'title = "L"\n[[evaluators]]\nname = "map"\n[[evaluators]]\nname = "f1"\n'
    more = 'parameters = { classes = "ignore" }\n[policy]\nvisibility = "live"\n'
    (folder / "labels.toml").write_text(text + more)
    name = f"{hosted}-labels"
    well(organiser("benchmark", "create", name, "labels.toml"))
    well(organiser("benchmark", "truth", name, "--truth", "truth.csv", "--complete"))
    sent = ["submit", name, "--detections", "found.csv", "--format", "csv"]
    if is_refused:
        for refused in (falcon(*sent, "--check"), falcon(*sent)):
            assert refused.exit_code == ExitCode.INPUT
            assert "is not in" in refused.stderr or "are not in" in refused.stderr
            assert "--allow-unknown-labels" in refused.stderr
        sent.append("--allow-unknown-labels")
    table = csv.DictReader(io.StringIO(well(falcon(*sent))))
    [recall] = {row["value"] for row in table if row["measure"] == "recall" and not row["sequence"]}
    assert float(recall) == 1.0


def test_a_file_without_a_row_is_submitted_only_on_request(
    hosted: str, limited: str, folder: Path, falcon: Call
) -> None:
    """The specification must name sequences: one empty frame of each is sent."""
    (folder / "empty.csv").write_text("sequence,frame,x,y\n")
    sent = ("--detections", "empty.csv")
    asked = falcon("submit", limited, *sent)
    assert asked.exit_code == ExitCode.INPUT
    assert "--allow-empty" in asked.stderr
    for words in ((), ("--allow-empty",)):
        unlisted = falcon("submit", hosted, *sent, *words)
        assert unlisted.exit_code == ExitCode.INPUT
        assert "empty.csv: found no row; the specification of" in unlisted.stderr
        assert "names no sequences of which empty frames could be sent" in unlisted.stderr
        assert "--allow-empty" not in unlisted.stderr
    text = well(falcon("submit", limited, *sent, "--allow-empty", "--format", "csv"))
    scores = {row["measure"]: row["value"] for row in csv.DictReader(io.StringIO(text))}
    assert float(scores["f1"]) == 0.0


@pytest.fixture
def limited(hosted: str, folder: Path, organiser: Call) -> str:
    """A benchmark that accepts one submission per team, and names its sequences."""
    listed = '[[sequences]]\nname = "1"\nfirst_frame = 1\nframe_count = 5\n'
    more = "".join(f'[[sequences]]\nname = "{name}"\n' for name in (*range(2, 801), 9999))
    text = BENCHMARK + "submissions_in_all = 1\n" + listed + more
    (folder / "limited.toml").write_text(text)
    name = f"{hosted}-limited"
    well(organiser("benchmark", "create", name, "limited.toml"))
    well(organiser("benchmark", "truth", name, "--truth", "truth.json", "--complete"))
    return name


# --- waiting, and the end -------------------------------------------------------------------------


def test_a_submission_ends_with_its_name_rank_and_remaining_quota(
    limited: str, organiser: Call, falcon: Call
) -> None:
    well(organiser("submit", limited, "--detections", "truth.json"))
    sent = falcon("submit", limited, "--detections", "detections.json", "--name", "mine")
    assert sent.stderr.splitlines()[-2:] == [
        f"{limited}/mine has rank 2 of 2 on the board",
        "submissions left: 0 of 1 in all",
    ]
    well(sent)


@pytest.mark.slow
def test_a_submission_that_waits_for_truth_says_so_and_until_when(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    name = f"{hosted}-waiting"
    (folder / "waiting.toml").write_text(BENCHMARK + "truth_timeout_s = 1\n")
    well(organiser("benchmark", "create", name, "waiting.toml"))
    well(organiser("benchmark", "truth", name, "--truth", "truth.json", "--incomplete"))
    shown = well(falcon("benchmark", "show", name))
    assert "complete ground truth; a sealed submission waits for it for at most 0:00:01" in (
        " ".join(shown.split())
    )
    sent = falcon("submit", name, "--detections", "detections.json", "--name", "mine")
    well(sent)
    assert f"{name}/mine waits for ground truth, which is not complete; at 20" in sent.stderr
    assert "waits_for" in well(falcon("submission", "show", f"{name}/mine"))


def test_an_open_submission_says_when_it_is_sealed(hosted: str, falcon: Call) -> None:
    sent = ("--detections", "detections.json", "--name", "mine", "--no-seal")
    well(falcon("submit", hosted, *sent))
    shown = " ".join(well(falcon("submission", "show", f"{hosted}/mine")).split())
    assert "waits_for more frames, or its seal; it is sealed at 20" in shown
    document = json.loads(well(falcon("submission", "show", f"{hosted}/mine", "--format", "json")))
    assert document["due_reason"] == "sealed_when_quiet"


# --- names ----------------------------------------------------------------------------------------


def test_tables_have_short_names_and_documents_full_ones(hosted: str, falcon: Call) -> None:
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", "v1"))
    full = f"benchmarks/{hosted}/submissions/v1"
    for command in (("submission", "list", hosted), ("leaderboard", hosted)):
        assert f"{hosted}/v1" in well(falcon(*command))
        assert "benchmarks/" not in well(falcon(*command))
        assert full in well(falcon(*command, "--format", "csv"))
        assert full in well(falcon(*command, "--format", "json"))


def test_a_name_that_no_submission_can_have_is_refused_with_the_rule(
    hosted: str, falcon: Call
) -> None:
    named = ("--detections", "detections.json", "--name", "Falcon 1")
    result = falcon("submit", hosted, *named)
    assert result.exit_code == ExitCode.INPUT
    assert "lower-case letters, digits and hyphens, a letter first" in result.stderr


@pytest.mark.slow
def test_every_command_accepts_the_short_and_the_full_name(
    hosted: str, organiser: Call, falcon: Call
) -> None:
    long = f"benchmarks/{hosted}"
    well(falcon("submit", long, "--detections", "detections.json", "--name", "v1"))
    names = (f"{hosted}/v1", f"{long}/submissions/v1")
    for name in names:
        for command in ("show", "scores", "watch"):
            well(falcon("submission", command, name))
    for benchmark in (hosted, long):
        for name in ("v1", *names):
            well(organiser("benchmark", "rescore", benchmark, name))
        for command in ("show", "revisions"):
            well(organiser("benchmark", command, benchmark))
        well(falcon("leaderboard", benchmark))


# --- texts for people -----------------------------------------------------------------------------


def test_the_evaluator_that_ranks_is_shown_first(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    name = f"{hosted}-two"
    first = '[[evaluators]]\nname = "f1"\nparameters = { base = "euclidean" }\n\n'
    text = BENCHMARK.replace("[[evaluators]]", f"{first}[[evaluators]]")
    (folder / "two.toml").write_text(text)
    well(organiser("benchmark", "create", name, "two.toml"))
    well(organiser("benchmark", "truth", name, "--truth", "truth.json", "--complete"))
    table = well(falcon("submit", name, "--detections", "detections.json"))
    assert table.index("f1 1.") < table.index("spotgeo 1.")


def test_the_measure_that_ranks_is_shown_first(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    name = f"{hosted}-mse"
    policy = 'ranking_measure = "mse"\nreleased_measures = ["f1"]\n'
    (folder / "mse.toml").write_text(BENCHMARK + policy)
    well(organiser("benchmark", "create", name, "mse.toml"))
    well(organiser("benchmark", "truth", name, "--truth", "truth.json", "--complete"))
    table = well(falcon("submit", name, "--detections", "detections.json"))
    assert table.index("mse ") < table.index("f1 ")


def test_without_a_token_the_error_says_how_to_give_one(hosted: str, site: tuple[str, str]) -> None:
    result = run("benchmark", "show", hosted, env={"VIDSCORE_SERVER": site[0]})
    assert result.exit_code == ExitCode.REFUSED
    assert "VIDSCORE_TOKEN" in result.stderr
    assert "vidscore login" in result.stderr
    assert "metadata" not in result.stderr


def test_deleting_a_benchmark_with_submissions_asks_for_the_option(
    hosted: str, organiser: Call, falcon: Call
) -> None:
    well(falcon("submit", hosted, "--detections", "detections.json"))
    result = organiser("benchmark", "delete", hosted)
    assert result.exit_code == ExitCode.INPUT
    assert "--force deletes them too" in result.stderr


def test_tls_to_a_server_without_it_is_reported_in_one_sentence(site: tuple[str, str]) -> None:
    result = run("benchmark", "list", "--tls", env={"VIDSCORE_SERVER": site[0]})
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "this port is not encrypted; omit --tls" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_update_mentions_rescoring_only_if_scores_are_outdated(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    (folder / "tau.toml").write_text(
        BENCHMARK.replace('name = "spotgeo"', 'name = "spotgeo"\nparameters = { tau = 5.0 }')
    )
    update = ("benchmark", "update", hosted)
    assert "scored again" not in well(organiser(*update, "tau.toml"))
    well(falcon("submit", hosted, "--detections", "detections.json"))
    assert "scored again" in well(organiser(*update, "benchmark.toml"))


def test_an_unknown_part_of_the_board_is_an_error_that_lists_the_known_ones(
    hosted: str, organiser: Call
) -> None:
    well(organiser("submit", hosted, "--detections", "truth.json"))
    wrong = organiser("leaderboard", hosted, "--label", "zebra")
    assert wrong.exit_code == ExitCode.INPUT
    assert "found 'zebra'" in wrong.stderr
    wrong = organiser("leaderboard", hosted, "--evaluator", "spotgio")
    assert wrong.exit_code == ExitCode.INPUT
    assert "expected spotgeo" in wrong.stderr


def test_an_empty_list_says_so(hosted: str, falcon: Call) -> None:
    for command, what in (
        (("submission", "list", hosted), "there are no submissions\n"),
        (("leaderboard", hosted), "the board is empty\n"),
    ):
        result = falcon(*command)
        assert (well(result), result.stderr) == ("", what)
        header = well(falcon(*command, "--format", "csv"))
        assert len(header.splitlines()) == 1
