//! Where a store is, and whom it is known by.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use admittance::redis::{Store, StoreFailure, Tls};

/// What `rediss://` stores are known by, and this program to them.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    /// The authorities, in PEM, by which a `rediss://` store is known; otherwise those that the system trusts.
    #[arg(long, value_name = "FILE", requires = "store", help_heading = TLS)]
    ca: Option<PathBuf>,

    /// A certificate to show to a `rediss://` store, in PEM.
    #[arg(long, value_name = "FILE", requires_all = ["store", "client_key"], help_heading = TLS)]
    client_cert: Option<PathBuf>,

    /// The key of that certificate, in PEM.
    #[arg(long, value_name = "FILE", requires_all = ["store", "client_cert"], help_heading = TLS)]
    client_key: Option<PathBuf>,
}

const TLS: &str = "TLS";

/// Why a store is not opened.
#[derive(Debug)]
pub(crate) enum Unopened {
    File { flag: &'static str, path: PathBuf, error: io::Error },
    Pem { flags: &'static str, failure: StoreFailure },
    Store(StoreFailure),
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { flag, path, error } => write!(f, "{flag} {}: {error}", path.display()),
            Self::Pem { flags, failure } => write!(f, "{flags}: {}", failure.detail()),
            Self::Store(failure) => write!(f, "--store: {failure}"),
        }
    }
}

impl Trust {
    /// One server, or the cluster of several nodes. Connects later.
    pub(crate) fn open(&self, urls: &[impl AsRef<str>]) -> Result<Store, Unopened> {
        let tls = self.tls()?;
        match (urls, &tls) {
            ([one], None) => Store::open(one.as_ref()),
            ([one], Some(tls)) => Store::open_with(one.as_ref(), tls),
            (nodes, None) => Store::cluster(nodes),
            (nodes, Some(tls)) => Store::cluster_with(nodes, tls),
        }
        .map_err(Unopened::Store)
    }

    /// What was said of TLS, if anything was.
    fn tls(&self) -> Result<Option<Tls>, Unopened> {
        let pem = |flags| move |failure| Unopened::Pem { flags, failure };
        let tls = match &self.ca {
            Some(path) => Tls::authority(&read("--ca", path)?).map_err(pem("--ca"))?,
            None if self.client_cert.is_some() => Tls::system().map_err(Unopened::Store)?,
            None => return Ok(None),
        };
        let (Some(certificate), Some(key)) = (&self.client_cert, &self.client_key) else { return Ok(Some(tls)) };
        let (certificate, key) = (read("--client-cert", certificate)?, read("--client-key", key)?);
        tls.with_client(&certificate, &key).map(Some).map_err(pem("--client-cert, --client-key"))
    }
}

fn read(flag: &'static str, path: &Path) -> Result<Vec<u8>, Unopened> {
    fs::read(path).map_err(|error| Unopened::File { flag, path: path.into(), error })
}
