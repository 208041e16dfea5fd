//! Certificates for TLS, made when a test runs: none expires in the repository.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, SanType, date_time_ymd,
};

/// When a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// Whenever a test runs.
    Now,
    /// It has ended.
    Expired,
    /// It has not begun.
    NotYet,
}

/// Who makes certificates, and is trusted or not.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// A new one, which nobody trusts yet.
    #[must_use]
    pub fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = named("an authority");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap())
    }

    /// Its certificate, which who trusts it is given.
    #[must_use]
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for these names or addresses, and its private key, both as PEM.
    #[must_use]
    pub fn certify(&self, names: &[&str], validity: Validity) -> (String, String) {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        self.sign(CertificateParams::new(names).unwrap(), validity)
    }

    /// A certificate for who calls a coordinator, which says what these URIs say, and its private key.
    #[must_use]
    pub fn certify_client(&self, uris: &[&str], validity: Validity) -> (String, String) {
        let uri = |uri: &&str| SanType::URI((*uri).try_into().unwrap());
        let mut parameters = CertificateParams::default();
        parameters.subject_alt_names = uris.iter().map(uri).collect();
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(parameters, validity)
    }

    /// A certificate that is good for coordinators alone, whatever else it says, and its private key.
    #[must_use]
    pub fn certify_for_coordinators_alone(&self, uris: &[&str]) -> (String, String) {
        let uri = |uri: &&str| SanType::URI((*uri).try_into().unwrap());
        let mut parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
        parameters.subject_alt_names.extend(uris.iter().map(uri));
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(parameters, Validity::Now)
    }

    fn sign(&self, mut parameters: CertificateParams, validity: Validity) -> (String, String) {
        parameters.distinguished_name = named("somebody");
        let (from, to) = match validity {
            Validity::Now => (2000, 4000),
            Validity::Expired => (2000, 2001),
            Validity::NotYet => (3999, 4000),
        };
        parameters.not_before = date_time_ymd(from, 1, 1);
        parameters.not_after = date_time_ymd(to, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// The same in two files of a directory: the certificate's, and the key's.
    pub fn certify_in(
        &self,
        directory: &Path,
        names: &[&str],
        validity: Validity,
    ) -> (PathBuf, PathBuf) {
        let (certificate, key) = self.certify(names, validity);
        let write = |name: &str, text: String| {
            let path = directory.join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        (write("certificate.pem", certificate), write("key.pem", key))
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}
