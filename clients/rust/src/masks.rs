//! Masks of objects: runs of pixels, and the compressed text of COCO's tools for them.

use std::sync::Arc;

use crate::error::{Error, Result};

const ZERO: u8 = b'0';
const DIGIT: u8 = 31;
const SIGN: u8 = 16;
const MORE: u8 = 32;
const DIGIT_BITS: usize = 5;

/// Maximum characters of the difference of two runs.
const LONGEST_NUMBER: usize = 8;

/// The pixels of an object in an image.
///
/// ```
/// use vidscore_client::{Mask, Object};
/// // Two rows and three columns: the object is the second and the third pixel, column after column.
/// let person = Object::rectangle([0.0, 0.0, 2.0, 2.0]).mask(Mask::new(2, 3, [1, 2, 3]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    pub(crate) height: u32,
    pub(crate) width: u32,
    pub(crate) runs: Arc<[u32]>,
}

impl Mask {
    /// A mask of an image of this height and width: lengths of alternating runs of pixels outside
    /// and inside the object, beginning outside, column after column. They fill the image.
    #[must_use]
    pub fn new(height: u32, width: u32, runs: impl Into<Arc<[u32]>>) -> Self {
        Self {
            height,
            width,
            runs: runs.into(),
        }
    }

    /// A mask from the compressed text that COCO's tools write for its runs.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) for any other text.
    pub fn from_text(height: u32, width: u32, text: &str) -> Result<Self> {
        let runs = runs_of(text).ok_or_else(|| {
            let found: String = text.chars().take(80).collect();
            Error::input("mask", format!("{found:?}"), "a compressed text of runs")
        })?;
        Ok(Self::new(height, width, runs))
    }
}

/// Numbers have digits of five bits, the lowest first; from the fourth on, each is the difference
/// to the run before the last one.
fn runs_of(text: &str) -> Option<Vec<u32>> {
    let mut runs: Vec<u32> = Vec::with_capacity(text.len());
    let mut characters = text.bytes();
    while let Some(first) = characters.next() {
        let mut character = first.checked_sub(ZERO)?;
        let (mut number, mut length) = (0_i64, 0);
        loop {
            if character > DIGIT + MORE || length == LONGEST_NUMBER {
                return None;
            }
            number |= i64::from(character & DIGIT) << (DIGIT_BITS * length);
            length += 1;
            if character & MORE == 0 {
                break;
            }
            character = characters.next()?.checked_sub(ZERO)?;
        }
        if character & SIGN != 0 {
            number -= 1 << (DIGIT_BITS * length);
        }
        if runs.len() > 2 {
            number += i64::from(runs[runs.len() - 2]);
        }
        runs.push(u32::try_from(number).ok()?);
    }
    Some(runs)
}
