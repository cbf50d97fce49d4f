//! When to retry a call. It does no I/O and reads no clock: its caller passes the time and does the
//! waiting.

use std::time::{Duration, Instant};

use tonic::Code;

use crate::error::{Error, ErrorKind, Result};
use crate::settings::Retry;

/// Reasons of a server that another offset, or time, resolves.
const PASSING_REASONS: [&str; 3] = ["OFFSET_GAP", "OFFSET_STRADDLES", "STORE_FULL"];

/// Whether the same call may succeed over another connection, or later.
pub(crate) fn is_break(error: &Error) -> bool {
    if error.retry_delay().is_some() {
        return true; // the server itself says so
    }
    if error.kind() == ErrorKind::Internal && error.metadata().contains_key("incident") {
        return false; // the server itself failed at this request, and would again
    }
    // Codes of a connection that broke at any hop, and of a server that restarts.
    let broken = matches!(
        error.canonical_code(),
        Some(
            Code::Unavailable
                | Code::DeadlineExceeded
                | Code::Cancelled
                | Code::Unknown
                | Code::Internal
        )
    );
    broken || PASSING_REASONS.contains(&error.reason())
}

/// Counts tries.
#[derive(Debug)]
pub(crate) struct Retrying {
    retry: Retry,
    /// Gives numbers from 0 to 1, so that many clients do not return at the same time.
    chance: fn() -> f64,
    breaks: u32,
    since: Option<Instant>,
}

impl Retrying {
    /// Start without any breaks.
    pub(crate) fn new(retry: Retry) -> Self {
        Self::with_chance(retry, fastrand::f64)
    }

    pub(crate) fn with_chance(retry: Retry, chance: fn() -> f64) -> Self {
        Self {
            retry,
            chance,
            breaks: 0,
            since: None,
        }
    }

    /// Record that something has succeeded.
    pub(crate) fn progress(&mut self) {
        self.breaks = 0;
        self.since = None;
    }

    /// Time to wait before the next try, at least as long as the server wants; the error, if a
    /// retry is useless or would be too late.
    pub(crate) fn delay(&mut self, error: Error, now: Instant) -> Result<Duration> {
        if !is_break(&error) {
            return Err(error);
        }
        self.again(error, now)
    }

    /// The same for an error after which the next try may succeed whatever its kind.
    pub(crate) fn again(&mut self, error: Error, now: Instant) -> Result<Duration> {
        let wanted = error.retry_delay().unwrap_or_default();
        let passed = now.saturating_duration_since(*self.since.get_or_insert(now));
        if let Some(limit) = self.retry.give_up_after {
            let left = limit.saturating_sub(passed);
            if (self.breaks > 0 && left.is_zero()) || wanted > left {
                return Err(error);
            }
        }
        self.breaks = self.breaks.saturating_add(1);
        Ok(wanted.max(self.own_delay()))
    }

    fn own_delay(&self) -> Duration {
        if self.breaks == 1 {
            return Duration::ZERO;
        }
        // Bounded, so that the power stays finite.
        let doublings = i32::try_from(self.breaks - 2).unwrap_or(60).min(60);
        let doubled_s = self.retry.initial.as_secs_f64() * 2f64.powi(doublings);
        let whole_s = doubled_s.min(self.retry.maximum.as_secs_f64());
        let delay = Duration::try_from_secs_f64(whole_s * (1.0 + (self.chance)()) / 2.0);
        delay.unwrap_or(self.retry.maximum)
    }
}

/// The error of a call that the server ended without an error before it was done.
pub(crate) fn ended_early() -> Error {
    Error::with_code(Code::Unavailable, "the server ended the call")
}
