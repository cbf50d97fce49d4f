//! From frames to the messages of the wire.

use std::collections::HashMap;
use std::sync::Arc;

use crate::frames::{Frame, Geometry, Object};
use crate::masks::Mask;
use crate::wire::vidscore::v1 as wire;

/// Maximum bytes that a frame adds to a message, without its objects: number 8, time 8, and 8 for
/// row of its sequence, count of objects and flags.
pub(crate) const FRAME_BYTES: usize = 24;

/// Maximum bytes that an object adds besides its coordinates: confidence 8, track id 10, label 5,
/// flags 1.
pub(crate) const OBJECT_BYTES: usize = 24;

/// Maximum bytes that a mask adds without its runs, and that a run adds.
const MASK_BYTES: usize = 15;
const RUN_BYTES: usize = 5;

const DONT_CARE: u32 = 1;

/// Maximum bytes of the message that a frame would make, without its tables.
pub(crate) fn frame_size(frame: &Frame) -> usize {
    let objects = frame
        .objects
        .iter()
        .map(|object| OBJECT_BYTES + 8 * object.arity + object.mask.as_ref().map_or(0, mask_size));
    FRAME_BYTES + objects.sum::<usize>()
}

fn mask_size(mask: &Mask) -> usize {
    MASK_BYTES + RUN_BYTES * mask.runs.len()
}

/// Frames as columns: only the names in use, and no columns with only default values. Equal frames
/// give equal bytes.
pub(crate) fn encode_frames(frames: &[Frame], geometry: Geometry) -> wire::AnnotationBatch {
    let (sequences, frame_sequences) = table(
        frames
            .iter()
            .map(|frame| (frame.domain.clone(), frame.sequence.clone())),
    );
    let (labels, label_indices) =
        table(objects(frames).map(|object| object.label.clone().unwrap_or_default()));
    let masks = masks(frames);
    wire::AnnotationBatch {
        sequences: sequences.iter().map(sequence_key).collect(),
        labels: labels.iter().map(ToString::to_string).collect(),
        frame_sequences,
        frame_numbers: frames.iter().map(|frame| frame.number).collect(),
        frame_object_counts: frames.iter().map(|frame| count(&frame.objects)).collect(),
        frame_flags: unless_all(0, frames.iter().map(frame_flags)),
        geometry: geometry.encode(),
        coordinates: objects(frames)
            .flat_map(Object::coordinates)
            .copied()
            .collect(),
        label_indices: unless_all(0, label_indices.into_iter()),
        confidences: unless_all(1.0, objects(frames).map(|object| object.confidence)),
        track_ids: unless_all(-1, objects(frames).map(|object| object.track_id)),
        object_flags: unless_all(0, objects(frames).map(|object| object.flags.bits())),
        columns: Vec::new(),
        frame_times_s: times_s(frames),
        mask_heights: masks.iter().map(|mask| mask.height).collect(),
        mask_widths: masks.iter().map(|mask| mask.width).collect(),
        mask_run_counts: masks.iter().map(|mask| count(&mask.runs)).collect(),
        mask_runs: masks
            .iter()
            .flat_map(|mask| mask.runs.iter().copied())
            .collect(),
    }
}

/// The time of each frame, NaN if it is unknown; empty if all are.
fn times_s(frames: &[Frame]) -> Vec<f64> {
    let column: Vec<_> = frames
        .iter()
        .map(|frame| frame.time_s.unwrap_or(f64::NAN))
        .collect();
    if column.iter().all(|time_s| time_s.is_nan()) {
        return Vec::new();
    }
    column
}

/// The masks of all objects; none if an object has none.
fn masks(frames: &[Frame]) -> Vec<&Mask> {
    let masks: Option<Vec<_>> = objects(frames).map(|object| object.mask.as_ref()).collect();
    masks.unwrap_or_default()
}

fn objects(frames: &[Frame]) -> impl Iterator<Item = &Object> {
    frames.iter().flat_map(|frame| &frame.objects)
}

fn sequence_key((domain, sequence): &(Arc<str>, Arc<str>)) -> wire::SequenceKey {
    wire::SequenceKey {
        domain: domain.to_string(),
        sequence: sequence.to_string(),
    }
}

fn frame_flags(frame: &Frame) -> u32 {
    if frame.dont_care {
        DONT_CARE
    } else {
        0
    }
}

fn count<Entry>(entries: &[Entry]) -> u32 {
    u32::try_from(entries.len()).unwrap_or(u32::MAX)
}

/// Each name once, in order of appearance, and for each entry its row.
fn table<Name: Clone + Eq + std::hash::Hash>(
    names: impl Iterator<Item = Name>,
) -> (Vec<Name>, Vec<u32>) {
    let mut known = Vec::new();
    let mut rows = HashMap::new();
    let indices = names
        .map(|name| {
            *rows.entry(name).or_insert_with_key(|name| {
                known.push(name.clone());
                known.len() as u32 - 1
            })
        })
        .collect();
    (known, indices)
}

fn unless_all<Value: PartialEq>(default: Value, values: impl Iterator<Item = Value>) -> Vec<Value> {
    let column: Vec<_> = values.collect();
    if column.iter().all(|value| *value == default) {
        return Vec::new();
    }
    column
}
