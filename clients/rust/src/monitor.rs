//! A lock whose holders can wait, as tasks, for changes of what it guards.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;
use tokio::time::timeout_at;

/// Something that several tasks share.
#[derive(Debug)]
pub(crate) struct Monitor<State> {
    state: Mutex<State>,
    changed: Notify,
}

impl<State> Monitor<State> {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: Mutex::new(state),
            changed: Notify::new(),
        }
    }

    /// The state; it must not be held across an await.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Change the state, and wake the waiting tasks.
    pub(crate) fn update<Outcome>(&self, change: impl FnOnce(&mut State) -> Outcome) -> Outcome {
        let outcome = change(&mut self.lock());
        self.notify();
        outcome
    }

    /// Wake the waiting tasks.
    pub(crate) fn notify(&self) {
        self.changed.notify_waiters();
    }

    /// Look at the state now and after each change until there is an outcome; `None` if there is
    /// none by `limit`, if that is given.
    pub(crate) async fn wait<Outcome>(
        &self,
        limit: Option<Instant>,
        mut look: impl FnMut(&mut State) -> Option<Outcome>,
    ) -> Option<Outcome> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable(); // before looking, so that no change is missed
            if let Some(outcome) = look(&mut self.lock()) {
                return Some(outcome);
            }
            match limit {
                None => changed.await,
                Some(limit) if timeout_at(limit.into(), changed).await.is_err() => return None,
                Some(_) => {}
            }
        }
    }
}
