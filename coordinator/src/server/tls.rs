//! TLS on the way in (docs/operating.md, "TLS").
//!
//! A client is given as long for its handshake as for a request's headers, and its connection counts among the
//! others meanwhile: whoever stalls in it is a stranger who says nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use spelrum_proto::SPEAKS_TLS;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// What the first message of a handshake begins with: a record of that kind (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;

/// What HTTP/2 without TLS begins with, as far as that tells it from HTTP/1 (RFC 9113, section 3.4).
const HTTP_2: &[u8] = b"PRI";

/// HTTP/2's error for a transport that is not safe enough (RFC 9113, section 7).
const INADEQUATE_SECURITY: u32 = 0xc;

/// What is read and thrown away of somebody who does not speak TLS. Closing with something unread would take
/// the answer from them.
const THROWN_AWAY_BYTES_MAX: u64 = 64 << 10;

/// What somebody hears who speaks HTTP/1 to it as it is, such as with a browser.
const NOT_TLS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n\
    This port speaks TLS: write https:// in front of the address.\n";

/// What a coordinator needs to speak TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Its certificate as PEM, and those after it that lead to what clients trust.
    pub certificate: PathBuf,
    /// The certificate's private key as PEM.
    pub key: PathBuf,
}

/// Why a coordinator cannot speak TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or has nothing of the kind.
    #[error("failed to read the {what} in {}: {source}", path.display())]
    File {
        /// What it should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: pem::Error,
    },
    /// The two cannot be used, most often because they do not belong together.
    #[error("failed to use the certificate in {} with the key in {}: {source}", files.certificate.display(), files.key.display())]
    Pair {
        /// The files.
        files: TlsFiles,
        /// What is wrong with them.
        source: rustls::Error,
    },
}

impl TlsError {
    /// What to do about it, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::File { .. } => {
                "give PEM files that the coordinator may read: --tls-cert the certificate, and those that it \
                 rests on, --tls-key its private key"
            }
            Self::Pair { .. } => "give a certificate and the private key that was made for it",
        }
    }
}

/// How connections become encrypted ones.
#[derive(Clone)]
pub(crate) struct Tls(TlsAcceptor);

impl Tls {
    /// Reads what it needs.
    pub(crate) fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let failed = |what: &'static str, path: &Path| {
            let path = path.to_owned();
            move |source| TlsError::File { what, path, source }
        };
        let chain = CertificateDer::pem_file_iter(&files.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .and_then(|chain| match chain.is_empty() {
                true => Err(pem::Error::NoItemsFound),
                false => Ok(chain),
            })
            .map_err(failed("certificate", &files.certificate))?;
        let key =
            PrivateKeyDer::from_pem_file(&files.key).map_err(failed("private key", &files.key))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
        let mut config =
            config.map_err(|source| TlsError::Pair { files: files.clone(), source })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// Shakes hands with a client, which may take so long.
    ///
    /// # Errors
    /// If it does not speak TLS, or not such as we do, or not in time.
    pub(super) async fn shake_hands(
        &self,
        stream: TcpStream,
        patience: Duration,
    ) -> io::Result<TlsStream<TcpStream>> {
        let shaking = async {
            let mut first = [0];
            match stream.peek(&mut first).await? {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                _ if first == [HANDSHAKE] => self.0.accept(stream).await,
                _ => {
                    send_away(stream).await?;
                    Err(io::Error::new(io::ErrorKind::InvalidData, "it does not speak TLS"))
                }
            }
        };
        tokio::time::timeout(patience, shaking).await.unwrap_or_else(|_| {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the handshake did not end in time"))
        })
    }
}

/// Tells somebody who does not speak TLS, in their own language.
async fn send_away(mut stream: TcpStream) -> io::Result<()> {
    let mut begun = [0; HTTP_2.len()];
    stream.read_exact(&mut begun).await?;
    match begun == *HTTP_2 {
        true => stream.write_all(&go_away()).await?,
        false => stream.write_all(NOT_TLS).await?,
    }
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(THROWN_AWAY_BYTES_MAX), &mut tokio::io::sink()).await?;
    Ok(())
}

/// The frames SETTINGS and GOAWAY (RFC 9113, sections 6.5 and 6.8), with the reason for people.
fn go_away() -> Vec<u8> {
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
