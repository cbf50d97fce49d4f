"""The programs of docs/integrations.md against the real packages, offline."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integrations.recipes import AP_50, FOUND, TRUTH, run_program, table

import vidscore

pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def report() -> vidscore.Report:
    return vidscore.score("map", table([TRUTH, TRUTH]), table([FOUND, FOUND]))


def test_detections_of_supervision_are_scored() -> None:
    sv = pytest.importorskip("supervision")
    names = {"class_name": np.array(["car", "person"])}
    truth = sv.Detections(xyxy=TRUTH, class_id=np.array([0, 1]), data=names)
    found = sv.Detections(
        xyxy=FOUND, class_id=np.array([0, 1]), confidence=np.array([0.9, 0.8]), data=names
    )
    score = run_program("score_supervision.py")["score_detections"]
    report = score([truth, truth], [found, found])
    assert {label: report.value("ap_50", label=label) for label in AP_50} == AP_50


def test_mlflow_stores_the_scores_and_the_report(
    report: vidscore.Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("detector")
    with mlflow.start_run() as run:
        run_program("log_to_mlflow.py")["log_report"](report, step=3)
    kept = mlflow.get_run(run.info.run_id)
    assert kept.data.metrics["map/car/ap_50"] == 1.0
    assert kept.data.metrics["map/person/ap_50"] == 0.0
    [history] = mlflow.MlflowClient().get_metric_history(run.info.run_id, "map/ap")
    assert (history.step, history.value) == (3, report.value("ap"))
    text = mlflow.artifacts.load_text(f"{kept.info.artifact_uri}/map.json")
    assert text == report.to_json()


def test_weights_and_biases_stores_the_scores(report: vidscore.Report, tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb")
    with wandb.init(project="detector", mode="offline", dir=tmp_path) as run:
        run_program("log_to_wandb.py")["log_report"](run, report, step=3)
        run.log({"epoch": 4}, step=4)  # A step is stored when the next one begins.
        assert run.summary["map/car/ap_50"] == 1.0
        assert run.summary["map/ap"] == report.value("ap")


def test_tensorboard_reads_the_scores(report: vidscore.Report, tmp_path: Path) -> None:
    summary = pytest.importorskip("tensorboard.summary")
    events_of = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    tensors = pytest.importorskip("tensorboard.util.tensor_util")

    with closing(summary.Writer(str(tmp_path))) as writer:
        run_program("log_to_tensorboard.py")["log_report"](writer, report, 3)
    events = events_of.EventAccumulator(str(tmp_path))
    events.Reload()
    [event] = events.Tensors("map/car/ap_50")
    assert (event.step, tensors.make_ndarray(event.tensor_proto).item()) == (3, 1.0)


def test_rerun_records_the_outcome_of_each_box(tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    names = run_program("export_to_rerun.py")
    told: list[tuple[int, dict[str, Any]]] = []
    real, now = names["rr"], [-1]

    class Listening:
        """The real package, with a record of its calls."""

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def set_time(self, timeline: str, *, sequence: int) -> None:
            now[0] = sequence
            real.set_time(timeline, sequence=sequence)

        def Boxes2D(self, **given: Any) -> Any:  # noqa: N802 - the package's name
            told.append((now[0], given))
            return real.Boxes2D(**given)

    names["rr"] = Listening()
    file = tmp_path / "street.rrd"
    for name, boxes in (("truth.csv", TRUTH), ("found.csv", FOUND)):
        columns = table([boxes, boxes])
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines))
    names["export"](tmp_path / "truth.csv", tmp_path / "found.csv", "f1", str(file))
    assert file.read_bytes()[:4] == b"RRF2"
    assert [(frame, given["labels"]) for frame, given in told] == [
        (0, ["true_positive", "false_negative"]),
        (1, ["true_positive", "false_negative"]),
        (0, ["true_positive", "false_positive"]),
        (1, ["true_positive", "false_positive"]),
    ]
    assert told[2][1]["array"].tolist() == FOUND.tolist()
    assert told[0][1]["array"].tolist() == TRUTH.tolist()


@pytest.fixture
def sample() -> Any:
    fo = pytest.importorskip("fiftyone")

    def detections(boxes: list[list[float]], **more: list[float]) -> Any:
        rows = [dict(zip(more, values, strict=True)) for values in zip(*more.values(), strict=True)]
        rows = rows or [{}] * len(boxes)
        return fo.Detections(
            detections=[
                fo.Detection(label=label, bounding_box=box, **row)
                for label, box, row in zip(("car", "person"), boxes, rows, strict=True)
            ]
        )

    return fo.Sample(
        filepath="street.png",
        truth=detections([[0.1, 0.1, 0.4, 0.4], [0.6, 0.1, 0.2, 0.5]]),
        found=detections([[0.12, 0.1, 0.4, 0.4], [0.1, 0.6, 0.2, 0.3]], confidence=[0.9, 0.8]),
    )


def test_fiftyone_gets_matches_and_counts(sample: Any) -> None:
    names = run_program("fiftyone_vidscore.py")
    fo = pytest.importorskip("fiftyone")
    assert fo.evaluation_config.detection_backends["vidscore"]["config_cls"].__name__ == (
        "VidscoreEvaluationConfig"
    )
    config = names["VidscoreEvaluationConfig"]("found", "truth", iou=0.5)
    matches = names["VidscoreEvaluation"](config).evaluate(sample, "eval")
    car, person = sample.truth.detections
    right, wrong = sample.found.detections
    # The cars overlap in 0.38 of 0.42 of their width.
    iou = 0.38 / 0.42
    assert sorted(matches, key=str) == sorted(
        [
            ("car", "car", pytest.approx(iou), 0.9, car.id, right.id),
            ("person", None, None, None, person.id, None),
            (None, "person", None, 0.8, None, wrong.id),
        ],
        key=str,
    )
    assert [sample[f"eval_{word}"] for word in ("tp", "fp", "fn")] == [1, 1, 1]
    assert [entry["eval"] for entry in (car, person, right, wrong)] == ["tp", "fn", "tp", "fp"]
    assert (car["eval_id"], right["eval_id"]) == (right.id, car.id)


@pytest.mark.parametrize("field", ["truth", "found", "both"])
def test_fiftyone_samples_may_have_nothing_on_a_side(sample: Any, field: str) -> None:
    names = run_program("fiftyone_vidscore.py")
    for name in ("truth", "found") if field == "both" else (field,):
        sample[name] = None
    config = names["VidscoreEvaluationConfig"]("found", "truth", iou=0.5)
    matches = names["VidscoreEvaluation"](config).evaluate(sample, "eval")
    expected = {"truth": [0, 2, 0], "found": [0, 0, 2], "both": [0, 0, 0]}[field]
    assert [sample[f"eval_{word}"] for word in ("tp", "fp", "fn")] == expected
    assert len(matches) == sum(expected)
