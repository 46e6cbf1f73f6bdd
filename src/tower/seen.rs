//! What is looked at of a request.

use http::{Extensions, HeaderMap, Method, Request, Uri};

/// All of a request but its body: what identities, costs and routes are taken from.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'r> {
    method: &'r Method,
    uri: &'r Uri,
    headers: &'r HeaderMap,
    extensions: &'r Extensions,
}

impl<'r> Seen<'r> {
    /// Of this request.
    #[must_use]
    pub fn of<B>(request: &'r Request<B>) -> Self {
        Self {
            method: request.method(),
            uri: request.uri(),
            headers: request.headers(),
            extensions: request.extensions(),
        }
    }

    /// Its method.
    #[must_use]
    pub const fn method(&self) -> &'r Method {
        self.method
    }

    /// Its target.
    #[must_use]
    pub const fn uri(&self) -> &'r Uri {
        self.uri
    }

    /// Its header fields: a client's words.
    #[must_use]
    pub const fn headers(&self) -> &'r HeaderMap {
        self.headers
    }

    /// What the server and the layers before have put into it.
    #[must_use]
    pub const fn extensions(&self) -> &'r Extensions {
        self.extensions
    }
}
