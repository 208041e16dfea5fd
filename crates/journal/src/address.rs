//! The address of a PostgreSQL server.

use std::fmt;
use std::net::IpAddr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sqlx::postgres::PgConnectOptions;

use crate::error::JournalError;

/// Schemes of an address.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The parameters of an address: those of libpq that the library has. What is asked for at the start (`options`) is not
/// among them, since poolers refuse it.
const PARAMETERS: [&str; 11] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];

/// Characters that are escaped in a part of a URL, or in a path in it (RFC 3986, 2.3).
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The address of a database on a PostgreSQL server: `postgres://user@host:port/database`, with libpq's parameters
/// after `?`. What it omits comes from libpq's environment variables, and the password also from its password file.
///
/// [`Display`](fmt::Display) and [`Debug`] never show a password.
#[derive(Clone)]
pub struct Address {
    options: PgConnectOptions,
}

impl Address {
    /// Whether a text is meant as an address, and not as a file's path.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Parses an address.
    ///
    /// # Errors
    /// If the text is not an address of this form.
    pub fn parse(text: &str) -> Result<Self, JournalError> {
        // The parser's errors can quote the text, which can have a password.
        let invalid = |problem: &str| JournalError::Address { problem: problem.to_owned() };
        if !Self::is_one(text) {
            return Err(invalid("it does not begin with postgres://"));
        }
        // The library would show what it does not know.
        let parameters = text.split_once('?').map_or("", |(_, parameters)| parameters);
        for parameter in parameters.split(['&', '#']).filter(|parameter| !parameter.is_empty()) {
            let name = parameter.split('=').next().unwrap_or_default();
            if !PARAMETERS.contains(&name) {
                let names = PARAMETERS.join(", ");
                return Err(invalid(&format!("a parameter after ? is none of {names}")));
            }
        }
        let options: PgConnectOptions =
            text.parse().map_err(|_| invalid("it is not a URL with parameters of libpq"))?;
        if options.get_host().contains(',') {
            return Err(invalid("it names several servers"));
        }
        Ok(Self { options })
    }

    /// Whether the server is on this machine: behind a socket, or on loopback.
    #[must_use]
    pub fn is_on_this_machine(&self) -> bool {
        let host = self.options.get_host().trim_matches(['[', ']']);
        let is_loopback =
            host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        is_loopback || self.options.get_socket().is_some()
    }

    /// How to connect.
    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// The server, as messages name it.
    pub(crate) fn server(&self) -> String {
        match self.options.get_socket() {
            Some(directory) => {
                format!("{} (port {})", directory.display(), self.options.get_port())
            }
            None => format!("{}:{}", self.options.get_host(), self.options.get_port()),
        }
    }

    /// The name of the user.
    pub(crate) fn user(&self) -> &str {
        self.options.get_username()
    }

    /// The name of the database, which the server takes from the user's if there is none in the address.
    pub(crate) fn database(&self) -> &str {
        self.options.get_database().unwrap_or_else(|| self.user())
    }
}

/// A name as an identifier of SQL.
pub(crate) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A word of a shell's command.
fn word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The command that creates a database at this address's server.
pub(crate) fn create_database(address: &Address, name: &str) -> String {
    let options = &address.options;
    let host = match options.get_socket() {
        Some(directory) => directory.display().to_string(),
        None => options.get_host().to_owned(),
    };
    format!(
        "createdb --host={} --port={} --owner={} --encoding=UTF8 --template=template0 {}",
        word(&host),
        options.get_port(),
        word(address.user()),
        word(name)
    )
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoded = |text| utf8_percent_encode(text, ESCAPED);
        let [user, database] = [self.user(), self.database()].map(encoded);
        match self.options.get_socket() {
            Some(directory) => write!(
                f,
                "postgres:///{database}?host={}&port={}&user={user}",
                encoded(&directory.to_string_lossy()),
                self.options.get_port()
            ),
            None => write!(f, "postgres://{user}@{}/{database}", self.server()),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_one_that_leads_to_the_same_database() {
        for (text, shown) in [
            ("postgres://ada:secret@lab:5433/results", "postgres://ada@lab:5433/results"),
            ("postgres://a%40b@lab:5432/my%20results", "postgres://a%40b@lab:5432/my%20results"),
            (
                "postgres:///a?host=/var/run/a%20b%26c&port=5433&user=ada",
                "postgres:///a?host=/var/run/a%20b%26c&port=5433&user=ada",
            ),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(Address::parse(shown).unwrap().to_string(), shown);
        }
    }
}
