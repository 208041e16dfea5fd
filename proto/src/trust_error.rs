//! Explains failed TLS connections: why a caller does not trust the server, and the remedy.

use std::error::Error;
use std::io;

use rustls::{CertificateError, InvalidMessage};

/// The answer of a TLS coordinator to a plaintext caller, as the debug data of HTTP/2's GOAWAY.
pub const SPEAKS_TLS: &str = "this port speaks TLS";

/// Why a connection by TLS, or one that should use TLS, failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustError {
    /// The problem.
    pub problem: String,
    /// The remedy, as a sentence without an end mark.
    pub remedy: &'static str,
    /// Whether the caller must act: the server's certificate may be fixed while the caller waits.
    pub is_callers: bool,
}

/// The error text for an answer other than HTTP/2: an older HTTP's begins with letters, which are read as the
/// length of a frame.
const NO_HTTP_2: [&str; 2] = ["HTTP/2 was not negotiated", "frame with invalid size"];

/// The prefix of rustls before the name of an alert.
const ALERT: &str = "received fatal alert: ";

const CLOCK: &str = "make the coordinator another certificate, or check this machine's clock";

impl TrustError {
    /// Searches the causes of a failed connection.
    #[must_use]
    pub fn from_error(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut causes = std::iter::successors(Some(error), |&error| error.source());
        causes.find_map(|cause| {
            let message = cause.to_string();
            if message.contains(SPEAKS_TLS) {
                return Some(Self {
                    problem: "the server at that address speaks TLS".to_owned(),
                    remedy: "write https:// instead of http://",
                    is_callers: true,
                });
            }
            // tonic and h2 expose only texts.
            if NO_HTTP_2.iter().any(|words| message.contains(words)) {
                return Some(Self {
                    problem: "the server at that address is a web server or another program, not a spelrum coordinator"
                        .to_owned(),
                    remedy: "check the address and its port; a proxy in between must pass HTTP/2 on",
                    is_callers: false,
                });
            }
            // HTTP/2 keeps only its text.
            if let Some(problem) = message.split_once(ALERT).and_then(|(_, alert)| not_taken(alert)) {
                return Some(Self {
                    problem: problem.to_owned(),
                    remedy: "show one that was made for this coordinator (spelrum certificate client), or none, \
                             and bring a token",
                    is_callers: true,
                });
            }
            // The inner error of an I/O error is not its source.
            let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
            inner.or_else(|| cause.downcast_ref::<rustls::Error>()).map(Self::because)
        })
    }

    fn because(error: &rustls::Error) -> Self {
        use CertificateError as C;
        let caused_by =
            |problem: &str, remedy| Self { problem: problem.to_owned(), remedy, is_callers: false };
        let Some(wrong) = certificate_error(error) else {
            let is_plain =
                matches!(error, rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType));
            return if is_plain {
                caused_by(
                    "the server at that address does not speak TLS",
                    "write http:// instead of https://",
                )
            } else {
                caused_by(
                    &format!("TLS failed: {error}"),
                    "check that a spelrum coordinator of this version listens there, with --tls-cert",
                )
            };
        };
        // Two CAs of one name differ by their keys alone.
        if matches!(wrong, C::UnknownIssuer | C::BadSignature) {
            caused_by(
                "its certificate is of a CA that is not trusted here",
                "give the certificate of the CA that issued it, with --ca FILE, in SPELRUM_CA or as `ca` in the config file; a \
                 file that is given there already is of another CA",
            )
        } else if matches!(wrong, C::Expired | C::ExpiredContext { .. }) {
            caused_by("its certificate has expired", CLOCK)
        } else if matches!(wrong, C::NotValidYet | C::NotValidYetContext { .. }) {
            caused_by("its certificate is not valid yet", CLOCK)
        } else if matches!(wrong, C::NotValidForName | C::NotValidForNameContext { .. }) {
            caused_by(
                "its certificate is for another host name",
                "call the coordinator by a name or address that its certificate has, or make it one \
                 with this name",
            )
        } else {
            caused_by(
                &format!("its certificate is not valid: {wrong}"),
                "make the coordinator another certificate",
            )
        }
    }
}

/// A coordinator's alerts for a client certificate that it rejects (RFC 8446, section 6.2), in rustls' words.
fn not_taken(alert: &str) -> Option<&'static str> {
    Some(match alert {
        "UnknownCA" | "DecryptError" => {
            "the client certificate is of a CA that the coordinator does not take"
        }
        "CertificateExpired" => "the client certificate has expired, or is not valid yet",
        "UnsupportedCertificate" => "the certificate that was shown is not one for clients",
        "BadCertificate" | "CertificateUnknown" | "CertificateRevoked" | "AccessDenied" => {
            "the coordinator does not take the client certificate"
        }
        _ => return None,
    })
}

fn certificate_error(error: &rustls::Error) -> Option<&CertificateError> {
    if let rustls::Error::InvalidCertificate(wrong) = error { Some(wrong) } else { None }
}
