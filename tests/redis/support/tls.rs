//! An authority of a test's own, and servers that show its certificates.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use admittance::redis::{Store, Tls};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use super::Server;
use super::server::free_port;

pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) name: String,
    /// Its own certificate.
    pub(crate) pem: String,
    dir: PathBuf,
}

/// A certificate and its key, in PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named(None)
    }

    /// Of a name that another may have as well.
    pub(crate) fn named(name: Option<&str>) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("admittance-tls-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let mut params = CertificateParams::default();
        let name = name.map_or_else(|| format!("authority {number}"), ToOwned::to_owned);
        params.distinguished_name.push(DnType::CommonName, &name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        fs::write(dir.join("ca.pem"), &pem).unwrap();
        Self { issuer: Issuer::new(params, key), name, pem, dir }
    }

    /// Of these hosts.
    pub(crate) fn signs(&self, hosts: &[&str]) -> Identity {
        let params = CertificateParams::new(hosts.iter().map(|&host| host.to_owned()).collect::<Vec<_>>()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Identity { certificate, key: key.serialize_pem() }
    }

    /// What a client knows that trusts this authority.
    pub(crate) fn tls(&self) -> Tls {
        Tls::authority(self.pem.as_bytes()).unwrap()
    }

    /// Where the certificate is that a server is told to trust.
    pub(crate) fn file(&self) -> String {
        self.dir.join("ca.pem").to_str().unwrap().to_owned()
    }

    /// What a server is told, that listens for TLS at this port with a certificate of these hosts.
    pub(crate) fn args(&self, port: u16, hosts: &[&str]) -> Vec<String> {
        let Identity { certificate, key } = self.signs(hosts);
        let file = |name: &str, text: &str| {
            let path = self.dir.join(format!("{port}-{name}.pem"));
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let [certificate, key] = [file("certificate", &certificate), file("key", &key)];
        [
            ["--tls-port", &port.to_string()],
            ["--tls-cert-file", &certificate],
            ["--tls-key-file", &key],
            ["--tls-ca-cert-file", &self.file()],
            ["--tls-auth-clients", "no"],
        ]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect()
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A server with TLS. The test itself asks it things without, at another port.
pub(crate) struct Secured<'a> {
    pub(crate) server: Server,
    pub(crate) port: u16,
    authority: &'a Authority,
}

impl<'a> Secured<'a> {
    pub(crate) fn start(authority: &'a Authority) -> Self {
        Self::start_with(authority, &["127.0.0.1", "localhost"], &[])
    }

    pub(crate) fn start_with(authority: &'a Authority, hosts: &[&str], more: &[&str]) -> Self {
        let port = free_port();
        let args = authority.args(port, hosts);
        let args: Vec<_> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
        Self { server: Server::start_with(&args), port, authority }
    }

    pub(crate) fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}/", self.port)
    }

    /// As one who trusts its authority opens it.
    pub(crate) fn store(&self) -> Store {
        Store::open_with(&self.url(), &self.authority.tls()).unwrap()
    }
}
