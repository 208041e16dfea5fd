//! Certificates of a private cluster: an authority (CA), and its certificates for coordinators, workers and clients.

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, DnsName, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

/// The lifetime of an authority.
const AUTHORITY_LIFE: Duration = days(3_650);

/// Backdates certificates, since machines' clocks differ.
const BEFORE_NOW: Duration = Duration::from_secs(3_600);

/// A number of days.
pub(crate) const fn days(days: u64) -> Duration {
    Duration::from_secs(days * 86_400)
}

/// A certificate authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The end of its own certificate, and of all that it issues.
    until: SystemTime,
}

/// A certificate with its private key, both PEM.
pub(crate) struct Certified {
    pub(crate) certificate: String,
    pub(crate) key: String,
    /// The end of its validity.
    pub(crate) until: SystemTime,
}

/// The reason why no certificate was made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateError {
    #[error("it is damaged, or not a certificate")]
    NoAuthority,
    #[error("it is not one that may make others")]
    NotAnAuthority,
    #[error("its key is damaged, or of another kind than is known here")]
    NoKey,
    #[error("its key is that of another certificate")]
    OtherKey,
    #[error("it has expired")]
    Expired,
    #[error(transparent)]
    Making(#[from] rcgen::Error),
}

impl Authority {
    /// A new authority, distinguished from others by `number`, with its certificate and private key.
    pub(crate) fn new(number: u32, now: SystemTime) -> Result<(Self, Certified), CertificateError> {
        let until = now + AUTHORITY_LIFE;
        let mut parameters = parameters(&format!("Spelrum CA {number:08x}"), now, until);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let secret = key.serialize_pem();
        let issuer = CertifiedIssuer::self_signed(parameters.clone(), key)?;
        let certified = Certified { certificate: issuer.pem(), key: secret, until };
        let issuer = Issuer::new(parameters, KeyPair::from_pem(&certified.key)?);
        Ok((Self { issuer, until }, certified))
    }

    /// An existing authority, from its certificate and private key, both PEM.
    pub(crate) fn read(
        certificate: &str,
        key: &str,
        now: SystemTime,
    ) -> Result<Self, CertificateError> {
        let der = CertificateDer::from_pem_slice(certificate.as_bytes())
            .map_err(|_| CertificateError::NoAuthority)?;
        let (_, parsed) =
            X509Certificate::from_der(&der).map_err(|_| CertificateError::NoAuthority)?;
        if !parsed.is_ca() {
            return Err(CertificateError::NotAnAuthority);
        }
        let until = u64::try_from(parsed.validity().not_after.timestamp()).unwrap_or_default();
        let until = UNIX_EPOCH + Duration::from_secs(until);
        if until <= now {
            return Err(CertificateError::Expired);
        }
        let pair = KeyPair::from_pem(key).map_err(|_| CertificateError::NoKey)?;
        let secret =
            PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| CertificateError::NoKey)?;
        CertifiedKey::from_der(vec![der.clone()], secret, &ring::default_provider())
            .map_err(|_| CertificateError::OtherKey)?;
        Ok(Self { issuer: Issuer::from_ca_cert_der(&der, pair)?, until })
    }

    /// Issues a certificate for a coordinator with these names.
    pub(crate) fn for_coordinator(
        &self,
        names: &[HostName],
        now: SystemTime,
        life: Duration,
    ) -> Result<Certified, CertificateError> {
        let names: Result<_, rcgen::Error> = names.iter().map(HostName::to_san).collect();
        self.certify("Spelrum coordinator", names?, ExtendedKeyUsagePurpose::ServerAuth, now, life)
    }

    /// Issues a certificate for a worker or client of this name, with URIs that state its roles.
    pub(crate) fn for_client(
        &self,
        name: &str,
        uris: Vec<String>,
        now: SystemTime,
        life: Duration,
    ) -> Result<Certified, CertificateError> {
        let uri = |uri: String| Ok(SanType::URI(uri.try_into()?));
        let names: Result<_, rcgen::Error> = uris.into_iter().map(uri).collect();
        self.certify(name, names?, ExtendedKeyUsagePurpose::ClientAuth, now, life)
    }

    /// No certificate is valid for longer than the authority itself.
    fn certify(
        &self,
        name: &str,
        names: Vec<SanType>,
        purpose: ExtendedKeyUsagePurpose,
        now: SystemTime,
        life: Duration,
    ) -> Result<Certified, CertificateError> {
        let until = (now + life).min(self.until);
        let mut parameters = parameters(name, now, until);
        parameters.subject_alt_names = names;
        parameters.is_ca = IsCa::ExplicitNoCa;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![purpose];
        parameters.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = parameters.signed_by(&key, &self.issuer)?.pem();
        Ok(Certified { certificate, key: key.serialize_pem(), until })
    }
}

fn parameters(name: &str, now: SystemTime, until: SystemTime) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.not_before = (now - BEFORE_NOW).into();
    parameters.not_after = until.into();
    parameters
}

/// A coordinator's name, which may begin with `*.`, or its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostName {
    Name(String),
    Address(IpAddr),
}

impl HostName {
    fn to_san(&self) -> Result<SanType, rcgen::Error> {
        Ok(match self {
            Self::Name(name) => SanType::DnsName(name.clone().try_into()?),
            Self::Address(address) => SanType::IpAddress(*address),
        })
    }
}

impl std::str::FromStr for HostName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse() {
            return Ok(Self::Address(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        match DnsName::try_from(name.strip_prefix("*.").unwrap_or(name)) {
            Ok(_) => Ok(Self::Name(name.to_ascii_lowercase())),
            Err(_) => Err(
                "write a name or an address alone, such as results.example.org or 10.0.0.5, without https:// \
                 and without a port",
            ),
        }
    }
}

impl std::fmt::Display for HostName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_and_addresses_alone() {
        let host = |text: &str| text.parse::<HostName>().map(|host| host.to_string());
        for (text, expected) in [
            ("Results.Example.org.", "results.example.org"),
            ("*.example.org", "*.example.org"),
            ("login1", "login1"),
            ("10.0.0.5", "10.0.0.5"),
            ("[::1]", "::1"),
            ("fd00::5", "fd00::5"),
        ] {
            assert_eq!(host(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "a b", "https://a", "a:7878", "10.0.0.5:7878", "*", "a.*.b", "-a", "ä.de"]
        {
            assert!(host(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_authority_is_read_as_it_was_written_and_outlives_what_it_makes() {
        let now = SystemTime::now();
        let (_, made) = Authority::new(7, now).unwrap();
        let read = |certificate: &str, key: &str, now| Authority::read(certificate, key, now);
        let authority = read(&made.certificate, &made.key, now).unwrap();
        let client = |life| authority.for_client("ada", Vec::new(), now, life).unwrap();
        assert_eq!(client(days(1)).until, now + days(1));
        assert!(client(days(9_999)).until <= made.until);

        let (_, other) = Authority::new(7, now).unwrap();
        let leaf = client(days(1));
        let failed = |certificate: &str, key: &str, now| read(certificate, key, now).err().unwrap();
        assert!(matches!(failed(&made.certificate, &other.key, now), CertificateError::OtherKey));
        assert!(matches!(failed(&made.certificate, "", now), CertificateError::NoKey));
        assert!(matches!(failed("", &made.key, now), CertificateError::NoAuthority));
        let error = failed(&leaf.certificate, &leaf.key, now);
        assert!(matches!(error, CertificateError::NotAnAuthority));
        let later = made.until + days(1);
        assert!(matches!(failed(&made.certificate, &made.key, later), CertificateError::Expired));
    }
}
