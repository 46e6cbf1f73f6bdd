//! What a request's head says about sending it twice, and about who is asked.

use std::string::String;

use http::header::{HOST, HeaderName};
use http::request::Parts;
use http::uri::Authority;

use crate::retry::safety::{IdempotencyKey, Safety};

/// The header that says what a server knows a request by.
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// What the head alone says: a request with one `Idempotency-Key` is known by it; otherwise its method counts (RFC 9110,
/// section 9.2.2), and a `POST` or a `PATCH` is not sent twice.
///
/// Several such lines, or one that is not 1 to 255 visible ASCII characters, are no key. That the server honours the key is
/// the caller's knowledge: this believes the header.
#[must_use]
pub fn by_method(parts: &Parts) -> Safety {
    let mut lines = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
    let key = match (lines.next(), lines.next()) {
        (Some(line), None) => line.to_str().ok().and_then(|line| IdempotencyKey::new(line).ok()),
        _ => None,
    };
    key.map_or_else(|| Safety::of_method(parts.method.as_str()), |key| Safety::Keyed { key })
}

/// The host and the port that are asked, in small letters: of the address, or of the header `Host` where the address is only a
/// path. Of `http` and `https` the port that they have anyway is said too. Empty where nothing says a host.
#[must_use]
pub fn host(parts: &Parts) -> String {
    let authority = parts.uri.authority().map(Authority::as_str);
    let header = || parts.headers.get(HOST).and_then(|line| line.to_str().ok());
    let Some(authority) = authority.or_else(header) else { return String::new() };
    // Who asks is not part of who is asked.
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place).to_ascii_lowercase();
    let has_port = place.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    match parts.uri.scheme_str() {
        Some("http") if !has_port => place + ":80",
        Some("https") if !has_port => place + ":443",
        _ => place,
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn parts(method: &str, uri: &str, lines: &[(&str, &str)]) -> Parts {
        let request = Request::builder().method(method).uri(uri);
        let request = lines.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn a_key_counts_more_than_a_method_and_only_one_that_is_one() {
        let told = |method: &str, keys: &[&str]| {
            let lines: Vec<_> = keys.iter().map(|key| ("Idempotency-Key", *key)).collect();
            by_method(&parts(method, "/", &lines))
        };
        let keyed = |key: &str| Safety::Keyed { key: IdempotencyKey::new(key).unwrap() };
        assert_eq!(told("POST", &["a-1"]), keyed("a-1"));
        assert_eq!(told("GET", &["\"a\""]), keyed("\"a\""));
        for none in [&[][..], &["a", "b"], &[""], &["a b"], &["é"]] {
            assert_eq!(told("POST", none), Safety::NotSent, "{none:?}");
            assert_eq!(told("PATCH", none), Safety::NotSent, "{none:?}");
            assert_eq!(told("PUT", none), Safety::of_method("PUT"), "{none:?}");
        }
        assert_ne!(Safety::of_method("PUT"), Safety::NotSent);
    }

    #[test]
    fn a_host_is_the_same_however_it_is_written() {
        for (uri, lines, wanted) in [
            ("http://Api.Example/x", &[][..], "api.example:80"),
            ("http://api.example:80/y?z", &[], "api.example:80"),
            ("https://ann:secret@api.example", &[], "api.example:443"),
            ("https://api.example:8443/", &[("host", "other.example")], "api.example:8443"),
            ("http://[::1]/", &[], "[::1]:80"),
            ("http://[::1]:3000/", &[], "[::1]:3000"),
            ("/x", &[("host", "Api.example:3000")], "api.example:3000"),
            ("/x", &[], ""),
        ] {
            assert_eq!(host(&parts("GET", uri, lines)), wanted, "{uri}");
        }
    }
}
