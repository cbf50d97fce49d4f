//! The versions of server and client that work together: at most one minor version apart.
//!
//! The server applies the same rule to its clients; this check covers older servers that do not.

use crate::error::{Error, ErrorKind, Result};

/// Metadata of each call: version of this package.
pub(crate) const CLIENT_KEY: &str = "vidscore-client-version";
/// Trailing metadata of each call: version of the server.
pub(crate) const SERVER_KEY: &str = "vidscore-server-version";

const MINORS_APART: u32 = 1;
const MOST_DIGITS: usize = 6;

/// Refuse a server whose version a client does not work with; a text that is not a version is
/// accepted, as from proxies.
pub(crate) fn check_server(server: &str, client: &str) -> Result<()> {
    let (Some(theirs), Some(ours)) = (parse(server), parse(client)) else {
        return Ok(());
    };
    if theirs.0 == ours.0 && theirs.1.abs_diff(ours.1) <= MINORS_APART {
        return Ok(());
    }
    let advice = match theirs > ours {
        true => "update the client",
        false => "update the server, or use an older client",
    };
    let message = format!(
        "the server has version {server} and the client {client}, which works with servers of \
         the same major version and at most {MINORS_APART} minor version away: {advice}"
    );
    Err(Error::new(ErrorKind::Version, message)
        .and_reason("VERSION_UNSUPPORTED")
        .and_fact("client_version", client)
        .and_fact("server_version", server))
}

/// Major and minor version.
fn parse(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = take_number(text)?;
    let (minor, rest) = take_number(rest.strip_prefix('.')?)?;
    let plain = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit();
    let known = rest.chars().all(|sign| plain(sign) || ".+-".contains(sign));
    known.then_some((major, minor))
}

/// A number of few digits that a text begins with, and the rest.
fn take_number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    let (number, rest) = text.split_at(digits.take(MOST_DIGITS).count());
    Some((number.parse().ok()?, rest))
}
