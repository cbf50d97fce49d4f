//! The file of frames of a runner.

use std::fs;

use serde_json::Value as Json;
use vidscore_client::{
    Domain, Evaluator, Frame, FrameRange, Geometry, Mask, Object, ObjectFlags, ParameterValue,
    Sequence, Specification,
};

use crate::arguments::misuse;
use crate::Outcome;

/// What to score, and how.
pub struct FramesFile {
    pub evaluators: Vec<Evaluator>,
    pub specification: Specification,
    pub truth_geometry: Geometry,
    pub detection_geometry: Geometry,
    truth: Vec<Json>,
    detections: Vec<Json>,
}

impl FramesFile {
    pub fn read(path: &str) -> Outcome<Self> {
        let text = fs::read_to_string(path).map_err(|error| misuse(&format!("{path}: {error}")))?;
        let document: Json =
            serde_json::from_str(&text).map_err(|error| misuse(&format!("{path}: {error}")))?;
        let configuration = &document["configuration"];
        Ok(Self {
            evaluators: list(&configuration["evaluators"]).map(evaluator).collect(),
            specification: specification(&configuration["specification"]),
            truth_geometry: geometry(&configuration["truth_geometry"])?,
            detection_geometry: geometry(&configuration["detection_geometry"])?,
            truth: list(&document["truth"]).cloned().collect(),
            detections: list(&document["detections"]).cloned().collect(),
        })
    }

    /// Frames are made one by one, so that a wrong one is reported in its turn.
    pub fn truth(&self) -> impl Iterator<Item = vidscore_client::Result<Frame>> + '_ {
        self.truth.iter().map(frame)
    }

    /// Frames of the detections, likewise.
    pub fn detections(&self) -> impl Iterator<Item = vidscore_client::Result<Frame>> + '_ {
        self.detections.iter().map(frame)
    }

    pub fn detection_count(&self) -> u64 {
        self.detections.len() as u64
    }
}

fn frame(document: &Json) -> vidscore_client::Result<Frame> {
    let objects: vidscore_client::Result<Vec<_>> = list(&document["objects"]).map(object).collect();
    let frame = Frame::new(
        text(&document["sequence"]),
        document["frame"].as_i64().unwrap_or_default(),
    )
    .domain(text(&document["domain"]))
    .dont_care(document["dont_care"].as_bool().unwrap_or(false))
    .objects(objects?);
    Ok(match document["time_s"].as_f64() {
        Some(time_s) => frame.time_s(time_s),
        None => frame,
    })
}

fn object(document: &Json) -> vidscore_client::Result<Object> {
    let coordinates: Vec<_> = list(&document["coordinates"])
        .filter_map(Json::as_f64)
        .collect();
    let flags = document["flags"]
        .as_u64()
        .and_then(|bits| u32::try_from(bits).ok());
    let object = Object::from_coordinates(&coordinates)?
        .label(text(&document["label"]))
        .confidence(document["confidence"].as_f64().unwrap_or(1.0))
        .track_id(document["track_id"].as_i64().unwrap_or(-1))
        .flags(ObjectFlags::from_bits(flags.unwrap_or(0)));
    Ok(match &document["mask"] {
        Json::Null => object,
        mask => object.mask(mask_of(mask)?),
    })
}

fn mask_of(document: &Json) -> vidscore_client::Result<Mask> {
    let whole = |value: &Json| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let (height, width) = (&document["size"][0], &document["size"][1]);
    let (height, width) = (whole(height).unwrap_or(0), whole(width).unwrap_or(0));
    match &document["text"] {
        Json::String(text) => Mask::from_text(height, width, text),
        _ => {
            let runs: Vec<_> = list(&document["runs"]).filter_map(whole).collect();
            Ok(Mask::new(height, width, runs))
        }
    }
}

fn geometry(document: &Json) -> Outcome<Geometry> {
    match text(document) {
        "point" => Ok(Geometry::Point),
        "box" => Ok(Geometry::Box),
        "quadrilateral" => Ok(Geometry::Quadrilateral),
        other => Err(misuse(other)),
    }
}

fn evaluator(document: &Json) -> Evaluator {
    let parameters = document["parameters"].as_object().into_iter().flatten();
    parameters.fold(
        Evaluator::new(text(&document["name"])),
        |chosen, (name, value)| chosen.parameter(name, parameter(value)),
    )
}

fn parameter(document: &Json) -> ParameterValue {
    match document {
        Json::Bool(value) => (*value).into(),
        Json::String(value) => value.as_str().into(),
        Json::Array(values) if values.iter().any(Json::is_string) => values
            .iter()
            .map(|value| text(value).to_owned())
            .collect::<Vec<_>>()
            .into(),
        Json::Array(values) => values
            .iter()
            .filter_map(Json::as_f64)
            .collect::<Vec<_>>()
            .into(),
        number => match number.as_i64() {
            Some(value) => value.into(),
            None => number.as_f64().unwrap_or(f64::NAN).into(),
        },
    }
}

/// A specification in the JSON form of its message.
fn specification(document: &Json) -> Specification {
    Specification {
        title: text(&document["title"]).to_owned(),
        evaluators: list(&document["evaluators"]).map(evaluator).collect(),
        domains: list(&document["domains"]).map(domain).collect(),
        sequences: list(&document["sequences"]).map(sequence).collect(),
        classes: document.get("classes").map(names),
    }
}

fn names(classes: &Json) -> Vec<String> {
    list(&classes["names"])
        .map(|name| text(name).to_owned())
        .collect()
}

fn domain(document: &Json) -> Domain {
    Domain {
        name: text(&document["name"]).to_owned(),
        classes: document.get("classes").map(names),
    }
}

fn sequence(document: &Json) -> Sequence {
    let small = |name| whole(document, name).and_then(|number| i32::try_from(number).ok());
    Sequence {
        domain: text(&document["domain"]).to_owned(),
        name: text(&document["name"]).to_owned(),
        frame_count: whole(document, "frameCount"),
        first_frame: whole(document, "firstFrame").unwrap_or(0),
        frames: document
            .get("frames")
            .map(|frames| ranges(&frames["ranges"])),
        dont_care_frames: ranges(&document["dontCareFrames"]),
        image_width: small("imageWidth"),
        image_height: small("imageHeight"),
    }
}

fn ranges(document: &Json) -> Vec<FrameRange> {
    let end = |range, name| whole(range, name).unwrap_or(0);
    list(document)
        .map(|range| FrameRange {
            first: end(range, "first"),
            last: end(range, "last"),
        })
        .collect()
}

/// An integer; 64-bit integers are strings in JSON.
fn whole(document: &Json, name: &str) -> Option<i64> {
    let value = document.get(name)?;
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

fn list(document: &Json) -> impl Iterator<Item = &Json> {
    document.as_array().into_iter().flatten()
}

fn text(document: &Json) -> &str {
    document.as_str().unwrap_or_default()
}
