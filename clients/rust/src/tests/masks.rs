//! The message of masks.

use crate::encoding::{encode_frames, frame_size};
use crate::frames::{Frame, Geometry, Object};
use crate::masks::Mask;

fn masked(mask: Mask) -> Object {
    Object::rectangle([0.0, 0.0, 3.0, 2.0]).mask(mask)
}

/// The vector of all clients: 480 by 640 pixels, as pycocotools writes them.
#[test]
fn the_text_of_a_mask_is_its_runs() {
    let mask = Mask::from_text(480, 640, "32n0Vo0SOPRO[nZ9").unwrap();
    assert_eq!(mask, Mask::new(480, 640, [3, 2, 30, 1000, 1, 40, 306_124]));
}

#[test]
fn a_text_that_is_none_is_refused() {
    for text in ["/", "p", "V", "é", "O", "ooooooooo0", "00006O"] {
        assert!(Mask::from_text(2, 3, text).is_err(), "{text}");
    }
}

#[test]
fn masks_are_columns() {
    let (one, other) = (Mask::new(2, 3, [1, 2, 3]), Mask::new(2, 3, [0, 6]));
    let frames = [
        Frame::new("a", 0)
            .object(masked(one))
            .object(masked(other.clone())),
        Frame::new("a", 1),
        Frame::new("a", 2).object(masked(other)),
    ];
    let message = encode_frames(&frames, Geometry::Box);
    assert_eq!(message.mask_heights, [2, 2, 2]);
    assert_eq!(message.mask_widths, [3, 3, 3]);
    assert_eq!(message.mask_run_counts, [3, 2, 2]);
    assert_eq!(message.mask_runs, [1, 2, 3, 0, 6, 0, 6]);
}

#[test]
fn a_message_has_masks_of_all_objects_or_of_none() {
    let plain = Object::rectangle([0.0, 0.0, 3.0, 2.0]);
    let frames = [Frame::new("a", 0)
        .object(masked(Mask::new(1, 1, [1])))
        .object(plain)];
    let message = encode_frames(&frames, Geometry::Box);
    assert!(message.mask_heights.is_empty() && message.mask_runs.is_empty());
}

#[test]
fn the_bytes_of_masks_count() {
    let plain = Frame::new("a", 0).object(Object::rectangle([0.0, 0.0, 3.0, 2.0]));
    let frame = Frame::new("a", 0).object(masked(Mask::new(2, 3, [1, 2, 3])));
    assert_eq!(frame_size(&frame) - frame_size(&plain), 15 + 3 * 5);
}
