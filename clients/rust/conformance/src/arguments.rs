//! The command line.

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use vidscore_client::{Batching, Client, Delivery, Keepalive, Policy, Retry, Tls};

use crate::{Failure, Outcome};

const FLAGS: [&str; 5] = ["replay", "unary", "no-seal", "close", "until-ended"];

/// A command with its options.
pub struct Arguments {
    pub command: String,
    options: HashMap<String, String>,
}

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Outcome<Self> {
        let command = words.next().ok_or_else(|| misuse("no command"))?;
        let mut options = HashMap::new();
        while let Some(word) = words.next() {
            let name = word
                .strip_prefix("--")
                .ok_or_else(|| misuse(&word))?
                .to_owned();
            let value = if FLAGS.contains(&name.as_str()) {
                String::new()
            } else {
                words
                    .next()
                    .ok_or_else(|| misuse(&format!("--{name} has no value")))?
            };
            options.insert(name, value);
        }
        Ok(Self { command, options })
    }

    pub fn has(&self, name: &str) -> bool {
        self.options.contains_key(name)
    }

    pub fn required(&self, name: &str) -> Outcome<&str> {
        self.text(name)
            .ok_or_else(|| misuse(&format!("--{name} is missing")))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    pub fn value<T: FromStr>(&self, name: &str) -> Outcome<Option<T>> {
        let parse = |text: &str| {
            text.parse()
                .map_err(|_| misuse(&format!("--{name} {text}")))
        };
        self.text(name).map(parse).transpose()
    }

    pub fn time(&self, name: &str) -> Outcome<Option<Duration>> {
        let time = |seconds| {
            Duration::try_from_secs_f64(seconds).map_err(|_| misuse(&format!("--{name}")))
        };
        self.value(name)?.map(time).transpose()
    }

    /// Connect with the common options.
    pub fn client(&self) -> Outcome<Client> {
        let mut builder = Client::builder(self.required("address")?);
        if let Some(timeout) = self.time("timeout-s")? {
            builder = builder.timeout(timeout);
        }
        let mut keepalive = Keepalive::default();
        if let Some(interval) = self.time("keepalive-interval-s")? {
            keepalive = keepalive.interval(interval);
        }
        if let Some(timeout) = self.time("keepalive-timeout-s")? {
            keepalive = keepalive.timeout(timeout);
        }
        builder = builder.keepalive(keepalive);
        if let Some(token) = self.text("token") {
            builder = builder.token(token);
        }
        if self.has("ca") {
            let tls = Tls::default()
                .root_certificates(self.text("ca").map(Into::into))
                .certificate(self.text("certificate").map(Into::into))
                .private_key(self.text("key").map(Into::into))
                .server_name(self.text("server-name").map(Into::into));
            builder = builder.tls(tls);
        }
        Ok(builder.connect()?)
    }

    /// How frames are batched; missing options keep the client's defaults.
    pub fn batching(&self) -> Outcome<Batching> {
        let mut batching = Batching::default();
        if let Some(frames) = self.value("batch-frames")? {
            batching = batching.batch_frames(frames);
        }
        if let Some(interval) = self.time("batch-interval-s")? {
            batching = batching.batch_interval(interval);
        }
        if let Some(frames) = self.value("queue-frames")? {
            batching = batching.queue_frames(frames);
        }
        if let Some(timeout) = self.time("block-timeout-s")? {
            batching = batching.block_timeout(Some(timeout));
        }
        match self.text("policy") {
            None | Some("block") => Ok(batching),
            Some("raise") => Ok(batching.policy(Policy::Raise)),
            Some(policy) => Err(misuse(policy)),
        }
    }

    /// How frames are delivered, likewise.
    pub fn delivery(&self) -> Outcome<Delivery> {
        let mut delivery = Delivery::default()
            .retry(self.retry()?)
            .unary(self.has("unary"));
        if let Some(frames) = self.value("window-frames")? {
            delivery = delivery.window_frames(frames);
        }
        if let Some(timeout) = self.time("acknowledge-timeout-s")? {
            delivery = delivery.acknowledge_timeout(timeout);
        }
        if let Some(timeout) = self.time("close-timeout-s")? {
            delivery = delivery.close_timeout(timeout);
        }
        Ok(delivery)
    }

    fn retry(&self) -> Outcome<Retry> {
        let mut retry = Retry::default();
        if let Some(initial) = self.time("retry-initial-s")? {
            retry = retry.initial(initial);
        }
        if let Some(maximum) = self.time("retry-maximum-s")? {
            retry = retry.maximum(maximum);
        }
        if let Some(limit) = self.time("give-up-after-s")? {
            retry = retry.give_up_after(Some(limit));
        }
        Ok(retry)
    }
}

pub fn misuse(text: &str) -> Failure {
    Failure::Misuse(text.to_owned())
}
