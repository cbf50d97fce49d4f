//! Descriptions of a server's evaluators.

use prost_types::value::Kind;
use serde_json::Value as Json;

use crate::frames::Geometry;
use crate::wire::vidscore::v1 as wire;

const NAME_PREFIX: &str = "evaluators/";

/// Which values of a measure are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
    /// The measure alone says nothing about quality.
    None,
}

/// One score that an evaluator reports.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measure {
    /// Name in reports.
    pub name: String,
    /// Its meaning, in one sentence.
    pub description: String,
    /// Unit, such as `count`, `ratio`, `px` or `px^2`.
    pub unit: String,
    /// Lower bound; `None` if there is none.
    pub minimum: Option<f64>,
    /// Upper bound; `None` if there is none.
    pub maximum: Option<f64>,
    /// Which values are better.
    pub direction: Direction,
    /// How values over many frames are combined: `pooled`, `mean` or `median`.
    pub averaging: String,
}

/// The rules of one benchmark protocol or criterion, as a server has them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EvaluatorDescription {
    /// Name by which it is chosen.
    pub name: String,
    /// Increases whenever a score may change.
    pub version: String,
    /// One line for lists.
    pub title: String,
    /// Task of the judged systems: `detection` or `tracking`.
    pub task: String,
    /// JSON Schema of its parameters.
    pub parameters_schema: Json,
    /// All measures that a report may have.
    pub measures: Vec<Measure>,
    /// Measures that order systems, first one first.
    pub ranking: Vec<String>,
    /// Shapes that objects of the truth may have, among those that can be sent.
    pub truth_geometries: Vec<Geometry>,
    /// Shapes that detections may have, among those that can be sent.
    pub detection_geometries: Vec<Geometry>,
    /// Whether it uses confidences.
    pub uses_confidences: bool,
    /// Whether objects must have a track id.
    pub needs_tracks: bool,
}

impl EvaluatorDescription {
    pub(crate) fn decode(message: wire::Evaluator) -> Self {
        Self {
            name: message
                .name
                .strip_prefix(NAME_PREFIX)
                .unwrap_or(&message.name)
                .to_owned(),
            version: message.version,
            title: message.title,
            task: message.task,
            parameters_schema: decode_struct(message.parameters_schema.unwrap_or_default()),
            measures: message.measures.into_iter().map(decode_measure).collect(),
            ranking: message.ranking,
            truth_geometries: decode_geometries(&message.truth_geometries),
            detection_geometries: decode_geometries(&message.detection_geometries),
            uses_confidences: message.uses_confidences,
            needs_tracks: message.needs_tracks,
        }
    }
}

/// Full name of an evaluator.
pub(crate) fn evaluator_name(name: &str) -> String {
    format!("{NAME_PREFIX}{name}")
}

fn decode_measure(message: wire::Measure) -> Measure {
    Measure {
        direction: match message.direction() {
            wire::Direction::Higher => Direction::Higher,
            wire::Direction::Lower => Direction::Lower,
            wire::Direction::None | wire::Direction::Unspecified => Direction::None,
        },
        name: message.name,
        description: message.description,
        unit: message.unit,
        minimum: message.minimum,
        maximum: message.maximum,
        averaging: message.averaging,
    }
}

fn decode_geometries(numbers: &[i32]) -> Vec<Geometry> {
    numbers
        .iter()
        .copied()
        .filter_map(Geometry::decode)
        .collect()
}

fn decode_struct(message: prost_types::Struct) -> Json {
    message
        .fields
        .into_iter()
        .map(|(name, value)| (name, decode_value(value)))
        .collect()
}

fn decode_value(message: prost_types::Value) -> Json {
    match message.kind {
        None | Some(Kind::NullValue(_)) => Json::Null,
        Some(Kind::BoolValue(value)) => Json::from(value),
        Some(Kind::NumberValue(value)) => Json::from(value),
        Some(Kind::StringValue(value)) => Json::from(value),
        Some(Kind::ListValue(list)) => list.values.into_iter().map(decode_value).collect(),
        Some(Kind::StructValue(fields)) => decode_struct(fields),
    }
}
