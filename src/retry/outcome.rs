//! What became of an attempt.

use super::resolve::Response;

/// What became of an attempt, as its transport saw it.
#[derive(Clone, Debug)]
pub enum Outcome<'a> {
    /// A response came, of any status.
    Response(Response<'a>),
    /// No byte of the request left: no address, no connection, no session.
    NotSent,
    /// The request left, or may have, and no response came: a timeout, a reset, a connection that broke. The server may have
    /// carried it out.
    Lost,
}
