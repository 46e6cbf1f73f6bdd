//! The path of a request: `/a` of `GET /a?b=c HTTP/1.1`.

use memchr::memmem;
use memchr::{memchr, memchr2, memrchr};

/// The path of a request line; `None` where it has no target that is one, as `OPTIONS *`, a TLS handshake, or nothing.
pub(super) fn of_request(request: &[u8]) -> Option<&[u8]> {
    let rest = &request[memchr(b' ', request)? + 1..];
    // A target may hold spaces, though it should not. Before HTTP/1.0 there was no version.
    let target = match memrchr(b' ', rest) {
        Some(space) if rest[space + 1..].starts_with(b"HTTP/") => &rest[..space],
        _ => rest,
    };
    of_target(target)
}

/// The path of a target, `/a?b` or `https://host:443/a?b` (RFC 9112, section 3.2); `None` where it has none.
pub(super) fn of_target(target: &[u8]) -> Option<&[u8]> {
    let path = if target.first() == Some(&b'/') {
        target
    } else {
        let scheme = memmem::find(target, b"://").filter(|&end| end > 0)?;
        if !target[..scheme].iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)) {
            return None;
        }
        let authority = &target[scheme + 3..];
        let end = authority.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(authority.len());
        match &authority[end..] {
            path @ [b'/', ..] => path,
            _ => b"/",
        }
    };
    Some(&path[..memchr2(b'?', b'#', path).unwrap_or(path.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_what_a_server_routes_by() {
        for (request, path) in [
            ("GET / HTTP/1.1", Some("/")),
            ("GET /a/b?c=/d HTTP/2.0", Some("/a/b")),
            ("GET /a#b", Some("/a")),
            ("GET /a b HTTP/1.1", Some("/a b")),
            ("POST https://h.example:443/a?b HTTP/1.1", Some("/a")),
            ("GET http://h.example HTTP/1.1", Some("/")),
            ("GET http://h.example?a=/b HTTP/1.1", Some("/")),
            ("OPTIONS * HTTP/1.1", None),
            ("CONNECT h.example:443 HTTP/1.1", None),
            ("- - - ", None),
            ("-", None),
            ("", None),
            ("\\x16\\x03\\x01", None),
        ] {
            assert_eq!(of_request(request.as_bytes()), path.map(str::as_bytes), "{request}");
        }
    }
}
