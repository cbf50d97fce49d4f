//! Full resource names from what people type: `streets`, `streets/run-7`.

use crate::error::{Error, Result};

/// `benchmarks/{benchmark}`, from itself or its last part.
pub(crate) fn benchmark_name(benchmark: &str) -> Result<String> {
    match parts(benchmark)[..] {
        [own] | ["benchmarks", own] if !own.is_empty() => Ok(format!("benchmarks/{own}")),
        _ => Err(refused("benchmark", benchmark, "a name like {benchmark}")),
    }
}

/// `benchmarks/{b}/submissions/{s}`, from itself or `{b}/{s}`.
pub(crate) fn submission_name(submission: &str) -> Result<String> {
    match parts(submission)[..] {
        [benchmark, own] | ["benchmarks", benchmark, "submissions", own]
            if !benchmark.is_empty() && !own.is_empty() =>
        {
            Ok(format!("benchmarks/{benchmark}/submissions/{own}"))
        }
        _ => Err(refused(
            "submission",
            submission,
            "a name like {benchmark}/{submission}",
        )),
    }
}

/// The last part of a submission's name, as it is given beside its benchmark.
pub(crate) fn own_name(submission: &str) -> Result<&str> {
    match parts(submission)[..] {
        [own] if !own.is_empty() => Ok(own),
        _ => Err(refused(
            "submission",
            submission,
            "a name like {submission}",
        )),
    }
}

fn parts(name: &str) -> Vec<&str> {
    name.split('/').collect()
}

fn refused(argument: &str, name: &str, expected: &str) -> Error {
    let shown: String = name.chars().take(80).collect();
    Error::input(argument, format!("{shown:?}"), expected)
}
