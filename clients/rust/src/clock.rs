//! Points in time.

use std::time::{Duration, Instant};

/// A duration that never passes.
const AGES: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A time after another one, for any duration between them.
pub(crate) fn later(from: Instant, by: Duration) -> Instant {
    from + by.min(AGES)
}

/// When there is something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// At once.
    Now,
    /// When a time has come.
    At(Instant),
    /// When something else happens.
    Never,
}

impl Due {
    /// The time to wait for; `None` for no time.
    pub(crate) fn instant(self, now: Instant) -> Option<Instant> {
        match self {
            Self::Now => Some(now),
            Self::At(instant) => Some(instant),
            Self::Never => None,
        }
    }
}
