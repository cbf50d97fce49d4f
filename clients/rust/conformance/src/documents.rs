//! The documents that a runner prints, from the results of the client.

use serde_json::{json, Map, Value as Json};
use vidscore_client::{
    Curve, Error, EvaluatorDescription, LeaderboardRow, LiveReport, ParameterValue, Report, Row,
    Submission, SubmissionScore, Value,
};

/// A typed error.
pub fn error(error: &Error) -> Json {
    let violations: Vec<_> = error
        .violations()
        .iter()
        .map(|wrong| json!({"field": wrong.field, "description": wrong.description}))
        .collect();
    json!({"error": {
        "kind": error.kind().as_str(),
        "code": error.code(),
        "reason": error.reason(),
        "message": error.message(),
        "retryable": error.is_retryable(),
        "violations": violations,
        "violation_count": error.violation_count(),
        "metadata": error.metadata(),
    }})
}

/// An evaluator.
pub fn evaluator(evaluator: &EvaluatorDescription) -> Json {
    let measures: Vec<_> = evaluator
        .measures
        .iter()
        .map(|measure| &measure.name)
        .collect();
    json!({
        "name": evaluator.name,
        "version": evaluator.version,
        "title": evaluator.title,
        "measures": measures,
    })
}

/// A report.
pub fn report(report: &Report) -> Json {
    let parameters: Map<_, _> = report
        .parameters
        .iter()
        .map(|(name, value)| (name.clone(), parameter(value)))
        .collect();
    let warnings: Vec<_> = report
        .warnings
        .iter()
        .map(|warning| {
            json!({"code": warning.code, "message": warning.message, "count": warning.count})
        })
        .collect();
    json!({
        "evaluator": report.evaluator,
        "version": report.version,
        "parameters": parameters,
        "truth_digest": report.truth_digest,
        "detections_digest": report.detections_digest,
        "scores": report.scores.iter().map(row).collect::<Vec<_>>(),
        "curves": report.curves.iter().map(curve).collect::<Vec<_>>(),
        "warnings": warnings,
    })
}

/// How far both sides had come at a live report.
pub fn live(live: &LiveReport) -> Json {
    json!({
        "paired_frames": live.coverage.paired_frames,
        "frames_waiting_for_detections": live.coverage.frames_waiting_for_detections,
        "frames_waiting_for_truth": live.coverage.frames_waiting_for_truth,
    })
}

/// A score of a submission.
pub fn score(score: &SubmissionScore) -> Json {
    json!({
        "partial": score.partial,
        "current": score.current,
        "report": report(&score.report),
    })
}

/// A submission.
pub fn submission(submission: &Submission) -> Json {
    let streams: Vec<_> = submission
        .streams
        .iter()
        .map(|stream| {
            json!({
                "stream": stream.stream,
                "epoch": stream.epoch,
                "next_offset": stream.next_offset,
            })
        })
        .collect();
    json!({
        "name": submission.name,
        "team": submission.team,
        "title": submission.title,
        "state": submission.state.as_str(),
        "state_reason": submission.state_reason,
        "frame_count": submission.frame_count,
        "streams": streams,
        "warnings": submission.warnings,
    })
}

/// A row of a leaderboard.
pub fn leaderboard_row(row: &LeaderboardRow) -> Json {
    json!({
        "rank": row.rank,
        "team": row.team,
        "submission": row.submission,
        "values": row.scores,
    })
}

fn parameter(value: &ParameterValue) -> Json {
    match value {
        ParameterValue::Boolean(value) => json!(value),
        ParameterValue::Integer(value) => json!(value),
        ParameterValue::Number(value) => json!(value),
        ParameterValue::Text(value) => json!(value),
        ParameterValue::Numbers(values) => json!(values),
        ParameterValue::Texts(values) => json!(values),
        _ => Json::Null,
    }
}

fn row(row: &Row) -> Json {
    let kind = match row.value {
        Value::Count(_) => "count",
        Value::Number(_) => "number",
        Value::Undefined => "undefined",
    };
    json!({
        "domain": row.domain,
        "label": row.label,
        "sequence": row.sequence,
        "measure": row.measure,
        "value": number(row.value),
        "kind": kind,
    })
}

fn curve(curve: &Curve) -> Json {
    let columns: Vec<_> = curve
        .columns
        .iter()
        .map(|column| {
            let values: Vec<_> = column.values.iter().map(|value| number(*value)).collect();
            json!({"name": column.name, "values": values})
        })
        .collect();
    json!({
        "name": curve.name,
        "domain": curve.domain,
        "label": curve.label,
        "columns": columns,
    })
}

fn number(value: Value) -> Json {
    match value {
        Value::Count(count) => json!(count),
        Value::Number(number) => json!(number),
        Value::Undefined => Json::Null,
    }
}
