//! Facts about a benchmark that the data cannot give.

use crate::error::{Error, Result};
use crate::wire::vidscore::v1 as wire;
use wire::parameter::Value as WireValue;

/// A value of an evaluator's parameter, of the type that the evaluator declares.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParameterValue {
    /// True or false.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// Several numbers.
    Numbers(Vec<f64>),
    /// Several strings.
    Texts(Vec<String>),
}

macro_rules! parameter_from {
    ($($from:ty => $variant:ident),* $(,)?) => { $(
        impl From<$from> for ParameterValue {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )* };
}

parameter_from! {
    bool => Boolean, i32 => Integer, i64 => Integer, u32 => Integer, f64 => Number, &str => Text,
    String => Text, Vec<f64> => Numbers, Vec<String> => Texts,
}

/// An evaluator with the parameters that differ from its defaults.
///
/// ```
/// use vidscore_client::Evaluator;
/// let strict = Evaluator::new("neovision2").parameter("overlap_threshold", 0.5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluator {
    /// Its name, as in [`Client::evaluators`](crate::Client::evaluators).
    pub name: String,
    /// Parameters by name; those left out have their defaults.
    pub parameters: Vec<(String, ParameterValue)>,
}

impl Evaluator {
    /// An evaluator with its defaults.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            parameters: Vec::new(),
        }
    }

    /// Choose the value of a parameter.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<ParameterValue>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    fn encode(&self) -> wire::EvaluatorSpec {
        wire::EvaluatorSpec {
            name: self.name.clone(),
            parameters: self.parameters.iter().map(encode_parameter).collect(),
        }
    }

    fn decode(message: wire::EvaluatorSpec) -> Self {
        Self {
            name: message.name,
            parameters: decode_parameters(message.parameters),
        }
    }
}

impl From<&str> for Evaluator {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Evaluator {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

/// A domain: a group of videos.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// Classes that are scored in it; `None` for those of the specification.
    pub classes: Option<Vec<String>>,
}

/// Consecutive frames, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    /// Number of the first frame.
    pub first: i64,
    /// Number of the last frame.
    pub last: i64,
}

/// One video.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// Its domain; empty if there is only one.
    pub domain: String,
    /// Its name within the domain.
    pub name: String,
    /// Number of its frames, numbered from `first_frame` on.
    pub frame_count: Option<i64>,
    /// Number of its first frame.
    pub first_frame: i64,
    /// Frames that are evaluated; `None` for all of `frame_count` or, without that, for those that
    /// the truth lists.
    pub frames: Option<Vec<FrameRange>>,
    /// Frames that are left out of all counts and averages.
    pub dont_care_frames: Vec<FrameRange>,
    /// Width of the image in pixels.
    pub image_width: Option<i32>,
    /// Height of the image in pixels.
    pub image_height: Option<i32>,
}

/// A benchmark: its evaluators, domains and sequences.
///
/// ```
/// use vidscore_client::{Sequence, Specification};
/// let specification = Specification {
///     sequences: vec![Sequence {
///         name: "walk".into(),
///         frame_count: Some(300),
///         ..Sequence::default()
///     }],
///     ..Specification::default()
/// };
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Specification {
    /// Title for people.
    pub title: String,
    /// Evaluators that judge; each name once.
    pub evaluators: Vec<Evaluator>,
    /// Described domains; each name once.
    pub domains: Vec<Domain>,
    /// Described sequences; each name once in its domain.
    pub sequences: Vec<Sequence>,
    /// Classes that are scored in domains that list none; `None`: those of the evaluator.
    pub classes: Option<Vec<String>>,
}

impl Specification {
    /// The message, with the chosen evaluators, if any, instead of its own.
    pub(crate) fn encode(&self, chosen: &[Evaluator]) -> Result<wire::BenchmarkSpec> {
        let evaluators = if chosen.is_empty() {
            &self.evaluators
        } else {
            chosen
        };
        if evaluators.is_empty() {
            return Err(Error::input("evaluators", "none", "at least one name"));
        }
        Ok(wire::BenchmarkSpec {
            title: self.title.clone(),
            evaluators: evaluators.iter().map(Evaluator::encode).collect(),
            domains: self.domains.iter().map(encode_domain).collect(),
            sequences: self.sequences.iter().map(encode_sequence).collect(),
            classes: encode_classes(self.classes.as_ref()),
        })
    }

    pub(crate) fn decode(message: wire::BenchmarkSpec) -> Self {
        Self {
            title: message.title,
            evaluators: message
                .evaluators
                .into_iter()
                .map(Evaluator::decode)
                .collect(),
            domains: message.domains.into_iter().map(decode_domain).collect(),
            sequences: message.sequences.into_iter().map(decode_sequence).collect(),
            classes: message.classes.map(|list| list.names),
        }
    }
}

/// Parameters by name; one of a kind that this client does not know is left out.
pub(crate) fn decode_parameters(messages: Vec<wire::Parameter>) -> Vec<(String, ParameterValue)> {
    let known = messages.into_iter().filter_map(|message| {
        let value = match message.value? {
            WireValue::Boolean(value) => ParameterValue::Boolean(value),
            WireValue::Integer(value) => ParameterValue::Integer(value),
            WireValue::Number(value) => ParameterValue::Number(value),
            WireValue::Text(value) => ParameterValue::Text(value),
            WireValue::Numbers(list) => ParameterValue::Numbers(list.values),
            WireValue::Texts(list) => ParameterValue::Texts(list.values),
        };
        Some((message.name, value))
    });
    known.collect()
}

fn encode_parameter((name, value): &(String, ParameterValue)) -> wire::Parameter {
    let value = match value.clone() {
        ParameterValue::Boolean(value) => WireValue::Boolean(value),
        ParameterValue::Integer(value) => WireValue::Integer(value),
        ParameterValue::Number(value) => WireValue::Number(value),
        ParameterValue::Text(value) => WireValue::Text(value),
        ParameterValue::Numbers(values) => WireValue::Numbers(wire::NumberList { values }),
        ParameterValue::Texts(values) => WireValue::Texts(wire::TextList { values }),
    };
    wire::Parameter {
        name: name.clone(),
        value: Some(value),
    }
}

fn encode_domain(domain: &Domain) -> wire::DomainSpec {
    wire::DomainSpec {
        name: domain.name.clone(),
        classes: encode_classes(domain.classes.as_ref()),
    }
}

fn encode_classes(classes: Option<&Vec<String>>) -> Option<wire::ClassList> {
    classes.cloned().map(|names| wire::ClassList { names })
}

fn decode_domain(message: wire::DomainSpec) -> Domain {
    Domain {
        name: message.name,
        classes: message.classes.map(|list| list.names),
    }
}

fn encode_sequence(sequence: &Sequence) -> wire::SequenceSpec {
    wire::SequenceSpec {
        domain: sequence.domain.clone(),
        name: sequence.name.clone(),
        frame_count: sequence.frame_count,
        first_frame: sequence.first_frame,
        frames: sequence.frames.as_ref().map(|ranges| wire::FrameRangeList {
            ranges: encode_ranges(ranges),
        }),
        dont_care_frames: encode_ranges(&sequence.dont_care_frames),
        image_width: sequence.image_width,
        image_height: sequence.image_height,
    }
}

fn decode_sequence(message: wire::SequenceSpec) -> Sequence {
    Sequence {
        domain: message.domain,
        name: message.name,
        frame_count: message.frame_count,
        first_frame: message.first_frame,
        frames: message.frames.map(|list| decode_ranges(list.ranges)),
        dont_care_frames: decode_ranges(message.dont_care_frames),
        image_width: message.image_width,
        image_height: message.image_height,
    }
}

fn encode_ranges(ranges: &[FrameRange]) -> Vec<wire::FrameRange> {
    let encode = |range: &FrameRange| wire::FrameRange {
        first: range.first,
        last: range.last,
    };
    ranges.iter().map(encode).collect()
}

fn decode_ranges(messages: Vec<wire::FrameRange>) -> Vec<FrameRange> {
    let decode = |range: wire::FrameRange| FrameRange {
        first: range.first,
        last: range.last,
    };
    messages.into_iter().map(decode).collect()
}
