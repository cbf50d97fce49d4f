//! Scores a file of detections against a file of truth, both in the generic CSV format.
//!
//!     cargo run --example score_file localhost:50051 f1 truth.csv detections.csv

mod table;

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

use csv::{Reader, StringRecord};
use vidscore_client::{Client, Frame, Geometry, Object, ObjectFlags};

const SHAPES: [(Geometry, &str); 3] = [
    (Geometry::Quadrilateral, "x1 y1 x2 y2 x3 y3 x4 y4"),
    (Geometry::Box, "x1 y1 x2 y2"),
    (Geometry::Point, "x y"),
];

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, evaluator, truth, detections] = &arguments[..] else {
        return Err("usage: score_file ADDRESS EVALUATOR TRUTH.csv DETECTIONS.csv".into());
    };
    let (truth_geometry, truth) = read(truth)?;
    let (detection_geometry, detections) = read(detections)?;
    let reports = Client::connect(address)?
        .score([evaluator.as_str()])
        .truth_geometry(truth_geometry)
        .detection_geometry(detection_geometry)
        .run(truth, detections)
        .await?;
    reports.iter().for_each(table::print_scores);
    Ok(())
}

/// The columns of a row by their names.
struct Row<'a> {
    header: &'a StringRecord,
    fields: StringRecord,
}

impl Row<'_> {
    /// A field; empty if there is no such column.
    fn text(&self, name: &str) -> &str {
        let column = self.header.iter().position(|known| known == name);
        column
            .and_then(|column| self.fields.get(column))
            .unwrap_or_default()
    }

    fn number<Number: std::str::FromStr>(&self, name: &str) -> Result<Option<Number>, String> {
        match self.text(name) {
            "" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|_| format!("{name}: found {text:?}")),
        }
    }

    /// The object of the row; `None` if the row only lists its frame.
    fn object(&self, coordinates: &str) -> Result<Option<Object>, Box<dyn Error>> {
        let values: Result<Option<Vec<f64>>, String> = coordinates
            .split(' ')
            .map(|name| self.number(name))
            .collect();
        let Some(values) = values? else {
            return Ok(None);
        };
        let object = Object::from_coordinates(&values)?
            .label(self.text("class"))
            .confidence(self.number("confidence")?.unwrap_or(1.0))
            .track_id(self.number("track_id")?.unwrap_or(-1))
            .flags(flags(self.text("flags")));
        Ok(Some(object))
    }
}

fn flags(words: &str) -> ObjectFlags {
    words
        .split('|')
        .fold(ObjectFlags::default(), |flags, word| match word {
            "ignore" => flags | ObjectFlags::IGNORE,
            "crowd" => flags | ObjectFlags::CROWD,
            "region" => flags | ObjectFlags::REGION,
            "distractor" => flags | ObjectFlags::DISTRACTOR,
            _ => flags,
        })
}

/// Read a file in the generic CSV format: named columns, a row for each object.
fn read(path: &str) -> Result<(Geometry, Vec<Frame>), Box<dyn Error>> {
    let mut reader = Reader::from_path(path).map_err(|error| format!("{path}: {error}"))?;
    let header = reader.headers()?.clone();
    let has = |names: &str| {
        names
            .split(' ')
            .all(|name| header.iter().any(|known| known == name))
    };
    let (geometry, coordinates) = SHAPES
        .into_iter()
        .find(|(_, names)| has(names))
        .ok_or_else(|| format!("{path}: no coordinates among the columns"))?;
    let mut frames: BTreeMap<(String, String, i64), Frame> = BTreeMap::new();
    for fields in reader.records() {
        let row = Row {
            header: &header,
            fields: fields?,
        };
        let number = row
            .number("frame")?
            .ok_or_else(|| format!("{path}: a row has no frame"))?;
        let (domain, sequence) = (row.text("domain"), row.text("sequence"));
        let frame = frames
            .entry((domain.to_owned(), sequence.to_owned(), number))
            .or_insert_with(|| Frame::new(sequence, number).domain(domain));
        if row
            .text("flags")
            .split('|')
            .any(|word| word == "dont_care_frame")
        {
            *frame = frame.clone().dont_care(true);
        }
        if let Some(time_s) = row.number("time_s")? {
            *frame = frame.clone().time_s(time_s);
        }
        if let Some(object) = row.object(coordinates)? {
            *frame = frame.clone().object(object);
        }
    }
    Ok((geometry, frames.into_values().collect()))
}
