//! The token file: the name, roles and hash of each token.
//!
//! The file stores only hashes, so leaking it is harmless. A token has 256 random bits, so a plain hash is enough:
//! brute force is infeasible, and tokens never collide.
//!
//! The file also lists names whose client certificates are refused, since a certificate may be valid for longer than
//! its holder is trusted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use spelrum_toml::{Entry, Fault, Node, Table, line_and_column};
use subtle::ConstantTimeEq as _;

use super::file::read_small_file;
use super::role::{Role, Roles};

/// Most tokens in a file: each call is compared with all of them (invariant 9).
pub const TOKENS_MAX: usize = 256;

/// Most names whose certificates are refused.
const REFUSED_MAX: usize = 1_024;

/// The table of the refused names in the file; not allowed as a token's name.
const CERTIFICATES: &str = "certificates";

/// Longest name of a token, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Largest token file; one with `TOKENS_MAX` tokens is smaller.
const FILE_BYTES_MAX: u64 = 256 << 10;

/// Prefix of every token, so that a leaked one is recognisable.
const PREFIX: &str = "spelrum_";

const HEADING: &str = "\
# The tokens of a Spelrum coordinator, by their SHA-256: the tokens themselves are nowhere.
# `spelrum token` writes this file, and the coordinator reads it again when it has changed.
";

/// The tokens that a coordinator accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenBook {
    entries: BTreeMap<String, TokenEntry>,
    /// Names whose certificates are refused, each with a text that says since when.
    refused: BTreeMap<String, String>,
}

/// An entry for a token, without the token itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenEntry {
    /// The token's roles.
    pub roles: Roles,
    /// SHA-256 of the token's text.
    pub sha256: [u8; 32],
    /// When the token was created, as text.
    pub created: String,
}

/// An invalid token file or change.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The file is not a token file.
    #[error("it is not a file of tokens: {0}")]
    Malformed(String),
    /// A token of this name exists already.
    #[error("there is a token `{0}` already")]
    Taken(String),
    /// No token has this name.
    #[error("there is no token `{0}`")]
    Unknown(String),
    /// The file has the most tokens allowed.
    #[error("there are {TOKENS_MAX} tokens, and cannot be more")]
    Full,
    /// The file has the most refused names allowed.
    #[error("the certificates of {REFUSED_MAX} names are refused, and cannot be of more")]
    FullOfRefused,
    /// The certificates of this name are refused already.
    #[error("the certificates of `{0}` are refused already")]
    Refused(String),
    /// The name is invalid.
    #[error(
        "`{0}` cannot be the name of a token or of a certificate: use letters, digits, `-` and `_`, at most \
         {NAME_BYTES_MAX} in all, and not the word {CERTIFICATES}"
    )]
    Name(String),
}

impl BookError {
    /// What to do about the error, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::File(_) => {
                "check the path and its permissions; spelrum token create NAME --role work --tokens FILE \
                 begins a file"
            }
            Self::Malformed(_) => {
                "mend it, or begin another file: each token has roles, sha256 and created"
            }
            Self::Taken(_) => "choose another name, or revoke that token first",
            Self::Unknown(_) => "spelrum token list names those that there are",
            Self::Full => "revoke those that nobody uses",
            Self::Refused(_) => "nothing is to be done",
            Self::FullOfRefused => {
                "make another CA, and certificates by it for those that are to be let in: spelrum certificate"
            }
            Self::Name(_) => "name it after its owner or location, such as lab-workers",
        }
    }
}

impl TokenEntry {
    fn read(table: &Table, name: &str) -> Result<Self, Fault> {
        table.check_keys(&format!("`{name}`"), &["roles", "sha256", "created"])?;
        let required = |key| table.required(key, "").map(|entry| &entry.value);
        let text = |node: &Node, key: &str| node.text(&format!("`{key}`"), "").map(str::to_owned);
        let role = |node: &Node| {
            let role = text(node, "a role")?.parse::<Role>();
            role.map_err(|problem| Fault::at(&node.place, problem, ""))
        };
        let node = required("roles")?;
        let roles = node.list("`roles`", "a list", "")?.iter().map(role);
        let roles: Roles = roles.collect::<Result<_, _>>()?;
        if roles.is_empty() {
            return Err(Fault::at(&node.place, format!("`{name}` has no roles"), ""));
        }
        let (node, mut sha256) = (required("sha256")?, [0; 32]);
        hex::decode_to_slice(text(node, "sha256")?, &mut sha256).map_err(|_| {
            let problem = format!("`sha256` of `{name}` is not 64 hexadecimal digits");
            Fault::at(&node.place, problem, "")
        })?;
        Ok(Self { roles, sha256, created: text(required("created")?, "created")? })
    }
}

/// The names in the table of refused certificates, each with since when.
fn read_refused(table: &Table) -> Result<BTreeMap<String, String>, Fault> {
    table.check_keys(&format!("`{CERTIFICATES}`"), &["refused"])?;
    let Some(refused) = table.value("refused") else { return Ok(BTreeMap::new()) };
    let entries = refused.table("`refused`", "")?.entries.iter();
    entries.map(|entry| Ok((entry.key.clone(), entry.text()?.to_owned()))).collect()
}

impl TokenBook {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a token file.
    pub fn read(path: &Path) -> Result<Self, BookError> {
        Self::parse(&read_text(path)?)
    }

    /// Rereads a file. An empty file would lock everyone out and is refused: a write is most likely in progress, as
    /// `spelrum token` never leaves one empty.
    ///
    /// # Errors
    /// As [`Self::read`], and if the file is empty.
    pub(super) fn read_again(path: &Path) -> Result<Self, BookError> {
        let text = read_text(path)?;
        if text.trim().is_empty() {
            return Err(BookError::Malformed("it is empty".to_owned()));
        }
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, BookError> {
        let malformed = |fault: Fault| {
            // The parser's own message quotes the file.
            let line = fault.place.map(|place| line_and_column(text, place.start).0);
            let at = line.map_or_else(String::new, |line| format!("line {line}: "));
            BookError::Malformed(format!("{at}{}", fault.problem))
        };
        let root = spelrum_toml::parse(text, "").map_err(malformed)?;
        let mut book = Self::default();
        for Entry { key: name, value, .. } in &root.entries {
            let table = value.table(&format!("`{name}`"), "").map_err(malformed)?;
            if name == CERTIFICATES {
                book.refused = read_refused(table).map_err(malformed)?;
            } else {
                check_name(name)?;
                let entry = TokenEntry::read(table, name).map_err(malformed)?;
                book.entries.insert(name.clone(), entry);
            }
        }
        if book.entries.len() > TOKENS_MAX {
            return Err(BookError::Full);
        }
        if book.refused.len() > REFUSED_MAX {
            return Err(BookError::FullOfRefused);
        }
        book.refused.keys().try_for_each(|name| check_name(name))?;
        Ok(book)
    }

    /// Reads a file, applies a change, and writes the file atomically; concurrent changes run one after another. A
    /// missing file is created, readable only by its owner. An existing file keeps its place (also behind a symbolic
    /// link), its permissions, its group and, if possible, its owner: a coordinator that could no longer read the file
    /// would go on with the old tokens.
    ///
    /// # Errors
    /// If the file cannot be read or written, and those of the change.
    pub fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, BookError>,
    ) -> Result<T, BookError> {
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let beside = |ending: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            std::path::PathBuf::from(name)
        };
        let open = |path: &Path| {
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
        };
        // Held until the end. The lock file stays: removing it would let two processes lock two files of its name.
        let lock = open(&beside("-lock"))?;
        lock.lock()?;
        let mut book = match Self::read(path) {
            Err(BookError::File(error)) if error.kind() == io::ErrorKind::NotFound => {
                Self::default()
            }
            read => read?,
        };
        let changed = change(&mut book)?;
        let partial = beside(".partial");
        let mut file = open(&partial)?;
        file.set_len(0)?;
        if let Ok(before) = path.metadata() {
            let (user, group) = (before.uid(), before.gid());
            // A user with write permission cannot always change the owner, and need not.
            if fchown(&file, Some(user), Some(group)).is_err() {
                fchown(&file, None, Some(group))?;
            }
            file.set_permissions(before.permissions())?;
        }
        file.write_all(book.to_text().as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&partial, path)?;
        // A revoked token must not come back after a power failure.
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(changed)
    }

    fn to_text(&self) -> String {
        let mut text = HEADING.to_owned();
        for (name, TokenEntry { roles, sha256, created }) in &self.entries {
            let roles: Vec<String> = roles.iter().map(|role| format!("\"{role}\"")).collect();
            let (roles, sha256) = (roles.join(", "), hex::encode(sha256));
            // Writing to a String never fails.
            let _ = write!(
                text,
                "\n[{name}]\nroles = [{roles}]\nsha256 = \"{sha256}\"\ncreated = {created:?}\n"
            );
        }
        if !self.refused.is_empty() {
            let _ = write!(
                text,
                "\n# Whose client certificates are refused, since when.\n[{CERTIFICATES}.refused]\n"
            );
        }
        for (name, since) in &self.refused {
            let _ = writeln!(text, "{name} = {since:?}");
        }
        text
    }

    /// Adds a token made of these random bytes and returns its text, which is stored nowhere else.
    ///
    /// # Errors
    /// If the name is taken or invalid, or the file is full.
    pub fn add(
        &mut self,
        name: &str,
        roles: Roles,
        created: &str,
        random: [u8; 32],
    ) -> Result<String, BookError> {
        check_name(name)?;
        if self.entries.contains_key(name) {
            return Err(BookError::Taken(name.to_owned()));
        }
        if self.entries.len() >= TOKENS_MAX {
            return Err(BookError::Full);
        }
        let token = format!("{PREFIX}{}", hex::encode(random));
        let entry =
            TokenEntry { roles, sha256: hash(token.as_bytes()), created: created.to_owned() };
        self.entries.insert(name.to_owned(), entry);
        Ok(token)
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// If no token has this name.
    pub fn remove(&mut self, name: &str) -> Result<TokenEntry, BookError> {
        self.entries.remove(name).ok_or_else(|| BookError::Unknown(name.to_owned()))
    }

    /// Refuses all client certificates of this name from now on.
    ///
    /// # Errors
    /// If they are refused already, the list is full, or the name is invalid.
    pub fn refuse_certificate(&mut self, name: &str, since: &str) -> Result<(), BookError> {
        check_name(name)?;
        if self.refused.contains_key(name) {
            return Err(BookError::Refused(name.to_owned()));
        }
        if self.refused.len() >= REFUSED_MAX {
            return Err(BookError::FullOfRefused);
        }
        self.refused.insert(name.to_owned(), since.to_owned());
        Ok(())
    }

    /// Whether the certificates of this name are refused.
    #[must_use]
    pub fn refuses_certificate(&self, name: &str) -> bool {
        self.refused.contains_key(name)
    }

    /// The names whose certificates are refused, each with since when.
    pub fn refused_certificates(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.refused.iter().map(|(name, since)| (&**name, &**since))
    }

    /// All tokens with their names, ordered by name.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &TokenEntry)> {
        self.entries.iter().map(|(name, entry)| (&**name, entry))
    }

    /// The name and roles of a presented token. Takes the same time for every text that is not a token.
    pub(super) fn find(&self, presented: &[u8]) -> Option<(&str, Roles)> {
        let presented = hash(presented);
        let mut entry_found = None;
        for (name, entry) in &self.entries {
            if bool::from(entry.sha256.ct_eq(&presented)) {
                entry_found = Some((&**name, entry.roles));
            }
        }
        entry_found
    }
}

fn read_text(path: &Path) -> Result<String, BookError> {
    let bytes = read_small_file(path, FILE_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|_| BookError::Malformed("it is not UTF-8 text".to_owned()))
}

fn hash(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

pub(super) fn check_name(name: &str) -> Result<(), BookError> {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_name = !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_of_names);
    if is_name && name != CERTIFICATES { Ok(()) } else { Err(BookError::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use super::*;

    fn roles(roles: &[Role]) -> Roles {
        roles.iter().copied().collect()
    }

    #[test]
    fn a_book_is_read_as_it_was_written_and_knows_its_tokens_only() {
        let mut book = TokenBook::default();
        let work = book.add("lab-1", roles(&[Role::Work]), "now", [7; 32]).unwrap();
        let all = book.add("0", roles(&Role::ALL), "\"then\"\n", [8; 32]).unwrap();
        let text = book.to_text();
        assert!(!text.contains(&work) && !text.contains(&all) && !text.contains(&work[8..]));
        let read = TokenBook::parse(&text).unwrap();
        assert_eq!(read, book);
        assert_eq!(read.find(work.as_bytes()), Some(("lab-1", roles(&[Role::Work]))));
        assert_eq!(read.find(all.as_bytes()), Some(("0", roles(&Role::ALL))));
        let hash = hex::encode(hash(work.as_bytes()));
        for guess in ["", "spelrum_", &work[..71], &format!("{work}0"), &hash] {
            assert_eq!(read.find(guess.as_bytes()), None, "{guess}");
        }
        book.refuse_certificate("lab-1", "a \"Monday\"\n").unwrap();
        book.refuse_certificate("0", "").unwrap();
        assert!(matches!(book.refuse_certificate("0", "again"), Err(BookError::Refused(_))));
        let read = TokenBook::parse(&book.to_text()).unwrap();
        assert_eq!(read, book);
        assert!(read.refuses_certificate("lab-1") && !read.refuses_certificate("lab-2"));
        book.remove("lab-1").unwrap();
        assert_eq!(book.find(work.as_bytes()), None);
        assert!(matches!(book.remove("lab-1"), Err(BookError::Unknown(_))));
    }

    #[test]
    fn a_file_stays_where_it_is_and_for_those_who_may_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens.toml");
        let add = |path: &Path, name: &str| {
            TokenBook::change(path, |book| book.add(name, roles(&[Role::Work]), "", [3; 32]))
        };
        let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
        add(&path, "a").unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        // Only root can, and then the coordinator's user must still be able to read the file.
        let is_given_away = chown(&path, Some(4_711), Some(4_712)).is_ok();
        let link = directory.path().join("link.toml");
        std::os::unix::fs::symlink("tokens.toml", &link).unwrap();
        add(&link, "b").unwrap();
        TokenBook::change(&link, |book| book.remove("a")).unwrap();
        assert!(link.is_symlink());
        let read = TokenBook::read(&path).unwrap();
        assert_eq!(read.entries().map(|(name, _)| name).collect::<Vec<_>>(), ["b"]);
        assert_eq!(mode(), 0o640);
        if is_given_away {
            let metadata = path.metadata().unwrap();
            assert_eq!((metadata.uid(), metadata.gid()), (4_711, 4_712));
        }
    }

    #[test]
    fn there_are_so_many_and_each_name_once() {
        let mut book = TokenBook::default();
        for number in 0..TOKENS_MAX {
            let random = std::array::from_fn(|place| (number >> (8 * (place % 2))) as u8);
            book.add(&format!("t{number}"), roles(&[Role::Read]), "now", random).unwrap();
        }
        assert!(matches!(
            book.add("t1", roles(&[Role::Read]), "", [1; 32]),
            Err(BookError::Taken(_))
        ));
        assert!(matches!(
            book.add("more", roles(&[Role::Read]), "", [1; 32]),
            Err(BookError::Full)
        ));
        for number in 0..REFUSED_MAX {
            let name = format!("{number:0>NAME_BYTES_MAX$}");
            book.refuse_certificate(&name, "2026-11-26 02:33:31.123456Z").unwrap();
        }
        let more = book.refuse_certificate("more", "");
        assert!(matches!(more, Err(BookError::FullOfRefused)));
        let text = book.to_text();
        assert!(text.len() as u64 <= FILE_BYTES_MAX);
        assert_eq!(TokenBook::parse(&text).unwrap(), book);
        let more = format!(
            "{text}[more]\nroles = [\"read\"]\nsha256 = \"{}\"\ncreated = \"\"\n",
            "0".repeat(64)
        );
        assert!(matches!(TokenBook::parse(&more), Err(BookError::Full)));
    }

    #[test]
    fn what_is_not_a_file_of_tokens_says_where() {
        let entry = |roles: &str, sha256: &str| {
            format!("[a]\nroles = {roles}\nsha256 = \"{sha256}\"\ncreated = \"\"\n")
        };
        let zeros = "0".repeat(64);
        let wrong = [
            "roles".to_owned(),
            "[a]\nroles = [\"work\"]\n".to_owned(),
            entry("[]", &zeros),
            entry("[\"admin\"]", &zeros),
            entry("\"work\"", &zeros),
            entry("[\"work\"]", &zeros[1..]),
            entry("[\"work\"]", &format!("x{}", &zeros[1..])),
            format!("{}token = \"x\"\n", entry("[\"work\"]", &zeros)),
            entry("[\"work\"]", &zeros).replace("[a]", "[\"a b\"]"),
            entry("[\"work\"]", &zeros).repeat(2),
            entry("[\"work\"]", &zeros).replace("[a]", "[certificates]"),
            "[certificates.refused]\na = 1\n".to_owned(),
            "[certificates.refused]\n\"a b\" = \"\"\n".to_owned(),
            "[certificates.allowed]\na = \"\"\n".to_owned(),
        ];
        let errors: Vec<String> =
            wrong.iter().map(|text| TokenBook::parse(text).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(errors.join("\n"));
        assert_eq!(TokenBook::parse("").unwrap(), TokenBook::default());
    }
}
