//! TLS on a client's side: trusted CAs, and the client certificate.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use super::{Origin, Sourced};
use crate::arguments::{
    CA_VARIABLE, CERTIFICATE_VARIABLE, CoordinatorUrl, KEY_VARIABLE, TrustArguments,
};
use crate::error::conversions::root_cause;
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// The largest certificate or key file: all CAs that browsers trust are shorter.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// PEM files, as named.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsFiles {
    /// The CAs trusted for the coordinator, instead of this system's.
    pub(crate) ca: Option<Sourced<PathBuf>>,
    /// The client certificate.
    pub(crate) cert: Option<Sourced<PathBuf>>,
    /// The client certificate's private key, if it is in another file.
    pub(crate) key: Option<Sourced<PathBuf>>,
}

impl TlsFiles {
    /// Files from flags and the environment, else from the config file: `beside` the coordinator first. A key belongs
    /// to the certificate it is named beside.
    pub(super) fn chosen<'f>(
        arguments: &TrustArguments,
        beside: impl Iterator<Item = &'f Self>,
    ) -> Self {
        let sourced = |path: &Option<PathBuf>, flag, variable| {
            let value = path.clone()?;
            let is_variable = std::env::var_os(variable).as_deref() == Some(value.as_os_str());
            let origin =
                if is_variable { Origin::Environment(variable) } else { Origin::Flag(flag) };
            Some(Sourced { value, origin })
        };
        let given = Self {
            ca: sourced(&arguments.ca, "--ca", CA_VARIABLE),
            cert: sourced(&arguments.cert, "--cert", CERTIFICATE_VARIABLE),
            key: sourced(&arguments.key, "--key", KEY_VARIABLE),
        };
        beside.fold(given, |chosen, next| {
            let ca = chosen.ca.or_else(|| next.ca.clone());
            let (cert, key) = match chosen.cert {
                Some(cert) => (Some(cert), chosen.key),
                None => (next.cert.clone(), next.key.clone()),
            };
            Self { ca, cert, key }
        })
    }

    /// The endpoint for connecting.
    ///
    /// # Errors
    /// If a file cannot be read, or contains no certificate or key.
    pub(super) fn endpoint(&self, url: &CoordinatorUrl) -> Result<Endpoint> {
        if !url.is_https() {
            return Ok(url.endpoint());
        }
        let config = match &self.ca {
            None => ClientTlsConfig::new().with_native_roots(),
            Some(ca) => ClientTlsConfig::new().ca_certificate(certificates(&ca.value)?),
        };
        let config = match &self.cert {
            None => config,
            Some(cert) => config.identity(identity(&cert.value, self.key.as_ref())?),
        };
        url.endpoint().tls_config(config).map_err(|error| {
            CliError::new(Exit::Usage, format!("speak TLS with {url}"))
                .because(root_cause(&error))
                .help(
                    "trust a certificate of your own with --ca FILE, or install those of this system (the \
                     package ca-certificates)",
                )
        })
    }
}

/// The trusted certificates.
fn certificates(path: &Path) -> Result<Certificate> {
    let failed = || {
        CliError::new(Exit::Usage, format!("read the certificates in {}", path.display())).help(
            "--ca takes a PEM file of certificates: those by which the coordinator's is trusted",
        )
    };
    let pem = read_pem(path).map_err(|error| failed().because(error))?;
    read_certificates(&pem).map_err(|problem| failed().because(problem))?;
    Ok(Certificate::from_pem(pem))
}

/// Reads a certificate or key file, which is short and may be a pipe: `--key <(...)`.
fn read_pem(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut pem = Vec::new();
    File::open(path)?.take(PEM_BYTES_MAX + 1).read_to_end(&mut pem)?;
    if pem.len() as u64 > PEM_BYTES_MAX {
        return Err(std::io::Error::other(format!("it has more than {} KiB", PEM_BYTES_MAX >> 10)));
    }
    Ok(pem)
}

fn read_certificates(
    pem: &[u8],
) -> std::result::Result<Vec<CertificateDer<'static>>, &'static str> {
    let certificates: std::result::Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(pem).collect();
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err("there are none in it"),
        Ok(certificates) => Ok(certificates),
        Err(_damaged) => Err("one of them has no end, or is not base64"),
    }
}

/// The client's identity.
fn identity(cert: &Path, key: Option<&Sourced<PathBuf>>) -> Result<Identity> {
    let failed = |noun: &str, path: &Path| {
        CliError::new(Exit::Usage, format!("read the {noun} in {}", path.display())).help(
            "--cert takes a PEM file of a client certificate, as spelrum certificate client makes it, with its \
             private key in the same file or in that of --key",
        )
    };
    let failed_certificate = || failed("client certificate", cert);
    let shown = read_pem(cert).map_err(|error| failed_certificate().because(error))?;
    let chain =
        read_certificates(&shown).map_err(|problem| failed_certificate().because(problem))?;
    let path = key.map_or(cert, |key| &key.value);
    let failed_key = || failed("private key", path);
    let key = match key {
        None => shown.clone(),
        Some(_) => read_pem(path).map_err(|error| failed_key().because(error))?,
    };
    let secret = PrivateKeyDer::from_pem_slice(&key).map_err(|error| {
        failed_key().because(match matches!(error, pem::Error::NoItemsFound) {
            true => "there is none in it",
            false => "it has no end, or is not base64",
        })
    })?;
    CertifiedKey::from_der(chain, secret, &ring::default_provider()).map_err(|error| {
        if let rustls::Error::InconsistentKeys(_) = error {
            failed_key().because(format!("it is not that of the certificate in {}", cert.display()))
        } else if let rustls::Error::General(_) = error {
            failed_key().because("it is damaged, or of a kind that TLS does not take")
        } else {
            failed_certificate().because("it is damaged")
        }
    })?;
    Ok(Identity::from_pem(shown, key))
}
