//! TLS: whom servers are known by, and this client to them.

use core::fmt;
use std::string::{String, ToString};
use std::sync::Arc;
use std::vec::Vec;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::failure::{FailureKind, StoreFailure};

/// Which authorities a server's certificate is believed of, and which certificate this client shows.
///
/// TLS 1.2 and 1.3, by rustls with its provider *ring*, whatever provider the rest of the process uses. A certificate must be of the
/// host that the URL names (of a cluster, of the hosts that its nodes announce: addresses, unless the servers are told
/// `cluster-preferred-endpoint-type hostname`); there is no way not to check it.
///
/// [`Store::open`](super::Store::open) of a `rediss://` URL trusts whom the [`system`](Self::system) trusts. For a private authority:
///
/// ```no_run
/// # async fn open() -> Result<(), Box<dyn std::error::Error>> {
/// use admittance::redis::{Store, Tls};
///
/// let tls = Tls::authority(&std::fs::read("ca.pem")?)?;
/// let store = Store::open_with("rediss://limits:secret@redis.internal:6380/", &tls)?;
/// store.ready().await?;
/// # Ok(())
/// # }
/// ```
///
/// Cheap to clone. Certificates are read once, here: one that is renewed is seen by stores that are opened after.
#[derive(Clone)]
pub struct Tls {
    roots: Arc<RootCertStore>,
    config: Arc<ClientConfig>,
    shows_itself: bool,
}

impl Tls {
    /// Servers are known by the authorities that this system trusts: on Linux those of OpenSSL's usual places, or of the file
    /// and folder in the environment's `SSL_CERT_FILE` and `SSL_CERT_DIR`; elsewhere those of the system's store. Reads them: some
    /// milliseconds.
    ///
    /// # Errors
    ///
    /// When the system trusts nobody.
    pub fn system() -> Result<Self, StoreFailure> {
        let read = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        // Of hundreds that a system trusts, some are too odd for rustls, and not the one that is needed.
        let (some, _) = roots.add_parsable_certificates(read.certs);
        if some == 0 {
            let why = read.errors.first().map_or_else(|| "there are none".to_string(), ToString::to_string);
            return Err(invalid(std::format!(
                "the certificates that this system trusts: {why}; install them (ca-certificates), or say an authority"
            )));
        }
        Self::new(Arc::new(roots), None)
    }

    /// Servers are known by these authorities and no others: one or more certificates in PEM.
    ///
    /// # Errors
    ///
    /// When there is none, or one cannot be read.
    pub fn authority(pem: &[u8]) -> Result<Self, StoreFailure> {
        let mut roots = RootCertStore::empty();
        for (number, certificate) in certificates(pem, "the authority")?.into_iter().enumerate() {
            roots.add(certificate).map_err(|error| {
                invalid(std::format!("the authority: certificate {} cannot be used: {error}", number + 1))
            })?;
        }
        Self::new(Arc::new(roots), None)
    }

    /// With a certificate of this client's own and its key, both in PEM, for servers that want one (`tls-auth-clients yes`, which is
    /// what Redis does unless it is told otherwise). The client's comes first, then those that lead to its authority.
    ///
    /// # Errors
    ///
    /// When there is none, one cannot be read, or the key is another's.
    pub fn with_client(self, certificate: &[u8], key: &[u8]) -> Result<Self, StoreFailure> {
        let chain = certificates(certificate, "the client's certificate")?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| invalid(std::format!("the client's key: no private key in PEM ({error})")))?;
        Self::new(self.roots, Some((chain, key)))
    }

    fn new(
        roots: Arc<RootCertStore>,
        client: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    ) -> Result<Self, StoreFailure> {
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| invalid(error.to_string()))?
            .with_root_certificates(Arc::clone(&roots));
        let shows_itself = client.is_some();
        let config = match client {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| invalid(std::format!("the client's certificate and key: {error}")))?,
        };
        Ok(Self { roots, config: Arc::new(config), shows_itself })
    }

    /// A connection to a host that is the one it says it is.
    pub(super) async fn connect(&self, host: &str, port: u16) -> Result<TlsStream<TcpStream>, StoreFailure> {
        let name = ServerName::try_from(host.to_string())
            .map_err(|_| invalid(std::format!("'{host}' is no name that a certificate can be of")))?;
        let stream = reach(host, port)
            .await
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .map_err(|error| StoreFailure::new(FailureKind::Unreachable, error.to_string()))?;
        TlsConnector::from(Arc::clone(&self.config)).connect(name, stream).await.map_err(|error| {
            match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(fault) => StoreFailure::new(FailureKind::Tls, told(fault)),
                None => StoreFailure::new(FailureKind::Unreachable, error.to_string()),
            }
        })
    }
}

/// Whichever of a host's addresses answers first: one that swallows packets keeps nobody from another.
async fn reach(host: &str, port: u16) -> std::io::Result<TcpStream> {
    let mut under_way = JoinSet::new();
    for address in lookup_host((host, port)).await? {
        under_way.spawn(TcpStream::connect(address));
    }
    let mut last = std::io::Error::other("the host has no address");
    while let Some(reached) = under_way.join_next().await {
        match reached {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

/// What went wrong, and what to do.
fn told(fault: &rustls::Error) -> String {
    let advice = match fault {
        // Signed by another of the same name is a bad signature.
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "; say which authority has signed it, if that one is to be trusted"
        }
        rustls::Error::InvalidMessage(_) => "; perhaps it is no port for TLS",
        _ => "",
    };
    std::format!("{fault}{advice}")
}

fn certificates(pem: &[u8], whose: &str) -> Result<Vec<CertificateDer<'static>>, StoreFailure> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(certificates) if certificates.is_empty() => Err(invalid(std::format!("{whose}: no certificate in PEM"))),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(invalid(std::format!("{whose}: no certificates in PEM ({error})"))),
    }
}

fn invalid(detail: impl Into<Arc<str>>) -> StoreFailure {
    StoreFailure::new(FailureKind::Invalid, detail)
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the key.
        f.debug_struct("Tls")
            .field("authorities", &self.roots.len())
            .field("shows_itself", &self.shows_itself)
            .finish_non_exhaustive()
    }
}
