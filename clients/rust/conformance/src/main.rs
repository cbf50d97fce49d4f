//! The conformance runner of the Rust client: runs one command, and prints the result as the last
//! line of standard output.

mod arguments;
mod commands;
mod documents;
mod frames_file;

use std::process::ExitCode;

use crate::arguments::Arguments;

/// Exit code of a wrong command line.
const MISUSED: u8 = 2;
/// Exit code if the client failed with its own error.
const REFUSED: u8 = 3;

/// Why a command has no result.
pub enum Failure {
    /// The command line, or a file that it names, is wrong.
    Misuse(String),
    /// An error of the client.
    Client(vidscore_client::Error),
}

impl From<vidscore_client::Error> for Failure {
    fn from(error: vidscore_client::Error) -> Self {
        Self::Client(error)
    }
}

/// The result of a command.
pub type Outcome<T> = Result<T, Failure>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => commands::run(&arguments).await,
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(document) => {
            println!("{document}");
            ExitCode::SUCCESS
        }
        Err(Failure::Client(error)) => {
            println!("{}", documents::error(&error));
            ExitCode::from(REFUSED)
        }
        Err(Failure::Misuse(text)) => {
            eprintln!("runner: {text}");
            ExitCode::from(MISUSED)
        }
    }
}
