//! Where a server is, who asks there, and whether over TLS: what a URL says.

use std::string::{String, ToString};
use std::sync::Arc;

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _};
use tokio::task::JoinHandle;

use super::failure::{FailureKind, StoreFailure};
use super::tls::Tls;

/// A server's address, with the name and the password that are told there.
///
/// The client library's own TLS reads the system's certificates anew for every attempt to connect, on the thread that answers
/// callers: some milliseconds, ten times a second, for as long as a server is gone. So over TLS the connection is made here, and the
/// library is given one that stands.
#[derive(Clone)]
pub(super) struct Address {
    client: Client,
    tls: Option<Tls>,
}

/// What carries commands to a server.
#[derive(Clone)]
pub(super) struct Wire {
    pub(super) to: MultiplexedConnection,
    /// Ends with the last of those who send over it. The library sees to the connections that it has made itself.
    _driver: Option<Arc<Driver>>,
}

struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What URLs of servers with TLS begin with.
const SECURED: [&str; 2] = ["rediss", "valkeys"];

impl Address {
    /// Reads a URL; of one with TLS, servers are known by `tls`, and by what the system trusts where there is none.
    ///
    /// # Errors
    ///
    /// When it is no URL of a server, when it and `tls` contradict each other, and for TLS without the feature for it.
    pub(super) fn read(url: &str, tls: Option<&Tls>) -> Result<Self, StoreFailure> {
        let url = url.trim();
        let secured = url
            .split_once(':')
            .filter(|(scheme, _)| SECURED.iter().any(|secured| scheme.eq_ignore_ascii_case(secured)))
            .map(|(_, rest)| std::format!("redis:{rest}"));
        let info = secured.as_deref().unwrap_or(url).into_connection_info();
        let info = info.map_err(|error| StoreFailure::new(FailureKind::Invalid, error.to_string()))?;
        let tls = match (secured.is_some(), tls) {
            (true, _) if url.contains('#') => {
                return Err(StoreFailure::new(
                    FailureKind::Invalid,
                    "a URL has no '#': a server whose certificate is not checked could be anybody's; say which authority \
                     has signed it, by Tls::authority",
                ));
            }
            (true, tls) => Some(tls.cloned().map_or_else(Tls::system, Ok)?),
            (false, Some(_)) => {
                return Err(StoreFailure::new(
                    FailureKind::Invalid,
                    "there are certificates for TLS, and the URL is of a server without; say rediss://",
                ));
            }
            (false, None) => None,
        };
        let is_tcp = matches!(info.addr(), ConnectionAddr::Tcp(..));
        if !is_tcp && (tls.is_some() || !matches!(info.addr(), ConnectionAddr::Unix(_))) {
            return Err(StoreFailure::new(FailureKind::Invalid, "TLS is for rediss://host:port"));
        }
        Self::new(info, tls)
    }

    fn new(info: ConnectionInfo, tls: Option<Tls>) -> Result<Self, StoreFailure> {
        let client = Client::open(info).map_err(|error| StoreFailure::new(FailureKind::Invalid, error.to_string()))?;
        Ok(Self { client, tls })
    }

    fn info(&self) -> &ConnectionInfo {
        self.client.get_connection_info()
    }

    /// Whether connections are over TLS.
    pub(super) const fn is_secured(&self) -> bool {
        self.tls.is_some()
    }

    /// Host and port of a TCP address.
    pub(super) fn host_and_port(&self) -> Option<(&str, u16)> {
        match self.info().addr() {
            ConnectionAddr::Tcp(host, port) => Some((host, *port)),
            _ => None,
        }
    }

    /// Another server, for the same user, in the same way.
    pub(super) fn at(&self, host: &str, port: u16) -> Result<Self, StoreFailure> {
        Self::new(self.info().clone().set_addr(ConnectionAddr::Tcp(host.into(), port)), self.tls.clone())
    }

    /// Makes a connection. Who asks has a deadline.
    pub(super) async fn connect(&self, config: &AsyncConnectionConfig) -> Result<Wire, StoreFailure> {
        let (Some(tls), Some((host, port))) = (&self.tls, self.host_and_port()) else {
            let made = self.client.get_multiplexed_async_connection_with_config(config).await;
            return made.map(|to| Wire { to, _driver: None }).map_err(|error| StoreFailure::from(&error));
        };
        let stream = tls.connect(host, port).await?;
        let settings = self.info().redis_settings();
        let made = MultiplexedConnection::new_with_config(settings, stream, config.clone()).await;
        let (to, driver) = made.map_err(|error| StoreFailure::from(&error))?;
        Ok(Wire { to, _driver: Some(Arc::new(Driver(tokio::spawn(driver)))) })
    }
}

impl core::fmt::Display for Address {
    /// Without the user and the password.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.info().addr().to_string())
    }
}

/// `host:port`, as nodes of a cluster are told apart.
pub(super) fn name(host: &str, port: u16) -> String {
    std::format!("{host}:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_none_is_told_without_its_password() {
        for url in [
            "",
            "redis",
            "redis://",
            "redis://ann:geheim@",
            "redis://ann:geheim@host:99999/",
            "redis://ann:geheim@host/x",
            "http://ann:geheim@host/",
            "redis://ann:geheim@0.0.0.0/",
            "redis://ann:geheim@[::1/",
            "rediss://ann:geheim@host:99999/",
            "rediss://ann:geheim@host/#insecure",
            "redi\tss://ann:geheim@host/",
        ] {
            let failure = Address::read(url, None).err().unwrap_or_else(|| panic!("'{url}' is read"));
            assert_eq!(failure.kind(), FailureKind::Invalid, "{url}: {failure}");
            assert!(!std::format!("{failure} {failure:?}").contains("geheim"), "{url}: {failure}");
        }
    }

    #[test]
    fn what_a_url_says_is_what_is_asked() {
        let read = |url: &str| Address::read(url, None).unwrap_or_else(|failure| panic!("{url}: {failure}"));
        assert_eq!(read("redis://ann:secret@host:7/3").host_and_port(), Some(("host", 7)));
        assert_eq!(read(" redis://host ").host_and_port(), Some(("host", 6379)));
        assert_eq!(read("redis://[::1]:7000").host_and_port(), Some(("::1", 7000)));
        assert_eq!(read("unix:///tmp/redis.sock").host_and_port(), None);
        let other = read("redis://ann:secret@host:7/3").at("::1", 8).unwrap();
        assert_eq!(other.host_and_port(), Some(("::1", 8)));
        let settings = other.info().redis_settings();
        assert_eq!((settings.username(), settings.password(), settings.db()), (Some("ann"), Some("secret"), 3));
        assert!(!other.is_secured() && !other.to_string().contains("secret"));
    }

    #[cfg(not(feature = "redis-tls"))]
    #[test]
    fn tls_without_the_feature_names_it() {
        for url in ["rediss://ann:geheim@host/", "REDISS://host", "valkeys://host:1/"] {
            let failure = Address::read(url, None).err().unwrap();
            assert!(failure.kind() == FailureKind::Invalid && failure.to_string().contains("redis-tls"), "{failure}");
        }
    }

    #[cfg(feature = "redis-tls")]
    #[test]
    fn tls_is_for_urls_that_say_so() {
        let tls = Tls::system().unwrap();
        for url in ["rediss://ann:secret@host:7/3", "REDISS://host:7", "valkeys://host:7"] {
            let address = Address::read(url, Some(&tls)).unwrap();
            assert!(address.is_secured() && address.at("other", 8).unwrap().is_secured(), "{url}");
            assert_eq!(address.host_and_port(), Some(("host", 7)));
        }
        for url in ["redis://host", "valkey://host", "unix:///tmp/redis.sock", "rediss+unix:///tmp/redis.sock"] {
            let failure = Address::read(url, Some(&tls)).err().unwrap_or_else(|| panic!("{url}"));
            assert_eq!(failure.kind(), FailureKind::Invalid, "{url}: {failure}");
        }
    }
}
