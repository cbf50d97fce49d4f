//! Reports: scores with everything needed to interpret them.

use std::collections::BTreeMap;
use std::fmt;

use crate::specification::{decode_parameters, ParameterValue, Specification};
use crate::wire::vidscore::v1 as wire;

/// A score, or a coordinate of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A count.
    Count(i64),
    /// A number.
    Number(f64),
    /// No value, such as precision without detections.
    Undefined,
}

impl Value {
    /// As a number; `None` if it is undefined.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(count as f64),
            Self::Number(number) => Some(number),
            Self::Undefined => None,
        }
    }

    fn decode(message: Option<&wire::Value>) -> Self {
        match message.and_then(|value| value.kind) {
            Some(wire::value::Kind::Count(count)) => Self::Count(count),
            Some(wire::value::Kind::Number(number)) => Self::Number(number),
            None => Self::Undefined,
        }
    }
}

impl fmt::Display for Value {
    /// The value, with the precision that the formatter asks for; a dash if it is undefined.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, formatter.precision()) {
            (Self::Count(count), _) => write!(formatter, "{count}"),
            (Self::Number(number), Some(digits)) => write!(formatter, "{number:.digits$}"),
            (Self::Number(number), None) => write!(formatter, "{number}"),
            (Self::Undefined, _) => formatter.write_str("-"),
        }
    }
}

/// One score with its dimensions; `None` stands for all.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Domain.
    pub domain: Option<String>,
    /// Class.
    pub label: Option<String>,
    /// Sequence.
    pub sequence: Option<String>,
    /// Name of the measure.
    pub measure: String,
    /// The score.
    pub value: Value,
}

/// One coordinate of every point of a curve.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CurveColumn {
    /// Name of the coordinate.
    pub name: String,
    /// Its value at each point.
    pub values: Vec<Value>,
}

/// Points in order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Curve {
    /// Domain; `None` for all.
    pub domain: Option<String>,
    /// Class; `None` for all.
    pub label: Option<String>,
    /// Name of the curve.
    pub name: String,
    /// Coordinates of the points, column by column, all of one length.
    pub columns: Vec<CurveColumn>,
}

/// A doubt for the reader of the scores.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Stable code, lower case with underscores.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// How often it occurs.
    pub count: i64,
}

/// Scores of one evaluator.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Name of the evaluator.
    pub evaluator: String,
    /// Its version.
    pub version: String,
    /// Name of the preset that the evaluator belongs to; `None` if none.
    pub preset: Option<String>,
    /// All parameters with the values that were used.
    pub parameters: Vec<(String, ParameterValue)>,
    /// Fingerprint of the truth: 32 hexadecimal digits, independent of order and batches.
    pub truth_digest: String,
    /// Fingerprint of the detections.
    pub detections_digest: String,
    /// Versions of the server's software on which the last bits may depend, by name.
    pub software: BTreeMap<String, String>,
    /// Specification under which it was scored.
    pub specification: Specification,
    /// All scores.
    pub scores: Vec<Row>,
    /// All curves.
    pub curves: Vec<Curve>,
    /// All warnings.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// A measure over everything: all domains, classes and sequences. `None` if the report has no
    /// such row; [`Value::Undefined`] if the row has no value.
    #[must_use]
    pub fn value(&self, measure: &str) -> Option<Value> {
        self.value_of(measure, None, None, None)
    }

    /// A measure of a domain, a class and a sequence, each `None` for all.
    #[must_use]
    pub fn value_of(
        &self,
        measure: &str,
        domain: Option<&str>,
        label: Option<&str>,
        sequence: Option<&str>,
    ) -> Option<Value> {
        let found = self.scores.iter().find(|row| {
            row.measure == measure
                && row.domain.as_deref() == domain
                && row.label.as_deref() == label
                && row.sequence.as_deref() == sequence
        });
        found.map(|row| row.value)
    }

    pub(crate) fn decode(message: wire::Report) -> Self {
        Self {
            evaluator: message.evaluator,
            version: message.version,
            preset: message.preset,
            parameters: decode_parameters(message.parameters),
            truth_digest: message.truth_digest,
            detections_digest: message.detections_digest,
            software: message.software.into_iter().collect(),
            specification: Specification::decode(message.specification.unwrap_or_default()),
            scores: message.scores.into_iter().map(decode_row).collect(),
            curves: message.curves.into_iter().map(decode_curve).collect(),
            warnings: message.warnings.into_iter().map(decode_warning).collect(),
        }
    }
}

/// How far both sides have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// Number of frames that both sides have sent.
    pub paired_frames: i64,
    /// Number of truth frames without received detections.
    pub frames_waiting_for_detections: i64,
    /// Number of detection frames without received truth.
    pub frames_waiting_for_truth: i64,
}

/// Scores over exactly the frames that both sides have sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LiveReport {
    /// A report for each evaluator, in the requested order.
    pub reports: Vec<Report>,
    /// How far both sides have come.
    pub coverage: Coverage,
}

impl LiveReport {
    pub(crate) fn decode(message: wire::LiveReport) -> Self {
        let coverage = message.coverage.unwrap_or_default();
        Self {
            reports: message.reports.into_iter().map(Report::decode).collect(),
            coverage: Coverage {
                paired_frames: coverage.paired_frames,
                frames_waiting_for_detections: coverage.frames_waiting_for_detections,
                frames_waiting_for_truth: coverage.frames_waiting_for_truth,
            },
        }
    }
}

fn decode_row(message: wire::Score) -> Row {
    Row {
        domain: message.domain,
        label: message.label,
        sequence: message.sequence,
        measure: message.measure,
        value: Value::decode(message.value.as_ref()),
    }
}

fn decode_curve(message: wire::Curve) -> Curve {
    let decode_column = |column: wire::CurveColumn| CurveColumn {
        name: column.name,
        values: column
            .values
            .iter()
            .map(|value| Value::decode(Some(value)))
            .collect(),
    };
    Curve {
        domain: message.domain,
        label: message.label,
        name: message.name,
        columns: message.columns.into_iter().map(decode_column).collect(),
    }
}

fn decode_warning(message: wire::Warning) -> Warning {
    Warning {
        code: message.code,
        message: message.message,
        count: message.count,
    }
}
