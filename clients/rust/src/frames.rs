//! Frames and objects.

use std::fmt;
use std::ops::BitOr;
use std::sync::Arc;

use crate::error::{counted, Error, Result};
use crate::masks::Mask;
use crate::wire::vidscore::v1 as wire;

/// Shape of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Geometry {
    /// Two coordinates: x, y.
    Point,
    /// Four coordinates: x1, y1, x2, y2, two opposite corners of an upright box.
    Box,
    /// Eight coordinates: x1, y1, ..., x4, y4, four corners in order.
    Quadrilateral,
}

impl Geometry {
    /// Number of coordinates of an object.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Self::Point => 2,
            Self::Box => 4,
            Self::Quadrilateral => 8,
        }
    }

    pub(crate) fn of_arity(arity: usize) -> Option<Self> {
        match arity {
            2 => Some(Self::Point),
            4 => Some(Self::Box),
            8 => Some(Self::Quadrilateral),
            _ => None,
        }
    }

    pub(crate) fn encode(self) -> i32 {
        match self {
            Self::Point => wire::Geometry::Point as i32,
            Self::Box => wire::Geometry::Box as i32,
            Self::Quadrilateral => wire::Geometry::Quadrilateral as i32,
        }
    }

    /// The shape that a message names; `None` for one that this client cannot send.
    pub(crate) fn decode(number: i32) -> Option<Self> {
        match wire::Geometry::try_from(number).ok()? {
            wire::Geometry::Unspecified => None,
            wire::Geometry::Point => Some(Self::Point),
            wire::Geometry::Box => Some(Self::Box),
            wire::Geometry::Quadrilateral => Some(Self::Quadrilateral),
        }
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Point => "point",
            Self::Box => "box",
            Self::Quadrilateral => "quadrilateral",
        })
    }
}

/// The side of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The ground truth.
    Truth,
    /// What a system detected.
    Detections,
}

/// Properties of an object; flags are joined by `|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ObjectFlags(u32);

impl ObjectFlags {
    /// A don't-care object: not ground truth, and a detection of it is no false positive.
    pub const IGNORE: Self = Self(1);
    /// A group of objects under one outline.
    pub const CROWD: Self = Self(2);
    /// Not an object but an area in which nothing is scored.
    pub const REGION: Self = Self(4);
    /// An object of a class that systems may confuse with the scored one.
    pub const DISTRACTOR: Self = Self(8);

    /// Flags by their bits on the wire; the server refuses those that it does not know.
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Their bits on the wire.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl BitOr for ObjectFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One object of a frame; coordinates are pixels.
///
/// ```
/// use vidscore_client::Object;
/// let person = Object::rectangle([12.0, 9.0, 51.0, 88.0]).label("Person").confidence(0.9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    pub(crate) corners: [f64; 8],
    pub(crate) arity: usize,
    pub(crate) label: Option<Arc<str>>,
    pub(crate) confidence: f64,
    pub(crate) track_id: i64,
    pub(crate) flags: ObjectFlags,
    pub(crate) mask: Option<Mask>,
}

impl Object {
    /// An object that is a point: x, y.
    #[must_use]
    pub fn point(coordinates: [f64; 2]) -> Self {
        Self::of(&coordinates)
    }

    /// An object in an upright box: x1, y1, x2, y2, two opposite corners.
    #[must_use]
    pub fn rectangle(coordinates: [f64; 4]) -> Self {
        Self::of(&coordinates)
    }

    /// An object with four corners in order: x1, y1, ..., x4, y4.
    #[must_use]
    pub fn quadrilateral(coordinates: [f64; 8]) -> Self {
        Self::of(&coordinates)
    }

    /// An object of 2, 4 or 8 coordinates, as a file or a detector of any shape gives them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) for any other number of them.
    pub fn from_coordinates(coordinates: &[f64]) -> Result<Self> {
        if Geometry::of_arity(coordinates.len()).is_none() {
            let count = counted(coordinates.len() as u64, "coordinate");
            let found = format!("{count} per object");
            return Err(Error::input("coordinates", found, "2, 4 or 8"));
        }
        Ok(Self::of(coordinates))
    }

    /// Its class; without one, the empty label.
    #[must_use]
    pub fn label(mut self, label: impl Into<Arc<str>>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Its confidence, the greater the surer; 1 by default.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Its track id; -1, the default, for none.
    #[must_use]
    pub fn track_id(mut self, track_id: i64) -> Self {
        self.track_id = track_id;
        self
    }

    /// Its flags; only objects of the truth have flags.
    #[must_use]
    pub fn flags(mut self, flags: ObjectFlags) -> Self {
        self.flags = flags;
        self
    }

    /// Its pixels, if it is a box; masks of a frame are sent only if all of its objects have one.
    #[must_use]
    pub fn mask(mut self, mask: Mask) -> Self {
        self.mask = Some(mask);
        self
    }

    pub(crate) fn coordinates(&self) -> &[f64] {
        &self.corners[..self.arity]
    }

    fn of(coordinates: &[f64]) -> Self {
        let mut corners = [0.0; 8];
        corners[..coordinates.len()].copy_from_slice(coordinates);
        Self {
            corners,
            arity: coordinates.len(),
            label: None,
            confidence: 1.0,
            track_id: -1,
            flags: ObjectFlags::default(),
            mask: None,
        }
    }
}

/// One whole frame of one side; a frame without objects is sent too.
///
/// ```
/// use vidscore_client::{Frame, Object};
/// let frame = Frame::new("walk", 7)
///     .domain("Tower")
///     .object(Object::rectangle([12.0, 9.0, 51.0, 88.0]).label("Person"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub(crate) domain: Arc<str>,
    pub(crate) sequence: Arc<str>,
    pub(crate) number: i64,
    pub(crate) objects: Vec<Object>,
    pub(crate) dont_care: bool,
    pub(crate) time_s: Option<f64>,
}

impl Frame {
    /// A frame of a video, without objects yet.
    #[must_use]
    pub fn new(sequence: impl Into<Arc<str>>, number: i64) -> Self {
        Self {
            domain: Arc::from(""),
            sequence: sequence.into(),
            number,
            objects: Vec::new(),
            dont_care: false,
            time_s: None,
        }
    }

    /// Domain of the video, if there are several.
    #[must_use]
    pub fn domain(mut self, domain: impl Into<Arc<str>>) -> Self {
        self.domain = domain.into();
        self
    }

    /// Capture time of the frame, in seconds on any one clock; unknown by default.
    #[must_use]
    pub fn time_s(mut self, time_s: f64) -> Self {
        self.time_s = Some(time_s);
        self
    }

    /// Add an object.
    #[must_use]
    pub fn object(mut self, object: Object) -> Self {
        self.objects.push(object);
        self
    }

    /// Add objects.
    #[must_use]
    pub fn objects(mut self, objects: impl IntoIterator<Item = Object>) -> Self {
        self.objects.extend(objects);
        self
    }

    /// Whether the frame is left out of all counts and averages; only for frames of the truth.
    #[must_use]
    pub fn dont_care(mut self, dont_care: bool) -> Self {
        self.dont_care = dont_care;
        self
    }

    /// Whether all objects have masks; none if there are no objects.
    pub(crate) fn masked(&self) -> Option<bool> {
        let known = |object: &Object| object.mask.is_some();
        (!self.objects.is_empty()).then(|| self.objects.iter().all(known))
    }

    /// Refuse objects whose shape differs from that of the stream.
    pub(crate) fn check(&self, geometry: Geometry) -> Result<()> {
        match self
            .objects
            .iter()
            .find(|object| object.arity != geometry.arity())
        {
            None => Ok(()),
            Some(object) => Err(Error::input(
                "coordinates",
                format!("{} coordinates per object", object.arity),
                format!(
                    "{}, because the stream has {geometry} objects",
                    geometry.arity()
                ),
            )),
        }
    }
}
