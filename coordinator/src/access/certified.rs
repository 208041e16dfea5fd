//! Identity by client certificate.
//!
//! The certificate's URI names state it: `spelrum:work:lab-workers` means `lab-workers`, with the role work. TLS has
//! verified before that a trusted CA issued the certificate; its expiry is checked with every call, as a worker's
//! connection may last longer.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer as _;

use super::book::{BookError, check_name};
use super::role::{Role, Roles};

/// Prefix of the URIs that are read.
const SCHEME: &str = "spelrum:";

/// The contents of a client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certified {
    /// The name and its roles; `None` if the certificate states none, or contradicts itself.
    pub(super) holder: Option<(String, Roles)>,
    /// When the certificate expires.
    pub(super) until: SystemTime,
}

/// The URIs for a certificate of `name` with these roles.
///
/// # Errors
/// If the name is invalid.
pub fn certificate_uris(name: &str, roles: Roles) -> Result<Vec<String>, BookError> {
    check_name(name)?;
    Ok(roles.iter().map(|role| format!("{SCHEME}{role}:{name}")).collect())
}

impl Certified {
    /// Reads a certificate (DER) without verifying it.
    pub(crate) fn read(certificate: &[u8]) -> Self {
        let Ok((_, certificate)) = X509Certificate::from_der(certificate) else {
            return Self { holder: None, until: UNIX_EPOCH };
        };
        // No certificate that expired before 1970 matters here.
        let until = u64::try_from(certificate.validity().not_after.timestamp()).unwrap_or_default();
        let until = UNIX_EPOCH.checked_add(Duration::from_secs(until)).unwrap_or(UNIX_EPOCH);
        let names = certificate.subject_alternative_name().ok().flatten();
        let uris = names.iter().flat_map(|names| &names.value.general_names).filter_map(|name| {
            // Other kinds of names are irrelevant here.
            if let GeneralName::URI(uri) = name { Some(*uri) } else { None }
        });
        Self { holder: holder(uris), until }
    }
}

/// The name, on which all URIs must agree, and the roles. Roles of later versions are ignored: that only reduces
/// access.
fn holder<'u>(uris: impl Iterator<Item = &'u str>) -> Option<(String, Roles)> {
    let roles_and_names: Option<Vec<(&str, &str)>> =
        uris.filter_map(|uri| uri.strip_prefix(SCHEME)).map(|text| text.split_once(':')).collect();
    let roles_and_names = roles_and_names?;
    let &(_, name) = roles_and_names.first()?;
    check_name(name).ok()?;
    if roles_and_names.iter().any(|&(_, other_name)| other_name != name) {
        return None;
    }
    let roles: Roles =
        roles_and_names.iter().filter_map(|(role, _)| role.parse::<Role>().ok()).collect();
    (!roles.is_empty()).then(|| (name.to_owned(), roles))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(uris: &[&str]) -> Option<(String, String)> {
        holder(uris.iter().copied()).map(|(name, roles)| (name, roles.to_string()))
    }

    fn may(name: &str, roles: &str) -> Option<(String, String)> {
        Some((name.to_owned(), roles.to_owned()))
    }

    #[test]
    fn what_was_written_is_read() {
        let roles: Roles = [Role::Work, Role::Read].into_iter().collect();
        let uris = certificate_uris("lab-1", roles).unwrap();
        assert_eq!(uris, ["spelrum:read:lab-1", "spelrum:work:lab-1"]);
        assert_eq!(holder(uris.iter().map(String::as_str)), Some(("lab-1".to_owned(), roles)));
        for name in ["", "a b", "a:b", "work/lab", "ä", &"a".repeat(65)] {
            assert!(certificate_uris(name, roles).is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_not_clear_is_nobody() {
        assert_eq!(read(&["https://example.org", "spelrum:work:a"]), may("a", "work"));
        assert_eq!(read(&["spelrum:judge:a", "spelrum:work:a"]), may("a", "work"));
        for wrong in [
            &[][..],
            &["https://example.org/spelrum:work:a"],
            &["spelrum:"],
            &["spelrum:work"],
            &["spelrum:work:"],
            &["spelrum:work:a:b"],
            &["spelrum:Work:a"],
            &["SPELRUM:work:a"],
            &["spelrum:judge:a"],
            &["spelrum:work:a", "spelrum:submit:b"],
            &["spelrum:work:a", "spelrum:submit"],
            &["spelrum://work:a"],
        ] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn what_is_not_a_certificate_is_nobody_s() {
        for bytes in [&[][..], &[0x30], &[0x30, 0x82, 0xff, 0xff, 0x30], &[0xff; 1_000]] {
            assert_eq!(Certified::read(bytes), Certified { holder: None, until: UNIX_EPOCH });
        }
    }
}
