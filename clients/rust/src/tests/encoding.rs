//! The message of frames.

use prost::Message;

use crate::encoding::{encode_frames, frame_size};
use crate::frames::{Frame, Geometry, Object, ObjectFlags};
use crate::wire::vidscore::v1 as wire;

#[test]
fn columns_hold_frames_and_objects_in_their_order_with_tables_of_names() {
    let car = Object::point([1.0, 2.0])
        .label("Car")
        .confidence(0.5)
        .track_id(7);
    let person = Object::point([3.0, 4.0])
        .label("Person")
        .flags(ObjectFlags::CROWD);
    let frames = [
        Frame::new("b", 5)
            .domain("Tower")
            .object(person.clone())
            .object(car),
        Frame::new("a", 0).dont_care(true),
        Frame::new("b", 6).domain("Tower").object(person),
    ];
    let key = |domain: &str, sequence: &str| wire::SequenceKey {
        domain: domain.to_owned(),
        sequence: sequence.to_owned(),
    };
    let expected = wire::AnnotationBatch {
        sequences: vec![key("Tower", "b"), key("", "a")],
        labels: vec!["Person".to_owned(), "Car".to_owned()],
        frame_sequences: vec![0, 1, 0],
        frame_numbers: vec![5, 0, 6],
        frame_object_counts: vec![2, 0, 1],
        frame_flags: vec![0, 1, 0],
        geometry: wire::Geometry::Point as i32,
        coordinates: vec![3.0, 4.0, 1.0, 2.0, 3.0, 4.0],
        label_indices: vec![0, 1, 0],
        confidences: vec![1.0, 0.5, 1.0],
        track_ids: vec![-1, 7, -1],
        object_flags: vec![2, 0, 2],
        columns: vec![],
        frame_times_s: vec![],
        ..Default::default()
    };
    assert_eq!(encode_frames(&frames, Geometry::Point), expected);
}

#[test]
fn columns_of_defaults_alone_are_left_out() {
    let frames = [Frame::new("a", 0).object(Object::rectangle([0.0, 0.0, 1.0, 1.0]))];
    let message = encode_frames(&frames, Geometry::Box);
    assert_eq!(message.labels, [""]);
    assert!(message.label_indices.is_empty() && message.confidences.is_empty());
    assert!(message.track_ids.is_empty() && message.object_flags.is_empty());
    assert!(message.frame_flags.is_empty() && message.frame_times_s.is_empty());
}

#[test]
fn a_frame_without_a_time_beside_others_has_none() {
    let frames = [Frame::new("a", 0).time_s(1.5), Frame::new("a", 1)];
    let times_s = encode_frames(&frames, Geometry::Box).frame_times_s;
    assert_eq!(times_s[0], 1.5);
    assert!(times_s[1].is_nan());
}

/// With columns of the longest encodings, apart from the tables of names.
#[test]
fn the_bytes_that_are_counted_are_no_fewer_than_those_that_are_sent() {
    let object = Object::quadrilateral([0.1; 8])
        .label("x")
        .confidence(0.3)
        .track_id(-7)
        .flags(ObjectFlags::DISTRACTOR);
    let frames: Vec<_> = (0..3)
        .map(|number| {
            let objects = std::iter::repeat_n(object.clone(), 200);
            Frame::new("a", (1 << 62) + number)
                .dont_care(true)
                .time_s(0.1)
                .objects(objects)
        })
        .collect();
    let sent = encode_frames(&frames, Geometry::Quadrilateral).encoded_len();
    assert!(sent <= frames.iter().map(frame_size).sum());
}

#[test]
fn objects_have_2_4_or_8_coordinates() {
    for count in [2, 4, 8] {
        assert!(Object::from_coordinates(&vec![1.0; count]).is_ok());
    }
    let error = Object::from_coordinates(&[1.0; 3]).unwrap_err();
    let expected = "coordinates: found 3 coordinates per object, expected 2, 4 or 8";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_frame_is_refused_where_the_stream_has_another_shape() {
    let frame = Frame::new("a", 0).object(Object::point([1.0, 2.0]));
    assert!(frame.check(Geometry::Point).is_ok());
    assert!(frame.check(Geometry::Box).is_err());
}
