//! TLS for incoming connections (docs/operating.md, "TLS").
//!
//! A handshake has the same time limit as a request's headers, and its connection counts among the others meanwhile: a
//! client that stalls in the handshake is a silent stranger.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::version::TLS13;
use rustls::{CertificateError, RootCertStore, ServerConfig};
use spelrum_proto::SPEAKS_TLS;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::access::{Certified, read_small_file};

/// First byte of a handshake: the record type (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;

/// Start of HTTP/2 without TLS, as far as needed to distinguish it from HTTP/1 (RFC 9113, section 3.4).
const HTTP_2: &[u8] = b"PRI";

/// HTTP/2's error for an insufficiently secure transport (RFC 9113, section 7).
const INADEQUATE_SECURITY: u32 = 0xc;

/// Most bytes that are read and discarded before closing. Closing with unread data would lose the answer.
const THROWN_AWAY_BYTES_MAX: u64 = 64 << 10;

/// Answer to a client that speaks HTTP/1 without TLS, such as a browser.
const NOT_TLS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n\
    This port speaks TLS: write https:// in front of the address.\n";

/// Largest file of certificates or of a key: all CAs that browsers trust take less.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// The files that a coordinator needs for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate as PEM, followed by its chain up to a CA that clients trust.
    pub certificate: PathBuf,
    /// The certificate's private key as PEM.
    pub key: PathBuf,
    /// The CAs, as PEM, whose client certificates are accepted instead of tokens.
    pub client_ca: Option<PathBuf>,
}

/// An error in setting up TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or lacks the expected item.
    #[error("failed to read {what} in {}: {problem}", path.display())]
    File {
        /// The expected item.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with the file.
        problem: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The certificate and the key cannot be used, usually because they do not match.
    #[error("failed to use the certificate in {} with the key in {}: {problem}", files.certificate.display(), files.key.display())]
    Pair {
        /// The files.
        files: TlsFiles,
        /// What is wrong with them.
        problem: String,
    },
}

impl TlsError {
    /// What to do about the error, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::File { remedy, .. } => remedy,
            Self::Pair { .. } => {
                "give a certificate and the private key that was made for it, as spelrum certificate create does"
            }
        }
    }
}

/// An item of a PEM file, and the remedy if it is missing.
struct Kind {
    what: &'static str,
    remedy: &'static str,
}

const CERTIFICATE: Kind = Kind {
    what: "the certificate",
    remedy: "--tls-cert takes a PEM file of the coordinator's certificate, and after it those that it rests on; \
             spelrum certificate create makes one",
};

const KEY: Kind = Kind {
    what: "the private key",
    remedy: "--tls-key takes a PEM file of the private key of --tls-cert",
};

const CLIENT_CA: Kind = Kind {
    what: "the CA of clients",
    remedy: "--client-ca takes a PEM file of the certificates of CAs whose client certificates are let in; \
             spelrum certificate create makes one",
};

impl Kind {
    fn wrong(&self, path: &Path, problem: impl Into<String>) -> TlsError {
        let Self { what, remedy } = *self;
        TlsError::File { what, path: path.to_owned(), problem: problem.into(), remedy }
    }

    fn unreadable(&self, path: &Path, error: &pem::Error) -> TlsError {
        // The error's own text says less.
        let problem = if let pem::Error::Io(error) = error {
            error.to_string()
        } else if let pem::Error::NoItemsFound = error {
            "there is none in it".to_owned()
        } else if let pem::Error::Base64Decode(_) = error {
            "it is damaged: what is between BEGIN and END is not base64".to_owned()
        } else {
            "it is damaged: its PEM has no end".to_owned()
        };
        self.wrong(path, problem)
    }

    fn pem(&self, path: &Path) -> Result<Vec<u8>, TlsError> {
        read_small_file(path, PEM_BYTES_MAX).map_err(|error| self.wrong(path, error.to_string()))
    }

    /// All certificates of a file, at least one.
    fn certificates(&self, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let pem = self.pem(path)?;
        let certificates = CertificateDer::pem_slice_iter(&pem)
            .collect::<Result<Vec<_>, _>>()
            .and_then(|certificates| match certificates.is_empty() {
                true => Err(pem::Error::NoItemsFound),
                false => Ok(certificates),
            });
        certificates.map_err(|error| self.unreadable(path, &error))
    }
}

/// Encrypts connections.
#[derive(Clone)]
pub(crate) struct Tls(TlsAcceptor);

impl Tls {
    /// Reads the files.
    pub(crate) fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let TlsFiles { certificate, key, client_ca } = files;
        let chain = CERTIFICATE.certificates(certificate)?;
        let private = PrivateKeyDer::from_pem_slice(&KEY.pem(key)?)
            .map_err(|error| KEY.unreadable(key, &error))?;
        let provider = Arc::new(ring::default_provider());
        let verifier = match client_ca {
            None => WebPkiClientVerifier::no_client_auth(),
            Some(path) => verifier(path, &provider)?,
        };
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .and_then(|config| {
                config.with_client_cert_verifier(verifier).with_single_cert(chain, private)
            });
        let mut config = config
            .map_err(|error| TlsError::Pair { files: files.clone(), problem: describe(&error) })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// Performs the handshake with a client within a time limit.
    ///
    /// # Errors
    /// If the client does not speak TLS, has no protocol in common with us, or is too slow.
    pub(super) async fn shake_hands(
        &self,
        stream: TcpStream,
        patience: Duration,
    ) -> io::Result<TlsStream<TcpStream>> {
        let shaking = async {
            let mut first = [0];
            match stream.peek(&mut first).await? {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                _ if first == [HANDSHAKE] => {
                    let shaken = self.0.accept(stream).into_fallible().await;
                    match shaken {
                        Ok(stream) => Ok(stream),
                        Err((error, stream)) => {
                            // The client should learn the reason, and may have sent more already.
                            drain(stream).await?;
                            Err(error)
                        }
                    }
                }
                _ => {
                    refuse_plaintext(stream).await?;
                    Err(io::Error::new(io::ErrorKind::InvalidData, "it does not speak TLS"))
                }
            }
        };
        tokio::time::timeout(patience, shaking).await.unwrap_or_else(|_| {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the handshake did not end in time"))
        })
    }
}

/// Accepts client certificates of these CAs, and clients without one: they may have a token, or only check health.
fn verifier(
    path: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in CLIENT_CA.certificates(path)? {
        roots.add(certificate).map_err(|error| CLIENT_CA.wrong(path, describe(&error)))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| CLIENT_CA.wrong(path, error.to_string()))
}

fn describe(error: &rustls::Error) -> String {
    if let rustls::Error::InconsistentKeys(_) = error {
        "the key is not that of the certificate".to_owned()
    } else if let rustls::Error::InvalidCertificate(CertificateError::BadEncoding) = error {
        "the certificate is damaged".to_owned()
    } else if let rustls::Error::General(_) = error {
        "the key is damaged, or of a kind that TLS does not take".to_owned()
    } else {
        error.to_string()
    }
}

/// The client's identity, by a certificate that was verified in the handshake, if one was presented.
pub(super) fn certified(stream: &TlsStream<TcpStream>) -> Option<Certified> {
    let certificates = stream.get_ref().1.peer_certificates()?;
    certificates.first().map(|certificate| Certified::read(certificate))
}

/// Answers a client that does not speak TLS, in its own protocol.
async fn refuse_plaintext(mut stream: TcpStream) -> io::Result<()> {
    let mut begun = [0; HTTP_2.len()];
    stream.read_exact(&mut begun).await?;
    match begun == *HTTP_2 {
        true => stream.write_all(&goaway_frames()).await?,
        false => stream.write_all(NOT_TLS).await?,
    }
    drain(stream).await
}

/// Closes a connection so that the client still receives what was sent.
async fn drain(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(THROWN_AWAY_BYTES_MAX), &mut tokio::io::sink()).await?;
    Ok(())
}

/// The frames SETTINGS and GOAWAY (RFC 9113, sections 6.5 and 6.8), with a readable reason.
fn goaway_frames() -> Vec<u8> {
    const SETTINGS: u8 = 4;
    const GOAWAY: u8 = 7;
    let frame = |kind: u8, payload: &[&[u8]]| {
        let payload = payload.concat();
        let [_, length @ ..] = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
        [&length[..], &[kind, 0], &[0; 4], &payload].concat()
    };
    let last_stream = [0; 4];
    let reason = INADEQUATE_SECURITY.to_be_bytes();
    let away = frame(GOAWAY, &[&last_stream, &reason, SPEAKS_TLS.as_bytes()]);
    [frame(SETTINGS, &[]), away].concat()
}
